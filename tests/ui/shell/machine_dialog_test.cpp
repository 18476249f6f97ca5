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
