// The verdict strip: memory in one unit, costs and their sources.
#include <QPushButton>
#include <QRegularExpression>
#include <QTest>

#include "campaign/running_cost.h"
#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "report/band_report.h"
#include "report/campaign_report.h"
#include "ui/inspector/design_summary.h"
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

  // Step time and its 80 % band. A design whose memory band reaches over the capacity may not fit.
  void theVerdictShowsBands() {
    Design design = default_design();
    session_->setDesign(design, QStringLiteral("Change memory"));
    session_->waitForEstimate();
    static const QRegularExpression cell("Step: [0-9.]+ m?s, [0-9.]+ m?s to [0-9.]+ m?s");
    const QString text = window_->verdictStrip()->text();
    QVERIFY2(cell.match(text).hasMatch(), qPrintable(text));
    bool shown = false;
    for (design.cluster.memory_capacity = 16; design.cluster.memory_capacity <= 80 && !shown;
         ++design.cluster.memory_capacity) {
      session_->setDesign(design, QStringLiteral("Change memory"));
      session_->waitForEstimate();
      const Report& report = *session_->report();
      if (!report.memory->fits || session_->segmentsNote()) continue;
      const bool over = !over_memory_text(report, design_bands(report.design)).empty();
      QCOMPARE(window_->verdictStrip()->verdict(), over ? QString("May not fit") : QString("Fits"));
      shown = !over;
    }
    QVERIFY(shown);
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

  // The catalogue has no price of this accelerator: strip, tip and inspector say so and lead to the field.
  void aMissingPriceLeadsToItsField() {
    QVERIFY(!session_->setKnob("accelerator", "b300-hgx-270gb"));
    QVERIFY(!session_->setKnob("tokens", "15000000000000"));
    session_->waitForEstimate();
    window_->resize(1800, 900);
    auto* link = window_->verdictStrip()->findChild<QPushButton*>("set_missing_cost");
    QTRY_VERIFY(link && link->isVisible());
    QCOMPARE(link->text(), QString("Set price"));
    const QString wanted = "No price for NVIDIA B300 HGX 270 GB: set \"Price per hour\" in Cluster";
    QCOMPARE(link->accessibleDescription(), wanted);
    const QString tip = link->parentWidget()->toolTip();
    QVERIFY2(tip.contains(wanted) && !tip.contains("Price per hour: 0"), qPrintable(tip));
    const Inspection summary = designSummary(*session_);
    QVERIFY(summary.figures.contains({QString("Dollars"), wanted}));
    QCOMPARE(summary.links.size(), 1);
    QCOMPARE(summary.links.front().knob, QString("price_per_hour"));
    QTest::mouseClick(link, Qt::LeftButton);
    const auto* field = qobject_cast<QLineEdit*>(window_->form()->row("price_per_hour")->fieldWidget());
    QTRY_VERIFY(field && field->hasFocus());
    QVERIFY(!session_->setKnob("price_per_hour", "6"));
    session_->waitForEstimate();
    QTRY_VERIFY(!link->isVisible());
    QVERIFY(designSummary(*session_).links.isEmpty());
  }
};

QTEST_MAIN(VerdictTest)
#include "verdict_test.moc"
