// Pinned designs in bars, tables and step breakdowns.
#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTest>
#include <cmath>
#include <memory>
#include <numeric>

#include "compared_designs.h"
#include "offscreen.h"
#include "ui/plot/bar_comparison_model.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/stage_chart.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/timeline/breakdown_bar.h"
#include "ui/views/timeline/timeline_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

enum View { Memory, Compute, Communication };

std::unique_ptr<ChartPage> make_view(int view, SelectionState* state) {
  if (view == Memory) return std::make_unique<MemoryView>(state);
  if (view == Compute) return std::make_unique<ComputeView>(state);
  return std::make_unique<CommunicationView>(state);
}

// Bars stand in the order of letters: bars of the pinned design A are to the left of the bars of the present
// design B, on the same scale.
void barsAreInOrder(const StageChart& chart) {
  const BarData& data = chart.data();
  QTest::qWait(20);
  const auto height = [&](int stage, int member) {
    double sum = 0;
    for (int series = 0; series < static_cast<int>(data.series.size()); ++series)
      sum += chart.segmentRect(stage, series, member).height();
    return sum;
  };
  for (int stage = 0; stage < 2; ++stage) {
    QVERIFY(chart.segmentRect(stage, 0, 0).left() >= chart.segmentRect(stage, 0, 1).right());
    QVERIFY(chart.segmentRect(stage, 0, 0).right() <
            chart.segmentRect(stage + 1, 0, stage < 1 ? 1 : 0).left());
    if (height(stage, 0) > 20)
      QVERIFY(std::abs(height(stage, 1) / height(stage, 0) / (data.total(stage, 1) / data.total(stage)) - 1) <
              0.02);
  }
  // Stages 0 and 1 have two bars, stages 2 and 3 one: all stand around their stage numbers, at equal
  // distances.
  const auto centre = [&](int stage) {
    return (chart.segmentRect(stage, 0, stage < 2 ? 1 : 0).left() + chart.segmentRect(stage, 0, 0).right()) /
           2;
  };
  for (int stage = 1; stage < 4; ++stage)
    QVERIFY(std::abs(centre(stage) - centre(0) - stage * (centre(1) - centre(0))) < 2);
}

}  // namespace

class ComparisonTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void barsOfComparedDesigns_data() {
    QTest::addColumn<int>("view");
    QTest::newRow("memory") << int(Memory);
    QTest::newRow("compute") << int(Compute);
    QTest::newRow("communication") << int(Communication);
  }

  void barsOfComparedDesigns() {
    QFETCH(int, view);
    Session session, alone;
    SelectionState state(&session), state_alone(&alone);
    set(session, 2, 4, 1);
    const Design other = other_of(session);
    alone.setDesign(other, "test");
    alone.waitForEstimate();
    const auto page = make_view(view, &state), of_other = make_view(view, &state_alone);
    open(*page);
    QCOMPARE(page->chart()->data().members(), 1);
    QVERIFY(!page->comparisonButton()->isVisible() && !page->comparisonTable()->isVisible());
    const BarData before = page->chart()->data();
    pin(session, other);

    const BarData& data = page->chart()->data();
    const BarData& expected = of_other->chart()->data();
    QCOMPARE(data.members(), 2);
    QCOMPARE(data.stages(), 4);
    QCOMPARE(data.stages(1), 2);
    QCOMPARE(data.most_stages(), 4);
    for (int stage = 0; stage < 2; ++stage) {
      QCOMPARE(data.total(stage, 1), expected.total(stage));
      for (size_t series = 0; series < expected.series.size(); ++series) {
        const auto same = std::find_if(data.series.begin(), data.series.end(), [&](const BarSeries& s) {
          return s.label == expected.series[series].label;
        });
        QVERIFY(same != data.series.end());
        QCOMPARE(data.of(1)[static_cast<size_t>(stage)][static_cast<size_t>(same - data.series.begin())],
                 expected.values[static_cast<size_t>(stage)][series]);
      }
    }
    for (int stage = 0; stage < 4; ++stage) QCOMPARE(data.total(stage), before.total(stage));

    barsAreInOrder(*page->chart());

    // The comparison table has the parts of the selected stage, with difference and percent. A button
    // switches back to the table of the present design.
    QVERIFY(page->comparisonTable()->isVisible() && !page->table()->isVisible());
    BarComparisonModel& model = *page->comparisonModel();
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.columnCount(), 2 + 3);
    const double by = data.total(0) - data.total(0, 1);  // the present design less the pinned one
    QCOMPARE(model.index(0, BarComparisonModel::difference(1)).data(TableModel::SortRole).toDouble(), by);
    QCOMPARE(model.index(0, BarComparisonModel::percent(1)).data(TableModel::SortRole).toDouble(),
             100 * by / data.total(0, 1));
    QCOMPARE(model.headerData(BarComparisonModel::difference(1), Qt::Horizontal).toString(),
             QString("B − A"));
    double sum = 0;
    for (int row = 1; row < model.rowCount(); ++row)
      sum += model.index(row, BarComparisonModel::value(1)).data(TableModel::SortRole).toDouble();
    QVERIFY(std::abs(sum - data.total(0, 1)) <= 1e-9 * sum);
    page->chart()->setFocus();
    for (int i = 0; i < 3; ++i) QTest::keyClick(page->chart(), Qt::Key_Right);
    QCOMPARE(state.stage(), 3);  // the pinned design has no stage 3
    QVERIFY(!model.index(0, BarComparisonModel::value(1)).data(TableModel::SortRole).isValid());
    page->comparisonButton()->setFocus();
    QTest::keyClick(page->comparisonButton(), Qt::Key_Space);
    QVERIFY(!page->comparisonTable()->isVisible() && page->table()->isVisible());
    QCOMPARE(page->chart()->data().members(), 2);

    const auto bytes = encoded(page->picture(), SaveFormat::Png);
    QVERIFY(std::holds_alternative<QByteArray>(bytes));
    session.comparisons()->clear();
    QCOMPARE(page->chart()->data().members(), 1);
    QCOMPARE(page->chart()->data().series, before.series);
    QVERIFY(!page->comparisonButton()->isVisible());
  }

  // An invalid pinned design has no bars. Other pinned designs keep theirs.
  void aDesignThatCannotRunHasNoBars() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    MemoryView view(&state);
    open(view);
    Design wrong = session.design();
    wrong.parallel.tp = 3;
    pin(session, wrong);
    QCOMPARE(view.chart()->data().members(), 1);
    pin(session, other_of(session));
    QCOMPARE(view.chart()->data().members(), 2);
    QCOMPARE(view.chart()->data().letter(1), 2);  // it keeps the letter C
  }

  void stepsOfComparedDesigns() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    TimelineView view(&state);
    open(view);
    QTRY_VERIFY(view.breakdown()->total() > 0);
    const double wide = view.breakdown()->segment(TimeCategory::MatrixProducts).width();
    pin(session, other_of(session));
    const Simulation& other = *session.comparisons()->all()[0].result.simulation;
    QCOMPARE(view.breakdown()->others().size(), size_t{1});
    const BreakdownBar::OtherDesign& others = view.breakdown()->others()[0];
    QCOMPARE(others.step, other.step_seconds);
    QVERIFY(std::abs(std::accumulate(others.seconds.begin(), others.seconds.end(), 0.0) / other.step_seconds -
                     1) < 0.01);
    // One scale: widths are proportional to seconds.
    const QRectF mine = view.breakdown()->segment(TimeCategory::MatrixProducts);
    QVERIFY(mine.width() < wide);
    double products = 0;
    const Simulation& now = *session.estimate()->simulation;
    for (const StageTimes& stage : now.stages)
      products += stage.seconds[static_cast<size_t>(TimeCategory::MatrixProducts)] /
                  static_cast<double>(now.stages.size());
    QVERIFY(std::abs(view.breakdown()->comparedStepRect(0).width() / mine.width() /
                         (other.step_seconds / products) -
                     1) < 0.01);
    QVERIFY(view.breakdown()->comparedStepRect(0).top() > mine.bottom());
    // The layout of the view gives the bar its height later.
    QTRY_VERIFY(view.breakdown()->rect().contains(view.breakdown()->comparedStepRect(0).toAlignedRect()));
    // A click switches to the critical path.
    QTest::mouseClick(view.findChild<QWidget*>("whose_time")->findChildren<QPushButton*>()[2],
                      Qt::LeftButton);
    QCOMPARE(view.breakdown()->others()[0].seconds, other.critical_seconds);
    session.comparisons()->clear();
    QVERIFY(view.breakdown()->others().empty());
  }
};

QTEST_MAIN(ComparisonTest)
#include "comparison_test.moc"
