// The dialog with the sources of all machine values: opened by key and from the form. It follows the design
// and equals the table of the core.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QPushButton>
#include <QTest>
#include <memory>

#include "design/cluster.h"
#include "design/knobs/machine_table.h"
#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/plot/chart_table.h"
#include "ui/shell/machine_dialog.h"
#include "ui/shell/machine_model.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/issue_line.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class MachineDialogTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  MachineDialog* dialog() { return window_->findChild<MachineDialog*>(); }
  ChartTable* table() { return dialog()->findChild<ChartTable*>("machine_table"); }
  QString source() { return dialog()->findChild<CopyLabel*>("machine_source")->text(); }
  QString cell(int row, int column) { return table()->model()->index(row, column).data().toString(); }
  int row_of(const QString& name) {
    for (int row = 0; row < table()->model()->rowCount(); ++row)
      if (cell(row, MachineModel::Name) == name) return row;
    return -1;
  }
  QLineEdit* editor() { return table()->findChild<QLineEdit*>("machine_editor"); }
  QLineEdit* edit() {
    QTest::keyClick(table(), Qt::Key_F2);
    return editor();
  }
  bool says(const QString& text) { return labelSays(dialog(), text); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void equalsTheTableOfTheCore() {
    QVERIFY(!dialog());
    QTest::keyClick(window_.get(), Qt::Key_F9);
    QVERIFY(dialog() && dialog()->isVisible());
    MachineModel model;
    QAbstractItemModelTester contract(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setMachine(machine_table(session_->design()));
    QCOMPARE(table()->model()->rowCount(), model.rowCount());
    int row = 0;
    for (const MachineSection& section : machine_table(session_->design()))
      for (const MachineValue& v : section.values) {
        QCOMPARE(cell(row, MachineModel::Part), QString::fromStdString(section.title));
        QCOMPARE(cell(row, MachineModel::Name), QString::fromStdString(v.label));
        QCOMPARE(cell(row, MachineModel::Value), QString::fromStdString(v.value));
        QCOMPARE(cell(row, MachineModel::Unit), QString::fromStdString(v.unit));
        QCOMPARE(cell(row++, MachineModel::Source), QString::fromStdString(v.source));
      }
    QVERIFY(says("NVIDIA H100 SXM 80 GB") && says("DGX H100"));
    QVERIFY(row_of("Matrix products, bfloat16") >= 0 &&
            cell(row_of("Matrix products, bfloat16"), MachineModel::Origin) == "Measured");
  }

  // Arrows move from value to value. The full source is below the table. A second F9 shows the same dialog.
  void keysShowSources() {
    QTest::keyClick(window_.get(), Qt::Key_F9);
    QVERIFY(source().startsWith("Peak, bfloat16: "));
    table()->setFocus();
    QTest::keyClick(table(), Qt::Key_Down);
    QVERIFY2(source().startsWith(cell(1, MachineModel::Name) + ": ") &&
                 source().endsWith(cell(1, MachineModel::Source)),
             qPrintable(source()));
    QTest::keyClick(table(), Qt::Key_C, Qt::ControlModifier);
    QVERIFY(QApplication::clipboard()->text().contains(cell(1, MachineModel::Source)));
    QTest::keyClick(dialog(), Qt::Key_Escape);
    QVERIFY(!dialog()->isVisible());
    QTest::keyClick(window_.get(), Qt::Key_F9);
    QCOMPARE(window_->findChildren<MachineDialog*>().size(), 1);
    QVERIFY(dialog()->isVisible());
  }

  void opensFromTheForm() {
    auto* link = window_->form()->findChild<QPushButton*>("group_link");
    QVERIFY(link && link->isVisibleTo(window_.get()));
    window_->form()->focusKnob("rails");  // scrolls the group into view
    QTest::mouseClick(link, Qt::LeftButton);
    QVERIFY(dialog() && dialog()->isVisible());
  }

  // F2 edits the value in the unit of its setting; one undo step. Ctrl+Delete and Reset take it back.
  void aValueIsEditedInTheTable() {
    QTest::keyClick(window_.get(), Qt::Key_F9);
    const int row = row_of("Scale-up latency");
    const QString before = cell(row, MachineModel::Value);
    table()->setCurrentIndex(table()->model()->index(row, MachineModel::Name));
    QVERIFY(dialog()->editButton()->isEnabled() && !dialog()->resetButton()->isEnabled());
    const int steps = session_->undoStack()->count();
    QLineEdit* editor = edit();
    QVERIFY(editor && editor->text().isEmpty() && editor->placeholderText().endsWith(" ns"));
    QVERIFY(editor->accessibleName().contains("Scale-up latency"));
    QTest::keyClicks(editor, "1500");
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(session_->design().cluster.scaleup_latency, 1500);
    QCOMPARE(session_->undoStack()->count(), steps + 1);
    QCOMPARE(cell(row, MachineModel::Value), QString("1.5"));
    QCOMPARE(cell(row, MachineModel::Origin), QString("This design"));
    QVERIFY(table()->model()->index(row, MachineModel::Value).data(TableModel::SetRole).toBool());
    QVERIFY(dialog()->resetButton()->isEnabled());
    QTest::mouseClick(dialog()->resetButton(), Qt::LeftButton);
    QCOMPARE(session_->design().cluster.scaleup_latency, 0);
    QCOMPARE(cell(row, MachineModel::Value), before);
    QVERIFY(!table()->model()->index(row, MachineModel::Value).data(TableModel::SetRole).toBool());
  }

  // The checks and messages of the form. A measured value has no setting.
  void aWrongTextIsRefused() {
    QTest::keyClick(window_.get(), Qt::Key_F9);
    const int row = row_of("NIC bandwidth");
    table()->setCurrentIndex(table()->model()->index(row, MachineModel::Name));
    QTest::keyClicks(edit(), "many");
    QTest::keyClick(editor(), Qt::Key_Return);
    QTRY_VERIFY(dialog()->issue()->isVisible());
    const std::optional<Problem> same = session_->setKnob("nic_bandwidth", "many");
    QVERIFY(dialog()->issue()->text().contains(QString::fromStdString(same->what)));
    QCOMPARE(session_->design().cluster.nic_bandwidth, 0);
    QTRY_VERIFY(!editor());
    QTest::keyClick(edit(), Qt::Key_Escape);
    QTRY_VERIFY(!editor());
    table()->setCurrentIndex(table()->model()->index(row_of("Matrix products, bfloat16"), 0));
    QVERIFY(!dialog()->issue()->isVisible() && !dialog()->editButton()->isEnabled());
    QVERIFY(!edit());
  }

  void everyEditableValueIsASettingOfTheCluster() {
    MachineModel model;
    model.setMachine(machine_table(session_->design()));
    QStringList ids;
    for (int row = 0; row < model.rowCount(); ++row) {
      const bool editable = model.index(row, MachineModel::Value).flags() & Qt::ItemIsEditable;
      QCOMPARE(editable, model.knob(row) != nullptr);
      QVERIFY(!(model.index(row, MachineModel::Name).flags() & Qt::ItemIsEditable));
      if (editable) {
        QCOMPARE(model.knob(row)->group, KnobGroup::Cluster);
        ids << QString::fromStdString(model.knob(row)->id);
      }
    }
    for (const char* id : {"peak_tflops", "memory_capacity", "memory_bandwidth", "scaleup_bandwidth",
                           "nic_bandwidth", "scaleup_latency", "network_latency", "board_power"})
      QVERIFY2(ids.contains(id), id);
  }

  void followsTheDesign() {
    QTest::keyClick(window_.get(), Qt::Key_F9);
    QVERIFY(!says("set in this design"));
    QVERIFY(!session_->setKnob("nic_bandwidth", "100"));
    const int row = row_of("NIC bandwidth");
    QCOMPARE(cell(row, MachineModel::Value), QString("100"));
    QCOMPARE(cell(row, MachineModel::Origin), QString("This design"));
    QVERIFY(cell(row, MachineModel::Source).contains("--nic-bandwidth") && says("1 set in this design"));
    QVERIFY(!session_->setKnob("accelerator", "mi300x-192gb"));
    QVERIFY(says("AMD Instinct MI300X") &&
            cell(row_of("Scale-up latency"), MachineModel::Source).contains("ROCm/rccl"));
    session_->undoStack()->undo();
    session_->undoStack()->undo();
    QVERIFY(says("NVIDIA H100") && !says("set in this design"));
  }
};

QTEST_MAIN(MachineDialogTest)
#include "machine_dialog_test.moc"
