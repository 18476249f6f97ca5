// The steady-state simulation of a search: against closed forms of pipelines, against an independent
// simulation of schedules, and against the full simulation on random machines.
#include <QtTest>

#include <cmath>
#include <random>

#include "design/validate/validate.h"
#include "support/designs.h"
#include "support/schedule_times.h"
#include "timing/action_order.h"
#include "timing/pass_times.h"
#include "timing/simulation.h"
#include "timing/steady_state/step_numbers.h"

using namespace shardscape;
using namespace shardscape::test;

Q_DECLARE_METATYPE(shardscape::ScheduleKind)

namespace {

// A pipeline of equal stages: embedding and head take next to nothing. Messages go between nodes.
Design pipeline(ScheduleKind kind, int64_t stages, int64_t microbatches, int64_t virtual_stages = 1) {
  Design d = preset_design("llama3-70b", 8, stages, 1);
  d.model.layers = 48;
  d.model.vocab = 128;
  d.parallel.schedule = kind;
  d.parallel.virtual_stages = virtual_stages;
  d.workload.seq = 4096;
  d.workload.microbatch = 1;
  d.workload.batch = microbatches;
  d.cluster.nic_bandwidth = 100'000;
  return d;
}

struct Both {
  StepNumbers fast;
  std::shared_ptr<const Simulation> full;
  std::shared_ptr<const Report> report;
};

Both simulated(const Design& design) {
  Both out;
  out.report = make_report(design);
  if (!out.report->valid()) throw std::runtime_error(to_string(out.report->problems.front()));
  Report copy = *out.report;
  out.fast = step_numbers(copy);
  out.full = simulate(*out.report);
  return out;
}

// Seconds of the passes of a virtual stage and of a message.
ActionTimes times_of(const Both& both, size_t stage = 1, int chunk = 0) {
  const auto of = [&](SpanKind kind) {
    for (const Span& span : both.full->stages.at(stage).spans)
      if (span.kind == kind && span.chunk == chunk) return span.end - span.begin;
    return 0.0;
  };
  const double whole = of(SpanKind::Backward);
  return {of(SpanKind::Forward), whole > 0 ? whole : of(SpanKind::BackwardInput),
          of(SpanKind::BackwardWeight), of(SpanKind::Send)};
}

// Seconds of one microbatch on a stage.
double stage_seconds(const Both& both, size_t stage) {
  double out = 0;
  for (int chunk = 0; chunk < both.report->design.parallel.virtual_stages; ++chunk) {
    const ActionTimes t = times_of(both, stage, chunk);
    out += t.forward + t.backward_input + t.backward_weight;
  }
  return out;
}

size_t stages_of(const Both& both) { return both.full->stages.size(); }

double all_stages(const Both& both) {
  double out = 0;
  for (size_t stage = 0; stage < stages_of(both); ++stage) out += stage_seconds(both, stage);
  return out;
}

// Seconds that one microbatch spends in the embedding and in the head.
double ends_seconds(const Both& both) {
  return all_stages(both) - static_cast<double>(stages_of(both)) * stage_seconds(both, 1);
}

// Mean over stages, from the bubble of equal stages. The first microbatch also passes the embedding. The last
// stage has the head, which makes this stage the slowest: the other stages wait for it in every microbatch.
double expected_bubble(const Both& both, double of_equal_stages) {
  const double mean = all_stages(both) / static_cast<double>(stages_of(both));
  return of_equal_stages + stage_seconds(both, 0) - stage_seconds(both, 1) +
         static_cast<double>(both.report->microbatches) * (stage_seconds(both, stages_of(both) - 1) - mean);
}

double bubble_seconds(const Both& both) { return both.fast.bubble * both.fast.step_seconds; }

QString off(double found, double expected) {
  return QString("%1 s, not %2 s").arg(found, 0, 'g', 8).arg(expected, 0, 'g', 8);
}
#define VERIFY_NEAR(found, expected, share) \
  QVERIFY2(std::abs((found) - (expected)) <= (share)*std::abs(expected), qPrintable(off(found, expected)))

}  // namespace

class SteadyStateTest : public QObject {
  Q_OBJECT

 private:
  // The fast simulation against the full one.
  void compareSimulations(const Design& design);

 private Q_SLOTS:
  void bubbleOf1F1B();
  void bubbleOfInterleaving();
  void bubbleOfZeroBubbleSchedules();
  void oneMicrobatchCrossesThePipelineTwice();
  void microbatchesAddAPassEach();
  void fewMicrobatchesAreSimulated();
  void schedulesInAnIndependentSimulation_data();
  void schedulesInAnIndependentSimulation();
  void randomMachines_data();
  void randomMachines();
  void overlappedPairs_data();
  void overlappedPairs();
};

// Every stage of equal ones idles (p - 1)(f + b) (Narayanan et al., arXiv 2104.04473, section 2.2.1).
void SteadyStateTest::bubbleOf1F1B() {
  for (const int64_t stages : {3, 4, 8})
    for (const int64_t microbatches : {8, 64}) {
      const Both both = simulated(pipeline(ScheduleKind::OneFOneB, stages, microbatches));
      const ActionTimes t = times_of(both);
      VERIFY_NEAR(bubble_seconds(both),
                  expected_bubble(both, static_cast<double>(stages - 1) * (t.forward + t.backward_input)),
                  0.005);
    }
}

// With v virtual stages (p - 1)(f + b) / v (section 2.2.2); t is the time of one of them. A message takes
// some 20 us on any NIC, which 2 v p - 1 messages add to the bubble.
void SteadyStateTest::bubbleOfInterleaving() {
  for (const int64_t v : {2, 3, 6}) {
    const Both both = simulated(pipeline(ScheduleKind::OneFOneB, 4, 32, v));
    const ActionTimes t = times_of(both);
    VERIFY_NEAR(bubble_seconds(both), expected_bubble(both, 3 * (t.forward + t.backward_input)), 0.04);
  }
}

// ZB-H1 idles (p - 1)(f + b - w), ZB-H2 at least (p - 1)(f + b - 2 w), where b is the input gradient (Qi et
// al., arXiv 2401.10241, table 1). ZB-H2 reaches this value with passes of equal times only.
void SteadyStateTest::bubbleOfZeroBubbleSchedules() {
  const Both h1 = simulated(pipeline(ScheduleKind::ZbH1, 4, 64)),
             h2 = simulated(pipeline(ScheduleKind::ZbH2, 4, 64));
  const ActionTimes t = times_of(h1);
  QVERIFY(t.backward_weight > 0);
  const double idle = t.forward + t.backward_input - t.backward_weight;
  VERIFY_NEAR(bubble_seconds(h1), expected_bubble(h1, 3 * idle), 0.01);
  QVERIFY(bubble_seconds(h2) > expected_bubble(h2, 3 * (idle - t.backward_weight)));
  QVERIFY(bubble_seconds(h2) < 0.8 * bubble_seconds(h1));
}

// p forwards, p backwards and 2 (p - 1) messages, one after the other.
void SteadyStateTest::oneMicrobatchCrossesThePipelineTwice() {
  for (const int64_t nic : {100'000, 100, 10}) {
    Design d = pipeline(ScheduleKind::OneFOneB, 4, 1);
    d.cluster.nic_bandwidth = nic;
    const Both both = simulated(d);
    const ActionTimes t = times_of(both);
    if (nic == 10) QVERIFY(t.message > 0.1 * t.forward);
    // The optimizer of a stage runs while the backward goes on; that of the first stage comes last.
    const double optimizer = both.full->stages[0].seconds[static_cast<size_t>(TimeCategory::Optimizer)];
    VERIFY_NEAR(both.fast.step_seconds - optimizer, all_stages(both) + 6 * t.message, 0.001);
  }
}

// Between warm-up and cool-down each microbatch adds f + b.
void SteadyStateTest::microbatchesAddAPassEach() {
  const double few = simulated(pipeline(ScheduleKind::OneFOneB, 4, 64)).fast.step_seconds,
               more = simulated(pipeline(ScheduleKind::OneFOneB, 4, 96)).fast.step_seconds;
  const Both most = simulated(pipeline(ScheduleKind::OneFOneB, 4, 512));
  VERIFY_NEAR((most.fast.step_seconds - few) / 448, (more - few) / 32, 1e-9);
  const ActionTimes t = times_of(most);
  VERIFY_NEAR((more - few) / 32, t.forward + t.backward_input, 0.01);
}

// A schedule that repeats itself is cut to a few windows. Numbers of microbatches that differ by rounds of
// the pipeline share the cut order.
void SteadyStateTest::fewMicrobatchesAreSimulated() {
  PlanCache cache;
  ParallelSpec parallel = pipeline(ScheduleKind::OneFOneB, 4, 512).parallel;
  const auto many = action_order(parallel, 512, 1, cache);
  QVERIFY(many->window > 0 && many->microbatches < 40);
  QCOMPARE(action_order(parallel, 516, 1, cache).get(), many.get());
  QCOMPARE(action_order(parallel, 6, 1, cache)->microbatches, 6);
  parallel.schedule = ScheduleKind::GPipe;  // all forwards first: it never repeats
  QCOMPARE(action_order(parallel, 512, 1, cache)->microbatches, 512);
}

void SteadyStateTest::schedulesInAnIndependentSimulation_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("stages");
  QTest::addColumn<int>("v");
  QTest::addColumn<int>("nic");
  for (const int nic : {100'000, 200})
    for (const auto& [name, kind, stages, v] : {std::tuple{"gpipe", ScheduleKind::GPipe, 4, 1},
                                                {"1f1b", ScheduleKind::OneFOneB, 4, 1},
                                                {"1f1b of 8", ScheduleKind::OneFOneB, 8, 1},
                                                {"interleaved", ScheduleKind::OneFOneB, 4, 3},
                                                {"zb-h1", ScheduleKind::ZbH1, 4, 1},
                                                {"zb-h2", ScheduleKind::ZbH2, 4, 1}})
      QTest::addRow("%s, %d Gb/s", name, nic) << kind << stages << v << nic;
}

// tests/support/schedule_times.h simulates the schedule with the same four durations.
void SteadyStateTest::schedulesInAnIndependentSimulation() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, stages);
  QFETCH(int, v);
  QFETCH(int, nic);
  constexpr int kMicrobatches = 48;
  Design d = pipeline(kind, stages, kMicrobatches, v);
  d.cluster.nic_bandwidth = nic;
  const Both both = simulated(d);
  const Schedule schedule = make_schedule(kind, stages, kMicrobatches, v);
  const TimedSchedule timed = time_schedule(schedule, times_of(both));
  const double optimizer = both.full->stages[0].seconds[static_cast<size_t>(TimeCategory::Optimizer)];
  const double found = both.fast.step_seconds - optimizer;
  QVERIFY2(
      found > 0.998 * timed.makespan && found < 1.002 * (timed.makespan + kMicrobatches * ends_seconds(both)),
      qPrintable(off(found, timed.makespan)));
}

void SteadyStateTest::compareSimulations(const Design& design) {
  const Both both = simulated(design);
  VERIFY_NEAR(both.fast.step_seconds, both.full->step_seconds, 1e-6);
  QVERIFY2(std::abs(both.fast.bubble - both.full->bubble) < 0.01,
           qPrintable(off(both.fast.bubble, both.full->bubble)));
  QVERIFY2(std::abs(both.fast.exposed - both.full->exposed) < 0.01,
           qPrintable(off(both.fast.exposed, both.full->exposed)));
}

void SteadyStateTest::randomMachines_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("v");
  QTest::newRow("gpipe") << ScheduleKind::GPipe << 1;
  QTest::newRow("1f1b") << ScheduleKind::OneFOneB << 1;
  QTest::newRow("interleaved") << ScheduleKind::OneFOneB << 3;
  QTest::newRow("flexible") << ScheduleKind::Flexible << 2;
  QTest::newRow("zb-h1") << ScheduleKind::ZbH1 << 1;
  QTest::newRow("zb-h2") << ScheduleKind::ZbH2 << 1;
  QTest::newRow("zb-v") << ScheduleKind::ZbV << 2;
  QTest::newRow("dualpipe") << ScheduleKind::DualPipe << 1;
  QTest::newRow("dualpipe-v") << ScheduleKind::DualPipeV << 2;
}

// Durations of passes and messages follow from random machines: any may be the longest.
void SteadyStateTest::randomMachines() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, v);
  std::mt19937 random(17);
  const auto of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  int timed = 0;
  for (int round = 0; round < 24; ++round) {
    Design d = pipeline(kind, of({2, 4, 6}), of({12, 24, 60, 120}), v);
    d.model.vocab = of({128, 32'000, 256'000});
    d.parallel.tp = of({1, 2, 8});
    d.parallel.dp = of({1, 1, 2, 4});
    d.workload.batch *= d.parallel.dp;
    d.workload.seq = of({512, 2048, 8192});
    d.workload.recompute = of({0, 0, 1}) != 0 ? Recompute::Full : Recompute::None;
    d.parallel.sync = static_cast<SyncStrategy>(of({0, 2, 7, 8}));
    d.parallel.overlap_grad_reduce = of({0, 1}) != 0;
    d.cluster.peak_tflops = of({20, 200, 2000, 20'000});
    d.cluster.memory_bandwidth = of({300, 3000, 30'000});
    d.cluster.nic_bandwidth = of({1, 10, 100, 1000});
    d.cluster.network_latency = of({0, 1000, 10'000'000});
    if (has_errors(validate(d))) continue;
    ++timed;
    compareSimulations(d);
    if (QTest::currentTestFailed()) return;
  }
  QVERIFY2(timed >= 8, qPrintable(QString::number(timed)));
}

void SteadyStateTest::overlappedPairs_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("v");
  QTest::newRow("1f1b with overlapped exchanges") << ScheduleKind::OneFOneB << 2;
  QTest::newRow("dualpipe") << ScheduleKind::DualPipe << 1;
  QTest::newRow("dualpipe-v") << ScheduleKind::DualPipeV << 2;
}

// Experts exchange tokens in overlapped forwards and backwards: a pair takes another time than its actions
// alone, and every pair of chunks its own.
void SteadyStateTest::overlappedPairs() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, v);
  std::mt19937 random(5);
  const auto of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  int timed = 0;
  for (int round = 0; round < 24; ++round) {
    Design d = preset_design("qwen3-30b-a3b", 1, of({2, 4}), of({2, 4, 8}));
    d.model.layers = 16;
    d.parallel.ep = d.parallel.dp;
    d.parallel.schedule = kind;
    d.parallel.virtual_stages = v;
    d.parallel.ep_comm_overlap = kind == ScheduleKind::OneFOneB;
    d.parallel.sync = static_cast<SyncStrategy>(of({0, 2, 7, 8}));
    d.parallel.overlap_grad_reduce = of({0, 1}) != 0;
    d.workload.microbatch = 1;
    d.workload.seq = of({2048, 8192});
    d.workload.batch = d.parallel.dp * of({16, 60, 240});
    d.workload.recompute = of({0, 0, 1}) != 0 ? Recompute::Full : Recompute::None;
    d.cluster.peak_tflops = of({200, 2000});
    d.cluster.scaleup_bandwidth = of({10, 100, 900});
    d.cluster.nic_bandwidth = of({10, 100, 1000});
    if (has_errors(validate(d))) continue;
    ++timed;
    compareSimulations(d);
    if (QTest::currentTestFailed()) return;
  }
  QVERIFY2(timed >= 8, qPrintable(QString::number(timed)));
}

QTEST_APPLESS_MAIN(SteadyStateTest)
#include "steady_state_test.moc"
