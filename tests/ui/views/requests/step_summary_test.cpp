// Sums over engine steps equal those of a walk over all steps.
#include <QTest>
#include <algorithm>
#include <random>

#include "ui/views/requests/step_summary.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

std::vector<StepRecord> random_steps(std::mt19937& random, size_t count) {
  std::uniform_real_distribution<double> seconds(0.001, 0.1), idle(0, 1);
  std::uniform_int_distribution<int32_t> some(0, 100);
  std::vector<StepRecord> out(count);
  double at = 0;
  for (StepRecord& step : out) {
    if (idle(random) < 0.2) at += seconds(random);
    step.begin = at;
    step.seconds = seconds(random);
    step.prefill_tokens = some(random) < 50 ? 0 : 16;
    step.blocks = some(random);
    step.running = some(random);
    at += step.seconds;
  }
  return out;
}

StepTotals walked(const std::vector<StepRecord>& steps, double from, double to) {
  StepTotals out;
  for (const StepRecord& step : steps) {
    const double seconds = std::min(to, step.begin + step.seconds) - std::max(from, step.begin);
    if (seconds <= 0) continue;
    (step.prefill_tokens > 0 ? out.prompts : out.decode) += seconds;
    out.blocks = std::max(out.blocks, step.blocks);
    out.running = std::max(out.running, step.running);
  }
  return out;
}

}  // namespace

class StepSummaryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsAWalk_data() {
    QTest::addColumn<int>("count");
    for (const int count : {0, 1, 7, 8, 9, 64, 65, 1000, 5000}) QTest::addRow("%d steps", count) << count;
  }
  void equalsAWalk() {
    QFETCH(int, count);
    std::mt19937 random(static_cast<unsigned>(count) + 1);
    const std::vector<StepRecord> steps = random_steps(random, static_cast<size_t>(count));
    std::vector<const StepRecord*> pointers;
    for (const StepRecord& step : steps) pointers.push_back(&step);
    const StepSummary summary(pointers);
    const double length = steps.empty() ? 1 : steps.back().begin + steps.back().seconds;
    std::uniform_real_distribution<double> time(-0.1 * length, 1.1 * length);
    for (int i = 0; i < 300; ++i) {
      const double a = time(random), b = i % 3 == 0 ? a + 0.01 : time(random);
      const double from = std::min(a, b), to = std::max(a, b);
      const StepTotals expected = walked(steps, from, to), found = summary.between(from, to);
      QVERIFY(std::abs(found.prompts - expected.prompts) < 1e-9 * (1 + length));
      QVERIFY(std::abs(found.decode - expected.decode) < 1e-9 * (1 + length));
      QCOMPARE(found.blocks, expected.blocks);
      QCOMPARE(found.running, expected.running);
    }
  }
};

QTEST_APPLESS_MAIN(StepSummaryTest)
#include "step_summary_test.moc"
