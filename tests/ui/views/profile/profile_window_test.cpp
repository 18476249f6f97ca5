// The window of profiles: the run next to the present design; it follows the design.
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "offscreen.h"
#include "support/profile_trace.h"
#include "ui/plot/chart_table.h"
#include "ui/session/session.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/profile/profile_bars.h"
#include "ui/views/profile/profile_window.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// A step with a matrix product of `product` microseconds, an all-reduce and a launch gap.
test::ProfileTrace step_trace(double product) {
  test::ProfileTrace trace;
  trace.annotation("ProfilerStep#1", 0, 2000)
      .op(1, "aten::mm", 1, 5)
      .launch(1, 2)
      .kernel("ampere_bf16_gemm", 10, product, 1)
      .collective("ncclDevKernel_AllReduce", "allreduce", 10 + product, 200, 2, 4096, 4096, 8)
      .launch(3, 1500)
      .kernel("ampere_bf16_gemm", 1510, 100, 3);
  return trace;
}

}  // namespace

class ProfileWindowTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<ProfileWindow> window_;

  void open(const QStringList& paths) {
    session_ = std::make_unique<Session>();
    session_->waitForEstimate();
    window_ = std::make_unique<ProfileWindow>(session_.get(), nullptr);
    window_->setAttribute(Qt::WA_DeleteOnClose, false);
    window_->show();
    window_->open(paths);
  }
  QString write(double product, int rank, int ranks) {
    const QString path = folder_.filePath(QString("rank%1.json").arg(rank));
    step_trace(product).write(path.toStdString(), rank, ranks);
    return path;
  }

 private Q_SLOTS:
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  // The parts add up to both steps, the largest difference first; bars and table select the same row.
  void the_run_stands_next_to_the_design() {
    open({write(500, 0, 8)});
    QTRY_VERIFY(window_->comparison());
    const ProfileComparison& comparison = *window_->comparison();
    double measured = 0, predicted = 0;
    for (const ComparedTime& part : comparison.parts) {
      measured += part.measured;
      predicted += part.predicted;
    }
    QVERIFY(qFuzzyCompare(measured, comparison.step.measured));
    QVERIFY(qFuzzyCompare(predicted, comparison.step.predicted));
    QVERIFY2(window_->verdict()->text().contains("Largest difference"),
             qPrintable(window_->verdict()->text()));
    QCOMPARE(window_->bars()->count(), static_cast<int>(comparison.parts.size()));
    QCOMPARE(window_->partTable()->model()->rowCount(), window_->bars()->count() + 1);
    QTest::mouseClick(window_->bars(), Qt::LeftButton, {}, window_->bars()->rowRect(1).center().toPoint());
    QCOMPARE(window_->partTable()->selectedSourceRows(), std::vector<int>{1});
  }

  void the_comparison_follows_the_design() {
    open({write(500, 0, 8)});
    QTRY_VERIFY(window_->comparison());
    const double before = window_->comparison()->step.predicted;
    QVERIFY(!session_->setKnob("batch", "64"));
    session_->waitForEstimate();
    QTRY_VERIFY(window_->comparison() && window_->comparison()->step.predicted > 1.2 * before);
    // A server's step is not compared.
    QVERIFY(!session_->setKnob("sequence_parallel", "false"));
    QVERIFY(!session_->setKnob("mode", "decode"));
    session_->waitForEstimate();
    QVERIFY2(session_->current(),
             session_->problems().empty() ? "" : to_string(session_->problems()[0]).c_str());
    QTRY_VERIFY(!window_->comparison());
    QVERIFY(window_->verdict()->text().contains("no training step"));
  }

  // The first shown rank is the one that computes longest.
  void ranks_can_be_chosen() {
    open({write(300, 0, 8), write(900, 3, 8), write(400, 5, 8)});
    QTRY_COMPARE(window_->ranks().size(), size_t{3});
    QTRY_COMPARE(window_->rankChoice()->currentText(), QString("rank 3"));
    QVERIFY(window_->rankChoice()->isVisible());
    const double before = window_->comparison()->step.measured;
    auto* pages = window_->findChild<SegmentedControl*>("profile_pages");
    QTest::mouseClick(pages->button(ProfileWindow::Ranks), Qt::LeftButton);
    QVERIFY(window_->table(ProfileWindow::Ranks)->isVisible());
    QCOMPARE(window_->table(ProfileWindow::Ranks)->model()->rowCount(), 3);
    window_->rankChoice()->setFocus();
    QTest::keyClick(window_->rankChoice(), Qt::Key_Down);
    QCOMPARE(window_->rankChoice()->currentText(), QString("rank 5"));
    QVERIFY(window_->comparison()->step.measured <= before);
    QCOMPARE(window_->table(ProfileWindow::Kernels)->model()->rowCount(), 2);
    QVERIFY(window_->table(ProfileWindow::Collectives)->model()->rowCount() > 0);
  }

  void broken_files_have_a_message() {
    QFile file(folder_.filePath("broken.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"traceEvents\": [{");
    file.close();
    open({file.fileName()});
    QTRY_VERIFY2(window_->verdict()->text().contains("broken.json"), qPrintable(window_->verdict()->text()));
    QVERIFY(window_->ranks().empty());
  }
};

QTEST_MAIN(ProfileWindowTest)
#include "profile_window_test.moc"
