// The group Job of the form: the global batch in tokens. Filters that lead to the architecture.
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QTest>

#include "design/document.h"
#include "design/examples.h"
#include "offscreen.h"
#include "ui/form/gpus_row.h"
#include "ui/shell/message_bar.h"
#include "ui/toolkit/issue_line.h"
#include "ui/views/architecture/architecture_view.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class JobTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  QString tokens() { return window_->form()->findChild<QLabel*>("detail_batch")->text(); }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
  }
  void cleanup() { closeWindow(); }

  void theBatchAcceptsTokens() {
    QCOMPARE(session_->design().workload.seq, int64_t{8192});
    QCOMPARE(tokens(), QString("262,144 tokens per step"));
    enter("batch", "4M tokens");
    QCOMPARE(session_->design().workload.batch, int64_t{512});
    QCOMPARE(tokens(), QString("4,194,304 tokens per step"));
    QCOMPARE(focused("batch")->text(), QString("512"));
    session_->setKnob("seq", "4096");  // the batch is a number of sequences
    QCOMPARE(session_->design().workload.batch, int64_t{512});
    QCOMPARE(tokens(), QString("2,097,152 tokens per step"));
  }

  void tokensAreRoundedWithANote() {
    enter("batch", "4000000 tokens");
    QCOMPARE(session_->design().workload.batch, int64_t{488});
    session_->waitForReport();
    IssueLine* issue = window_->form()->row("batch")->issueLine();
    QVERIFY(issue->isVisible());
    QVERIFY2(issue->text().contains("rounded to 488 sequences"), qPrintable(issue->text()));
    session_->setKnob("seq", "4096");
    session_->waitForReport();
    QVERIFY(!issue->isVisible());
  }

  // The architecture has no field: the filter leads to its view.
  void theFilterLeadsToTheArchitecture_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<bool>("link");
    for (const char* word : {"architecture", "pattern", "layers", "attention", "Arch", "layer"})
      QTest::newRow(word) << QString(word) << true;
    for (const char* word : {"arc", "batch", ""}) QTest::addRow("'%s'", word) << QString(word) << false;
  }
  void theFilterLeadsToTheArchitecture() {
    QFETCH(QString, typed);
    QFETCH(bool, link);
    window_->form()->focusFilter();
    QTest::keyClicks(window_->form()->findChild<QLineEdit*>("form_filter"), typed);
    auto* button = window_->form()->findChild<QPushButton*>("form_architecture");
    QCOMPARE(button->isVisible(), link);
    if (!link) return;
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(window_->tabs()->currentWidget(), static_cast<QWidget*>(window_->architecture()));
  }

  // In decode, ep and the microbatch follow the GPUs, and the window says what changed. Numbers typed in
  // between leave no trace.
  void gpusKeepDecodeValid() {
    const auto example = find_example("deepseek-v3-serving");
    session_->reset(std::get<Design>(load_design(std::get<Example>(example).path)));
    session_->waitForReport();
    QVERIFY(session_->current());
    GpusRow* gpus = window_->form()->gpus();
    gpus->enter("32");
    QCOMPARE(session_->design().parallel.dp, int64_t{32});
    QCOMPARE(session_->design().parallel.ep, int64_t{32});
    session_->waitForReport();
    QVERIFY(session_->current());
    auto* bar = window_->findChild<MessageBar*>();
    QVERIFY2(bar->text().startsWith("Changed to fit 32 GPUs: Expert parallel (ep) 128 → 32"),
             qPrintable(bar->text()));
    gpus->enter("256");
    QCOMPARE(session_->design().parallel.ep, int64_t{128});
    QCOMPARE(session_->design().workload.microbatch, int64_t{64});
    QVERIFY2(bar->text().contains("128 → 64"), qPrintable(bar->text()));
    gpus->enter("128");
    QCOMPARE(session_->design().parallel.ep, int64_t{128});
    QCOMPARE(session_->design().workload.microbatch, int64_t{128});
    QVERIFY(session_->current() || session_->computing());
    session_->waitForReport();
    QVERIFY(session_->current());
  }

  void decodeHasOneTokenPerSequence() {
    session_->setKnob("mode", "decode");
    QVERIFY(tokens().isEmpty());
  }
};

QTEST_MAIN(JobTest)
#include "job_test.moc"
