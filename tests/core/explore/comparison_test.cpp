// Sensitivity (one knob at a time), scaling (more ranks), and comparison of designs.
#include <QtTest>
#include <cmath>
#include <set>

#include "campaign/campaign.h"
#include "explore/comparison.h"
#include "explore/sensitivity.h"
#include "memory/estimate.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class ComparisonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sensitivity_of_a_design();
  void scaling_of_a_design();
  void comparison_of_designs();
  void costs_of_designs();
};

void ComparisonTest::sensitivity_of_a_design() {
  Design d = small_gpt();
  d.parallel.tp = 2;
  d.parallel.pp = 2;
  d.parallel.dp = 2;
  const auto found = sensitivity(d);
  QVERIFY(found && found->now.timed());
  std::set<std::string> knobs;
  for (size_t i = 0; i < found->knobs.size(); ++i) {
    const KnobSensitivity& of = found->knobs[i];
    knobs.insert(of.knob->id);
    QVERIFY(i == 0 || found->knobs[i - 1].swing() >= of.swing());
    QVERIFY(!of.neighbours.empty());
    for (const Neighbour& n : of.neighbours) {
      QVERIFY(n.value != of.value && n.evaluation.timed());
      QCOMPARE(n.design.world(), of.knob->id == "dp" ? n.design.world() : d.world());
      QCOMPARE(knob_text(n.design, *of.knob), n.value);
      const double change = n.evaluation.tokens_per_second / found->now.tokens_per_second - 1;
      QVERIFY(change >= of.slowest - 1e-12 && change <= of.fastest + 1e-12);
      for (const auto& [id, value] : n.also) QCOMPARE(knob_text(n.design, *find_knob(id)), value);
    }
  }
  for (const char* id :
       {"tp", "pp", "dp", "microbatch", "recompute", "sequence_parallel", "schedule", "sync"})
    QVERIFY2(knobs.count(id), id);
  for (const char* id : {"layers", "experts", "nic_bandwidth"}) QVERIFY2(!knobs.count(id), id);
  std::stop_source stop;
  stop.request_stop();
  QVERIFY(!sensitivity(d, stop.get_token()));
}

void ComparisonTest::scaling_of_a_design() {
  Design d = small_gpt();
  d.parallel.tp = 2;
  d.parallel.dp = 4;
  const auto strong = scaling(d, {false, 8, 128});
  QVERIFY(strong);
  std::vector<int64_t> gpus;
  for (const ScalePoint& p : *strong) {
    gpus.push_back(p.gpus);
    QCOMPARE(p.batch, int64_t{16});
    QCOMPARE(p.wrong.empty(), p.dp <= 16);  // a batch of 16 has no more replicas
    if (p.wrong.empty()) QVERIFY(p.evaluation.timed() && p.efficiency > 0 && p.efficiency <= 1.0001);
  }
  QVERIFY((gpus == std::vector<int64_t>{8, 16, 32, 64, 128}));
  QCOMPARE(strong->front().efficiency, 1.0);
  const auto weak = scaling(d, {true});
  QCOMPARE(weak->back().gpus, int64_t{131072});
  for (const ScalePoint& p : *weak) {
    QCOMPARE(p.batch, 4 * p.dp);
    QVERIFY2(p.wrong.empty(), p.wrong.c_str());
  }
  QVERIFY(weak->back().efficiency > strong->at(3).efficiency);
}

void ComparisonTest::comparison_of_designs() {
  Design a = small_gpt(), b = a;
  a.parallel.dp = b.parallel.dp = 2;
  b.workload.recompute = Recompute::Full;
  const auto knobs = compare_knobs({a, b});
  QCOMPARE(knobs.size(), size_t{1});
  QCOMPARE(knobs.front().knob->id, std::string("recompute"));
  const auto figures = compare_figures({compared(a), compared(b)});
  std::map<std::string, ComparedFigure> by_id;
  for (const ComparedFigure& f : figures) by_id[f.id] = f;
  const ComparedFigure& step = by_id.at("step_seconds");
  QVERIFY(step.values[1] > step.values[0]);
  QVERIFY(step.difference(1).starts_with("+") && step.percent(1).ends_with(" %"));
  QVERIFY(by_id.at("activations_bytes").values[1] < by_id.at("activations_bytes").values[0]);
  QCOMPARE(by_id.at("gpus").percent(1), std::string());
  QVERIFY(!by_id.count("expert_comm_seconds"));
  // Time, rates and memory have bands. The bands of a figure are above and below its value.
  for (const char* id : {"step_seconds", "tokens_per_second", "mfu", "usd_per_million_tokens", "memory"}) {
    const ComparedFigure& f = by_id.at(id);
    QCOMPARE(f.bands.size(), size_t{2});
    for (size_t i = 0; i < 2; ++i) QVERIFY2(f.bands[i].first < f.bands[i].second, id);
  }
  QVERIFY(by_id.at("activations_bytes").bands.empty() && by_id.at("gpus").bands.empty());
  QVERIFY(step.band(0).find(" to ") != std::string::npos);
  // The designs differ in recompute alone, so the errors of their ratio decide.
  const auto errors = step.ratios.at({0, 1});
  const double ratio = step.values[1] / step.values[0];
  QCOMPARE(step.tie(1), errors->tie(ratio));
  QCOMPARE(step.judged_ratio(1), ratio_text(ratio, *errors));
  ComparedFigure near = step;
  near.bands.clear();
  near.values[1] = near.values[0] * 1.0001;
  QVERIFY(near.tie(1) && near.verdict(0, 1) == Verdict::Tie);
  QVERIFY(near.judged_ratio(1).ends_with("tie"));
  near.values[1] = near.values[0] * 100;
  QVERIFY(!near.tie(1) && near.judged_ratio(1).ends_with(" % sure"));
  QVERIFY(step.judged_ratio(0).empty() && by_id.at("memory").ratios.size() == 1);
  QVERIFY(by_id.at("gpus").ratios.empty());
  // Other designs: bands that overlap are a tie, also if they only touch. Equal values are no tie.
  ComparedFigure apart = step;
  apart.ratios.clear();
  apart.bands = {{1, 2}, {2, 3}};
  QVERIFY(apart.verdict(1) == Verdict::Tie && apart.verdict(0, 1) == Verdict::Tie);
  QVERIFY(apart.verdict(0) == Verdict::None);
  apart.bands = {{1, 2}, {2.1, 3}};
  QVERIFY(apart.verdict(1) == Verdict::Worse && apart.verdict(0, 1) == Verdict::Better);
  // A longer step is worse, less memory and more throughput are better; sizes are neither.
  for (auto& [id, figure] : by_id) {
    figure.bands.clear();
    figure.ratios.clear();
  }
  QVERIFY(step.verdict(1) == Verdict::Worse && step.verdict(0) == Verdict::None);
  QVERIFY(by_id.at("tokens_per_second").verdict(1) == Verdict::Worse);
  QVERIFY(by_id.at("usd_per_million_tokens").verdict(1) == Verdict::Worse);
  QVERIFY(by_id.at("activations_bytes").verdict(1) == Verdict::Better);
  QVERIFY(by_id.at("gpus").verdict(1) == Verdict::None);
  // With the second design as the baseline, the first one is the gain.
  QCOMPARE(step.change(0, 1), -step.change(1));
  QVERIFY(step.difference(0, 1).starts_with("-") && step.percent(0, 1).starts_with("-"));
  QVERIFY(step.verdict(0, 1) == Verdict::Better && step.verdict(1, 1) == Verdict::None);
  // Where the step goes adds up to it.
  double sum = 0;
  for (const ComparedFigure& f : figures)
    if (f.group == FigureGroup::StepParts) sum += f.values[1];
  QVERIFY(std::abs(sum / step.values[1] - 1) < 1e-9);
  Design broken = a;
  broken.parallel.tp = 3;
  QVERIFY(std::isnan(compare_figures({compared(a), compared(broken)}).front().values[1]));
}

// Energy of a million tokens, and the days of the training run if the number of its tokens is set.
void ComparisonTest::costs_of_designs() {
  Design a = small_gpt(), b = a;
  a.parallel.dp = b.parallel.dp = 2;
  b.workload.recompute = Recompute::Full;
  const auto rows_of = [](const std::vector<ComparedDesign>& designs) {
    std::map<std::string, ComparedFigure> by_id;
    for (ComparedFigure& f : compare_figures(designs)) by_id[f.id] = std::move(f);
    return by_id;
  };
  const auto without_run = rows_of({compared(a), compared(b)});
  QVERIFY(!without_run.count("days"));
  a.workload.tokens = b.workload.tokens = 10'000'000'000;
  const std::vector<ComparedDesign> designs{compared(a), compared(b)};
  auto rows = rows_of(designs);
  QVERIFY(rows.count("kwh_per_million_tokens") && rows.count("days"));
  const ComparedFigure &energy = rows["kwh_per_million_tokens"], &days = rows["days"];
  QVERIFY(energy.group == FigureGroup::Cost && days.group == FigureGroup::Cost);
  for (size_t i = 0; i < designs.size(); ++i) {
    const Simulation& s = *designs[i].simulation;
    const double seconds = 1e6 / s.tokens_per_second;
    const double watts = operation_of(designs[i].report->design.cluster).site_watts();
    QVERIFY(watts > 0);
    const double kwh = 2 * watts * seconds / 3.6e6;  // two ranks; a kWh is 3.6 MJ
    QVERIFY(std::abs(energy.values[i] / kwh - 1) < 1e-9);
    // Saves and interruptions add to the days of the steps alone.
    const double steps = 1e10 / s.tokens_per_second / 86400;
    QVERIFY(days.values[i] >= steps && days.values[i] < 1.5 * steps);
    QCOMPARE(days.values[i], campaign(*designs[i].report, s).days.mean);
  }
  // The energy has the errors of the step time; the days of the run have none.
  const double ratio = energy.values[1] / energy.values[0];
  QCOMPARE(energy.verdict(1) == Verdict::Tie, energy.ratios.at({0, 1})->tie(ratio));
  QVERIFY(days.ratios.empty() && days.verdict(1) == Verdict::Worse);
  QVERIFY2(energy.label.find("kWh") != std::string::npos, energy.label.c_str());
}

QTEST_GUILESS_MAIN(ComparisonTest)
#include "comparison_test.moc"
