// The verdict strip: memory in one unit, costs and their sources.
#include <QRegularExpression>
#include <QTest>

#include "campaign/running_cost.h"
#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "report/campaign_report.h"
#include "ui/shell/verdict_strip.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class VerdictTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  // 405 billion parameters on 8 GPUs need terabytes. The cell has them in the unit of the capacity.
  void memoryHasOneUnit() {
    session_->applyPreset("llama3.1-405b");
    session_->waitForEstimate();
    QCOMPARE(session_->report()->ranks, 8);
    QCOMPARE(window_->verdictStrip()->verdict(), QString("Does not fit"));
    const QString text = window_->verdictStrip()->text();
    static const QRegularExpression cell("Peak memory: ([0-9,.]+) of 80 GiB");
    const QRegularExpressionMatch match = cell.match(text);
    QVERIFY2(match.hasMatch() && !text.contains("TiB"), qPrintable(text));
    const MemoryTimeline& memory = *session_->report()->memory;
    const double gib = to_double(memory.stages[static_cast<size_t>(memory.peak_stage)].in_use) / (1 << 30);
    QVERIFY(gib > 1024);
    const double shown = match.captured(1).remove(',').toDouble();
    QVERIFY2(std::abs(shown / gib - 1) < 0.01, qPrintable(text));
  }

  // The cost is shown where it has room, and its tip names price and power with their sources.
  void theVerdictShowsTheCost() {
    session_->waitForEstimate();
    QWidget* cost = nullptr;
    for (QWidget* cell : window_->verdictStrip()->findChildren<QWidget*>())
      if (cell->accessibleName().startsWith("Per million tokens: ")) cost = cell;
    QVERIFY(cost);
    const std::optional<double> dollars = running_cost(session_->design().cluster, session_->report()->ranks,
                                                       session_->estimate()->simulation->tokens_per_second)
                                              .dollars;
    QVERIFY(dollars);
    QVERIFY2(cost->accessibleName().contains(QString::fromStdString(dollars_text(*dollars))),
             qPrintable(cost->accessibleName()));
    QVERIFY(cost->accessibleName().contains("kWh"));
    QVERIFY(cost->toolTip().contains("Price per hour: ") && cost->toolTip().contains("Board power: "));
    // With a number of tokens, the tip has the days of the training run.
    QVERIFY(!cost->toolTip().contains("training run"));
    session_->setKnob("tokens", "15000000000000");
    session_->waitForEstimate();
    QTRY_VERIFY2(cost->toolTip().contains("The training run of 15.0 T tokens takes ") &&
                     cost->toolTip().contains(" days ("),
                 qPrintable(cost->toolTip()));
    session_->undoStack()->undo();
    const QSize size = window_->size();
    window_->resize(1600, 900);
    QTRY_VERIFY(cost->isVisible());
    window_->resize(1000, 640);
    QTRY_VERIFY(!cost->isVisible());
    window_->resize(size);
  }
};

QTEST_MAIN(VerdictTest)
#include "verdict_test.moc"
