// Launches come in by drop and from the clipboard, with a preview; a design goes out as a launch.
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include "offscreen.h"
#include "ui/shell/launch_dialog.h"
#include "ui/shell/launch_text_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

const char* const kScript =
    "source common.sh\n"
    "python pretrain_gpt.py --num-layers 24 --hidden-size $HIDDEN --num-attention-heads 16 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 64 --hidden-dropout 0 "
    "--attention-dropout 0 --tensor-model-parallel-size 2 --bf16 --lr 1e-4 --frobnicate 3\n";

}  // namespace

class LaunchDialogTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  LaunchDialog* dialog() { return window_->findChild<LaunchDialog*>(); }
  QPushButton* button(const char* name) { return dialog()->findChild<QPushButton*>(name); }
  bool lists(const QString& text, int column = 0) {
    auto* model = qobject_cast<QStandardItemModel*>(
        dialog()->findChild<QTreeView*>("import_fields")->model());
    return !model->findItems(text, Qt::MatchContains | Qt::MatchRecursive, column).isEmpty();
  }
  void typeGpus(const char* number) {
    auto* field = dialog()->findChild<QLineEdit*>("launch_gpus");
    field->selectAll();
    QTest::keyClicks(field, number);
  }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  // The file does not say the number of GPUs: the dialog asks for it. Sourced files lie beside the script.
  void a_dropped_script_asks_for_its_gpus() {
    QTemporaryDir folder;
    for (const auto& [name, text] : {std::pair{"common.sh", "HIDDEN=1024\n"}, std::pair{"run.sh", kScript}}) {
      QFile file(folder.filePath(name));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
    }
    const Design before = session_->design();
    dropFile(folder.filePath("run.sh"));
    QVERIFY(dialog());
    QTRY_VERIFY(labelSays(dialog(), "on how many GPUs it runs"));
    QVERIFY(!button("import_apply")->isEnabled());
    typeGpus("16");
    QTRY_VERIFY(button("import_apply")->isEnabled());
    QVERIFY(labelSays(dialog(), "Megatron-LM on 16 GPUs"));
    QVERIFY(labelSays(dialog(), "tp 2, pp 1, cp 1, dp 8"));
    QVERIFY(lists("--frobnicate") && lists("Not understood (1)") && lists("--seq-length"));
    QVERIFY(session_->design() == before);
    QTest::mouseClick(button("import_apply"), Qt::LeftButton);
    QTRY_VERIFY(!dialog());
    QCOMPARE(session_->design().model.hidden, int64_t{1024});
    QCOMPARE(session_->design().parallel.dp, int64_t{8});
    QVERIFY(session_->design().cluster == before.cluster);
    window_->actions().undo->trigger();
    QVERIFY(session_->design() == before);
  }

  // The design of an earlier number of GPUs is not offered while the new one is estimated.
  void a_thread_reads_the_launch() {
    QGuiApplication::clipboard()->setText(QString(kScript).replace("$HIDDEN", "1024"));
    window_->actions().paste_launch->trigger();
    QVERIFY(dialog());
    QVERIFY(labelSays(dialog(), "The launch is being read."));
    QVERIFY(!button("import_apply")->isEnabled());
    typeGpus("16");
    QTRY_VERIFY(button("import_apply")->isEnabled());
    typeGpus("2");
    QVERIFY(!button("import_apply")->isEnabled());
    QTRY_VERIFY(button("import_apply")->isEnabled());
    QVERIFY(labelSays(dialog(), "Megatron-LM on 2 GPUs"));
    auto* framework = dialog()->findChild<QComboBox*>("launch_framework");
    Q_EMIT framework->activated(framework->currentIndex());
    QVERIFY(!button("import_apply")->isEnabled());
    QTest::keyClick(dialog(), Qt::Key_Escape);  // while the launch is read
    QTRY_VERIFY(!dialog());
  }

  void a_script_has_variables_of_the_person() {
    QGuiApplication::clipboard()->setText(kScript);
    press(Qt::Key_V, Qt::ControlModifier);
    QVERIFY(dialog());
    typeGpus("16");
    auto* variables = dialog()->findChild<QLineEdit*>("launch_variables");
    QTest::keyClicks(variables, "HIDDEN=3072");
    constexpr int kValue = 1;  // column
    QTRY_VERIFY(lists("3072", kValue));
    QTest::mouseClick(button("import_apply"), Qt::LeftButton);
    QTRY_VERIFY(!dialog());
    QCOMPARE(session_->design().model.hidden, int64_t{3072});
  }

  void text_of_the_clipboard_is_a_launch() {
    QGuiApplication::clipboard()->setText(QString(kScript).replace("$HIDDEN", "1024"));
    press(Qt::Key_V, Qt::ControlModifier);
    QVERIFY(dialog());
    QCOMPARE(dialog()->windowTitle(), QString("Import pasted text"));
    typeGpus("2");
    QTRY_VERIFY(button("import_apply")->isEnabled());
    QTest::mouseClick(button("import_cancel"), Qt::LeftButton);
    QTRY_VERIFY(!dialog());
    QGuiApplication::clipboard()->setText("hello");
    window_->actions().paste_launch->trigger();
    QVERIFY(!dialog());
    QVERIFY(window_->messageBar()->text().contains("no launch of a known framework"));
  }

  // Every framework writes the design, or says why not; gaps are listed.
  void a_design_goes_out() {
    window_->actions().copy_launch->trigger();
    auto* shown = window_->findChild<LaunchTextDialog*>();
    QVERIFY(shown);
    auto* framework = shown->findChild<QComboBox*>("launch_framework");
    QVERIFY(framework->count() > 0);
    for (int i = 0; i < framework->count(); ++i) {
      framework->setCurrentIndex(i);
      Q_EMIT framework->activated(i);
      const QString text = shown->findChild<QPlainTextEdit*>("launch_text")->toPlainText();
      auto* copy = shown->findChild<QPushButton*>("launch_copy");
      QCOMPARE(copy->isEnabled(), !text.isEmpty());
      QVERIFY2(!text.isEmpty() || shown->findChild<QLabel*>("dialog_error")->isVisible(),
               qPrintable(framework->currentText()));
      if (text.isEmpty()) continue;
      QTest::mouseClick(copy, Qt::LeftButton);
      QCOMPARE(QGuiApplication::clipboard()->text(), text);
    }
  }
};

QTEST_MAIN(LaunchDialogTest)
#include "launch_dialog_test.moc"
