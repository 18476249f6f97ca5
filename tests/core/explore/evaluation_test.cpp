// The fast evaluation of a design against its full report: memory to the byte, time but for rounding (1 % is
// asked for).
#include <QtTest>

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "design/knobs/command_flags.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "explore/evaluation.h"
#include "memory/estimate.h"
#include "mesh/pipeline_layout.h"
#include "serving/inference.h"
#include "support/designs.h"
#include "support/random_designs.h"
#include "support/test_share.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr double kTime = 1e-6, kShare = 0.01;  // relative; of the step

struct Differences {
  int timed = 0;
  double time = 0, bubble = 0, exposed = 0;
};

// Empty where the two agree.
QString disagreement(Evaluator& evaluator, const Design& design, Differences& seen) {
  const Evaluation fast = evaluator.evaluate(design, {.time_if_too_large = true});
  const auto report = estimate(design);
  if (!report->valid() != (fast.feasibility == Feasibility::Invalid)) return "one of them is invalid";
  if (!report->valid()) {
    const std::string& where = report->problems.front().where;
    return fast.reason == where ? QString()
                                : QString("the reason is %1, not %2").arg(fast.reason.c_str(), where.c_str());
  }
  const int64_t memory = memory_in_use(*report, report->memory->peak_stage);
  if (fast.memory != memory || fast.capacity != report->memory->capacity)
    return QString("memory is %1 of %2, not %3 of %4")
        .arg(fast.memory)
        .arg(fast.capacity)
        .arg(memory)
        .arg(report->memory->capacity);
  const auto step = simulate(*report);
  const auto off = [](double a, double b) { return b == 0 ? std::abs(a) : std::abs(a / b - 1); };
  double seconds = step->step_seconds, tokens = step->tokens_per_second;
  if (!trains(design)) {
    const InferenceFigures served = inference_figures(*report, *step);
    seconds = served.seconds;
    tokens = served.tokens_per_second;
  }
  ++seen.timed;
  seen.time = std::max(seen.time, off(fast.step_seconds, seconds));
  seen.bubble = std::max(seen.bubble, std::abs(fast.bubble - step->bubble));
  seen.exposed = std::max(seen.exposed, std::abs(fast.exposed - step->exposed));
  for (const auto& [what, a, b] : {std::tuple{"step", fast.step_seconds, seconds},
                                   {"tokens per second", fast.tokens_per_second, tokens},
                                   {"model TFLOP/s", fast.model_tflops, step->model_tflops},
                                   {"MFU", fast.mfu, step->mfu}})
    if (off(a, b) > kTime) return QString("%1 is %2, not %3").arg(what).arg(a, 0, 'g', 10).arg(b, 0, 'g', 10);
  if (std::abs(fast.bubble - step->bubble) > kShare)
    return QString("bubble is %1, not %2").arg(fast.bubble).arg(step->bubble);
  if (std::abs(fast.exposed - step->exposed) > kShare)
    return QString("exposed is %1, not %2").arg(fast.exposed).arg(step->exposed);
  return {};
}

}  // namespace

class EvaluationTest : public QObject {
  Q_OBJECT

 private slots:
  void random_designs_agree();
  void schedules_agree_data();
  void schedules_agree();
  void units_agree();
  void actions_before_reductions_are_shared();
  void plans_are_reused_if_only_seconds_differ();
  void peaks_of_other_layers_and_schedules_are_not_shared();
  void invalid_designs_have_the_first_reason();
  void threads_agree();
  void long_simulations_stop();
};

void EvaluationTest::random_designs_agree() {
  const int designs_wanted = cases(3000);
  Evaluator evaluator;
  Differences seen;
  std::mt19937 random(7);
  for (int i = 0; i < designs_wanted; ++i) {
    const auto design = repaired(random_design(random), random);
    if (!design) continue;
    const QString wrong = disagreement(evaluator, *design, seen);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong + " of " + command_line(*design).c_str()));
  }
  qInfo("%d designs timed; largest differences: %.3g %% of time, %.3g of bubble, %.3g of exposed", seen.timed,
        seen.time * 100, seen.bubble, seen.exposed);
  QVERIFY(seen.timed > designs_wanted / 2);
}

// Steps of many microbatches, whose schedules repeat themselves.
void EvaluationTest::schedules_agree_data() {
  QTest::addColumn<QString>("preset");
  QTest::addColumn<int>("world");
  QTest::addColumn<int>("batch");
  QTest::newRow("gpt3-175b") << "gpt3-175b" << 512 << 2048;
  QTest::newRow("llama3-70b") << "llama3-70b" << 256 << 1024;
  QTest::newRow("mixtral-8x7b") << "mixtral-8x7b" << 128 << 1024;
}

void EvaluationTest::schedules_agree() {
  QFETCH(QString, preset);
  QFETCH(int, world);
  QFETCH(int, batch);
  const int designs_wanted = cases(150);
  Evaluator evaluator;
  Differences seen;
  int in_pairs = 0;
  std::mt19937 random(3);
  const auto of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  for (int tries = 0; seen.timed < designs_wanted && tries < 100 * designs_wanted; ++tries) {
    Design d = preset_design(qPrintable(preset), of({1, 2, 4, 8}), of({1, 2, 4, 8, 16}), 1);
    ParallelSpec& p = d.parallel;
    p.dp = world / p.tp / p.pp;
    p.virtual_stages = of({1, 1, 2, 3, 4});
    p.schedule = static_cast<ScheduleKind>(
        of({1, 1, 1, 1, 0, 2, 3, 4, 5, 6, 7, 7, int64_t{static_cast<int>(ScheduleKind::ZbAuto)}}));
    p.passes = {of({0, 1}) ? std::vector<int64_t>{}
                           : std::vector<int64_t>{100, of({90, 160}), of({40, 110}), of({0, 5})},
                of({0, 0, p.pp, 3}), of({40, 100})};
    p.sequence_parallel = of({0, 1});
    p.sync = static_cast<SyncStrategy>(of({0, 1, 2, 2, 2, 3, 4, 7, 8}));
    p.overlap_grad_reduce = of({0, 1});
    p.overlap_param_gather = of({0, 1});
    if (p.schedule == ScheduleKind::Flexible)
      p.microbatch_group = of({0, 0, p.pp, 2 * p.pp, p.pp + 1});  // the last one is seldom filled
    p.scatter_gather_pipeline = of({0, 1});
    p.average_loss = of({0, 0, 1});
    p.clip_grad_norm = of({0, 1});
    d.cluster.accelerator = of({0, 1}) ? "a100-sxm-80gb" : "h100-sxm-80gb";
    WorkloadSpec& w = d.workload;
    w.seq = 2048;
    w.batch = batch;
    w.microbatch = of({1, 2, 4});
    w.recompute = static_cast<Recompute>(of({0, 1, 2}));
    w.recompute_method = static_cast<RecomputeMethod>(of({0, 1}));
    w.recompute_num_layers = of({1, 2, 4});
    w.offload_activations = of({0, 0, 0, 0, 2});
    if (d.model.experts > 0) {
      p.ep = of({1, 2, 8});
      p.ep_comm_overlap = of({0, 1});
      if (p.ep_comm_overlap && of({0, 1})) {  // what pairs want
        p.ep = 8;
        p.schedule = ScheduleKind::OneFOneB;
        p.virtual_stages = p.pp > 1 ? of({2, 4}) : 1;
        p.sync = of({0, 1}) ? SyncStrategy::DdpFlat : SyncStrategy::DistributedOptimizer;
        w.recompute = of({0, 1}) ? Recompute::Selective : Recompute::None;
      }
    }
    if (!first_error(d).empty()) continue;
    in_pairs += schedule_of(p) == ScheduleKind::OneFOneBPairs;
    const QString wrong = disagreement(evaluator, d, seen);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong + " of " + command_line(d).c_str()));
  }
  qInfo("%d designs timed; largest differences: %.3g %% of time, %.3g of bubble, %.3g of exposed", seen.timed,
        seen.time * 100, seen.bubble, seen.exposed);
  QCOMPARE(seen.timed, designs_wanted);
  QVERIFY(in_pairs >= designs_wanted / 10 || !preset.startsWith("mixtral"));
}

// FSDP units are gathered concurrently with layers. Action transfers (max-plus) give the same step as a
// simulation layer by layer.
void EvaluationTest::units_agree() {
  const int designs_wanted = cases(120);
  constexpr double kTime = 1e-9, kShare = 1e-3;  // relative; of the step
  Evaluator evaluator;
  Differences seen;
  std::mt19937 random(19);
  const auto of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  for (int tries = 0; seen.timed < designs_wanted && tries < 100 * designs_wanted; ++tries) {
    Design d = preset_design("gpt3-175b", of({1, 2, 4, 8}), of({1, 2, 4, 8}), 1);
    ParallelSpec& p = d.parallel;
    p.dp = 512 / p.tp / p.pp;
    p.virtual_stages = of({1, 1, 2, 3, 6});
    p.schedule = static_cast<ScheduleKind>(of({1, 1, 1, 0, 2, 3, 4, 6}));
    p.sequence_parallel = of({0, 1});
    p.scatter_gather_pipeline = of({0, 1});
    p.sync = of({0, 1, 1}) ? SyncStrategy::Fsdp2 : SyncStrategy::Fsdp1;
    p.reshard_after_forward = of({0, 1, 1});
    p.reshard_after_backward = of({0, 1, 1});
    p.reduce_every_microbatch = of({0, 0, 1});
    p.average_loss = of({0, 1});
    p.dp_shard = of({0, 0, 8});
    // Stages share a node: those at its end send messages over other links.
    if (of({0, 1}) && set_knob(d, *find_knob("rank_order"), "tp-cp-pp-dp")) QFAIL("rank order");
    d.cluster.accelerator = of({0, 1}) ? "a100-sxm-80gb" : "h100-sxm-80gb";
    WorkloadSpec& w = d.workload;
    w.seq = 2048;
    w.batch = of({512, 1024, 2048});
    w.microbatch = of({1, 2, 4});
    w.recompute = static_cast<Recompute>(of({0, 1, 2}));
    w.recompute_num_layers = of({1, 2});
    if (!first_error(d).empty()) continue;
    const QString wrong = disagreement(evaluator, d, seen);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong + " of " + command_line(d).c_str()));
    QVERIFY2(seen.time < kTime && std::max(seen.bubble, seen.exposed) < kShare,
             qPrintable(QString("%1 of time, %2 of bubble, %3 of exposed: %4")
                            .arg(seen.time)
                            .arg(seen.bubble)
                            .arg(seen.exposed)
                            .arg(command_line(d).c_str())));
  }
  qInfo("%d designs timed; largest differences: %.3g %% of time, %.3g of bubble, %.3g of exposed", seen.timed,
        seen.time * 100, seen.bubble, seen.exposed);
  QCOMPARE(seen.timed, designs_wanted);
}

// Designs that differ only in gradient reduction share the simulation of the actions before the last
// backwards. The first design of each set simulates them.
void EvaluationTest::actions_before_reductions_are_shared() {
  const int designs_wanted = cases(60);
  constexpr double kTime = 1e-9, kShare = 1e-6;  // relative; of the step
  std::mt19937 random(29);
  const auto of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  Differences seen;
  for (int designs = 0; designs < designs_wanted;) {
    Design d = preset_design(of({0, 1}) ? "gpt3-175b" : "gpt3-xl-1.3b", of({1, 2, 8}), of({2, 4, 8}), 1);
    ParallelSpec& p = d.parallel;
    p.dp = 128 / p.tp / p.pp;
    p.virtual_stages = of({1, 1, 2, 3});
    p.schedule = static_cast<ScheduleKind>(of({1, 1, 1, 0, 2, 3, 4}));
    p.sequence_parallel = of({0, 1});
    d.cluster.accelerator = "a100-sxm-80gb";
    WorkloadSpec& w = d.workload;
    w.profile = of({0, 1}) ? "megatron-2022" : "flash";  // the host of the first is slow
    w.seq = of({64, 2048});                              // gradients take longer to zero than short forwards
    w.microbatch = of({1, 2, 4});
    w.batch = of({8, 16, 64}) * p.dp;
    w.recompute = static_cast<Recompute>(of({0, 1, 2}));
    if (of({0, 0, 1}) &&
        p.virtual_stages == 1) {  // the first stage ends its backwards earlier than the others
      p.stage_layers.assign(static_cast<size_t>(p.pp), d.model.layers / p.pp);
      p.stage_layers.back() += p.stage_layers.front() - 1;
      p.stage_layers.front() = 1;
    }
    if (!first_error(d).empty()) continue;
    ++designs;
    Evaluator evaluator;
    for (const SyncStrategy sync : {SyncStrategy::DdpFlat, SyncStrategy::DistributedOptimizer,
                                    SyncStrategy::Zero1, SyncStrategy::DdpBuckets})
      for (const bool overlap : {false, true})
        for (const DType type : {DType::FP32, DType::BF16}) {
          Design other = d;
          other.parallel.sync = sync;
          other.parallel.overlap_grad_reduce = overlap;
          other.workload.grad_dtype = type;
          if (!first_error(other).empty()) continue;
          Differences here;
          const QString wrong = disagreement(evaluator, other, here);
          QVERIFY2(wrong.isEmpty(), qPrintable(wrong + " of " + command_line(other).c_str()));
          QVERIFY2(here.time < kTime && std::max(here.bubble, here.exposed) < kShare,
                   qPrintable(QString("%1 of time, %2 of bubble, %3 of exposed: %4")
                                  .arg(here.time)
                                  .arg(here.bubble)
                                  .arg(here.exposed)
                                  .arg(command_line(other).c_str())));
          ++seen.timed;
        }
  }
  QVERIFY(seen.timed > 5 * designs_wanted);
}

// An evaluator reuses bound plan and memory for the next design, if only seconds differ.
void EvaluationTest::plans_are_reused_if_only_seconds_differ() {
  const int designs_wanted = cases(30);
  const std::vector<std::pair<const char*, std::vector<const char*>>> knobs{
      {"tp_comm_overlap", {"true", "false"}},
      {"overlap_param_gather", {"true", "false"}},
      {"dispatch_sms", {"4", "40"}},
      {"scaleup_bandwidth", {"100"}},
      {"nic_bandwidth", {"100"}},
      {"scaleup_latency", {"5000"}},
      {"network_latency", {"20000"}},
      {"spine_latency", {"20000"}},
      {"rails", {"1"}},
      {"oversubscription", {"4"}},
      {"in_network_reduction", {"none", "sharp"}},
      {"collective_algorithm", {"ring", "tree"}}};
  Evaluator evaluator;
  Differences seen;
  std::mt19937 random(23);
  for (int i = 0; i < designs_wanted; ++i) {
    const auto design = repaired(random_design(random), random);
    if (!design) continue;
    for (const auto& [knob, values] : knobs)
      for (const char* value : values) {
        Design other = *design;
        QVERIFY(!set_knob(other, *find_knob(knob), value));
        const QString wrong = disagreement(evaluator, other, seen);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong + " of " + command_line(other).c_str()));
      }
  }
  QVERIFY(seen.timed > 5 * designs_wanted);
}

// Designs that differ only in gradient sync share the peaks of their stages. These designs differ in other
// knobs, so they must not share peaks.
void EvaluationTest::peaks_of_other_layers_and_schedules_are_not_shared() {
  const std::vector<std::pair<const char*, std::vector<const char*>>> knobs{
      {"recompute", {"none", "selective", "full"}},
      {"recompute_method", {"uniform", "block"}},
      {"recompute_num_layers", {"1", "2"}},
      {"schedule", {"1f1b", "gpipe", "zb-h1"}},
      {"virtual_stages", {"1", "2"}},
      {"batch", {"32", "64"}},
      {"offload_activations", {"0", "1"}},
      {"sync", {"ddp-flat", "distributed-optimizer"}}};
  std::vector<Design> designs{preset_design("gpt3-175b", 8, 4, 2)};
  for (const auto& [knob, values] : knobs) {
    std::vector<Design> all;
    for (const Design& design : designs)
      for (const char* value : values) QVERIFY(!set_knob(all.emplace_back(design), *find_knob(knob), value));
    designs = std::move(all);
  }
  std::erase_if(designs, [](const Design& design) { return !first_error(design).empty(); });
  QVERIFY(designs.size() > 100);
  Evaluator evaluator;
  for (const Design& design : designs) {
    const auto report = estimate(design);
    QVERIFY2(evaluator.evaluate(design).memory == memory_in_use(*report, report->memory->peak_stage),
             command_line(design).c_str());
  }
}

void EvaluationTest::invalid_designs_have_the_first_reason() {
  const int designs_wanted = cases(5000);
  std::mt19937 random(5);
  int invalid = 0;
  for (int i = 0; i < designs_wanted; ++i) {
    const Design design = random_design(random);
    const std::vector<Problem> problems = validate(design);
    const std::string reason = has_errors(problems) ? problems.front().where : "";
    invalid += !reason.empty();
    QVERIFY2(first_error(design) == reason, command_line(design).c_str());
  }
  QVERIFY(invalid > designs_wanted / 4);
}

// Shared results do not depend on the order of evaluation.
void EvaluationTest::threads_agree() {
  const int designs_wanted = cases(200);
  std::mt19937 random(11);
  std::vector<Design> designs;
  while (std::ssize(designs) < designs_wanted)
    if (const auto design = repaired(random_design(random), random)) designs.push_back(*design);
  std::vector<Evaluation> alone(designs.size());
  {
    Evaluator evaluator;
    for (size_t i = 0; i < designs.size(); ++i) alone[i] = evaluator.evaluate(designs[i]);
  }
  Evaluator evaluator;
  std::vector<std::jthread> workers;
  std::array<std::vector<Evaluation>, 3> together;
  for (size_t t = 0; t < together.size(); ++t) {
    together[t].resize(designs.size());
    workers.emplace_back([&, t] {
      for (size_t i = 0; i < designs.size(); ++i) {
        const size_t at = (i + t * designs.size() / together.size()) % designs.size();
        together[t][at] = evaluator.evaluate(designs[at]);
      }
    });
  }
  workers.clear();
  for (const std::vector<Evaluation>& results : together)
    for (size_t i = 0; i < designs.size(); ++i) {
      QCOMPARE(results[i].memory, alone[i].memory);
      QCOMPARE(results[i].step_seconds, alone[i].step_seconds);
      QCOMPARE(results[i].bubble, alone[i].bubble);
    }
}

// A simulation can be stopped: a schedule that does not repeat, with so many microbatches that the full
// simulation would take too long.
void EvaluationTest::long_simulations_stop() {
  using namespace std::chrono_literals;
  Design d = preset_design("gpt3-175b", 8, 2, 2);
  d.parallel.schedule = ScheduleKind::GPipe;
  d.parallel.sync = SyncStrategy::DdpBuckets;
  d.parallel.reduce_every_microbatch = true;
  d.workload.microbatch = 1;
  d.workload.batch = 1 << 16;
  QCOMPARE(first_error(d), std::string());
  Evaluator evaluator;
  std::stop_source stop;
  Evaluation found;
  QElapsedTimer since;
  {
    std::jthread thread(
        [&] { found = evaluator.evaluate(d, {.time_if_too_large = true}, stop.get_token()); });
    std::this_thread::sleep_for(1500ms);  // memory is known by then
    since.start();
    stop.request_stop();
  }
  QVERIFY(!found.timed());
  qInfo("stopped after %lld ms", static_cast<long long>(since.elapsed()));
  QVERIFY(since.elapsed() < 5000);  // minutes, if nobody heard
}

QTEST_GUILESS_MAIN(EvaluationTest)
#include "evaluation_test.moc"
