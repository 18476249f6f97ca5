// The step in time: schedules against published bubbles and closed forms, and invariants of every design.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "design/knobs/command_flags.h"
#include "memory/estimate.h"
#include "report/report_json.h"
#include "report/time_report.h"
#include "report/timeline_json.h"
#include "support/random_designs.h"
#include "support/stage_seconds.h"
#include "support/trace_designs.h"
#include "timing/schedule_simulation.h"
#include "timing/step_ops.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

double sum(const std::array<double, kTimeCategoryCount>& seconds) {
  double out = 0;
  for (const double s : seconds) out += s;
  return out;
}

// Violated invariants of a simulation.
QStringList faults(const Simulation& s) {
  QStringList out;
  const double step = s.step_seconds, tiny = kTiny * step;
  const auto fail = [&](const QString& what) { out << what; };
  if (!(step > 0)) fail("the step takes no time");
  for (size_t i = 0; i < s.stages.size(); ++i) {
    const StageTimes& stage = s.stages[i];
    const QString where = QString("stage %1: ").arg(i);
    if (std::abs(sum(stage.seconds) - step) > tiny)
      fail(where + QString("categories add up to %1 of %2").arg(sum(stage.seconds)).arg(step));
    for (int c = 0; c < kTimeCategoryCount; ++c)
      if (stage.seconds[static_cast<size_t>(c)] < -tiny)
        fail(where + QString::fromUtf8(time_category_name(static_cast<TimeCategory>(c)).data()) +
             " is negative");
    if (stage.exposed > stage.communication + tiny)
      fail(where + "more communication is exposed than there is");
    double free[kStreamKindCount] = {}, busy = 0, last = 0;
    for (const Span& span : stage.spans) {
      if (span.end < span.begin) fail(where + "a span ends before it begins");
      if (span.begin < last - tiny) fail(where + "spans are not in the order of their begin");
      if (span.begin < free[static_cast<int>(span.stream)] - tiny)
        fail(where + "spans overlap on " + QString::fromUtf8(stream_label(span.stream).data()));
      if (span.end > step + tiny) fail(where + "a span ends after the step");
      last = span.begin;
      free[static_cast<int>(span.stream)] = span.end;
      if (span.stream == StreamKind::Compute) busy += span.end - span.begin;
      if (span.waits_span < 0) continue;
      const Span& before = s.stages[static_cast<size_t>(span.waits_stage)]
                               .spans[static_cast<size_t>(span.waits_span)];
      // A receive ends with its send. Any other span begins after a node of the span that it waited for; that
      // span may continue after this node.
      if (span.kind == SpanKind::Receive
              ? before.kind != SpanKind::Send || std::abs(before.end - span.end) > tiny
              : before.begin > span.begin + tiny)
        fail(where + "a span began before what it waited for");
    }
    if (busy > step + tiny) fail(where + "busier than the step is long");
  }
  double at = 0;
  for (const CriticalPart& part : s.critical) {
    const Span& span = s.stages[static_cast<size_t>(part.stage)].spans[static_cast<size_t>(part.span)];
    if (std::abs(part.begin - at) > tiny || part.end < part.begin) fail("the critical path has a gap");
    if (!span.critical || part.begin < span.begin - tiny || part.end > span.end + tiny)
      fail("a part of the critical path is not in its span");
    at = part.end;
  }
  if (std::abs(at - step) > tiny) fail("the critical path does not reach the end");
  if (std::abs(sum(s.critical_seconds) - step) > tiny) fail("the critical path's seconds are not the step's");
  return out;
}

QByteArray all(const QStringList& lines) { return lines.join("\n").toUtf8(); }

ActionSeconds free_messages(double forward, double backward) {
  return {forward, backward / 2, backward / 2, 0};
}

}  // namespace

class SimulationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void publishedBubbles_data();
  void publishedBubbles();
  void closedForms_data();
  void closedForms();
  void designs_data();
  void designs();
  void randomDesigns();
  void moreNeverCostsLess();
  void replicasDoNotChangeCompute();
  void hiddenGradients();
  void gathersAheadOfUse();
  void fsdp2ReducesAfterThePipeline();
  void collectivesKeepProcessors_data();
  void collectivesKeepProcessors();
  void updatedParametersUnderTheForward();
  void matmulsWithTheirGathers();
  void exchangesUnderTheOtherHalf();
  void devicesWithChangedRates();
  void nodesArePipelined();
  void actionsAreMadeOfOps_data();
  void actionsAreMadeOfOps();
  void sameTwice();
  void stops();
  void pricesChangeNoTime();
};

// Arrivals after a message time, sends that do not block; both halves of the backward at once under 1F1B.
void SimulationTest::publishedBubbles_data() {
  QTest::addColumn<QJsonObject>("row");
  QFile file(SHARDSCAPE_TEST_DATA "/zero_bubble.json");
  QVERIFY(file.open(QIODevice::ReadOnly));
  for (const QJsonValue& row : QJsonDocument::fromJson(file.readAll()).object()["rows"].toArray()) {
    const QJsonObject r = row.toObject();
    QTest::addRow("%s, %d stages, %d microbatches", qPrintable(r["model"].toString()), r["stages"].toInt(),
                  r["microbatches"].toInt())
        << r;
  }
}

void SimulationTest::publishedBubbles() {
  QFETCH(QJsonObject, row);
  const int stages = row["stages"].toInt(), microbatches = row["microbatches"].toInt();
  const ActionSeconds given{row["forward_ms"].toDouble(), row["backward_input_ms"].toDouble(),
                            row["backward_weight_ms"].toDouble(), row["message_ms"].toDouble()};
  const double busy = microbatches * (given.forward + given.backward_input + given.backward_weight);
  const QJsonObject rates = row["bubble"].toObject();
  for (const auto& [kind, name] : {std::pair{ScheduleKind::OneFOneB, "1f1b"},
                                   {ScheduleKind::ZbH1, "zb-h1"},
                                   {ScheduleKind::ZbH2, "zb-h2"}}) {
    const Simulation s = simulate_schedule(make_schedule(kind, stages, microbatches), given);
    QVERIFY2(faults(s).isEmpty(), all(faults(s)));
    // The paper's optimizer waits for no other stage: a step lasts from the first to the last action of the
    // slowest one.
    double longest = 0;
    for (const StageTimes& stage : s.stages) {
      double first = s.step_seconds, last = 0;
      for (const Span& span : stage.spans)
        if (span.stream == StreamKind::Compute) {
          first = std::min(first, span.begin);
          last = std::max(last, span.end);
        }
      longest = std::max(longest, last - first);
    }
    QCOMPARE(std::round((1 - busy / longest) * 1e4), std::round(rates[QLatin1String(name)].toDouble() * 1e4));
  }
}

// Narayanan et al., arXiv 2104.04473, section 2.2: with free messages the bubble is (p - 1)/v of a
// microbatch's forward and backward.
void SimulationTest::closedForms_data() {
  QTest::addColumn<int>("kind");
  QTest::addColumn<int>("stages");
  QTest::addColumn<int>("microbatches");
  QTest::addColumn<int>("chunks");
  for (const auto& [name, kind] : {std::pair{"GPipe", ScheduleKind::GPipe}, {"1F1B", ScheduleKind::OneFOneB}})
    for (const int stages : {1, 2, 3, 8})
      for (const int microbatches : {1, 2, 8, 13})
        QTest::addRow("%s, %d stages, %d microbatches", name, stages, microbatches)
            << static_cast<int>(kind) << stages << microbatches << 1;
  for (const int stages : {2, 4, 8})
    for (const int rounds : {1, 2, 5})
      for (const int chunks : {2, 3, 4})
        QTest::addRow("interleaved, %d stages, %d microbatches, %d chunks", stages, rounds * stages, chunks)
            << static_cast<int>(ScheduleKind::OneFOneB) << stages << rounds * stages << chunks;
}

void SimulationTest::closedForms() {
  QFETCH(int, kind);
  QFETCH(int, stages);
  QFETCH(int, microbatches);
  QFETCH(int, chunks);
  const double forward = 3, backward = 5;  // of a stage; a chunk is a part of it
  const Simulation s = simulate_schedule(
      make_schedule(static_cast<ScheduleKind>(kind), stages, microbatches, chunks),
      free_messages(forward / chunks, backward / chunks));
  QVERIFY2(faults(s).isEmpty(), all(faults(s)));
  const double wanted = (microbatches + (stages - 1.0) / chunks) * (forward + backward);
  QVERIFY2(std::abs(s.step_seconds - wanted) < 1e-9,
           qPrintable(QString("%1, not %2").arg(s.step_seconds).arg(wanted)));
  QVERIFY(std::abs(s.bubble - (wanted - microbatches * (forward + backward)) / wanted) < 1e-9);
}

void SimulationTest::designs_data() { add_trace_rows(); }

void SimulationTest::designs() {
  const auto report = make_report(fetched_trace_design());
  QVERIFY(report->valid());
  const auto s = simulate(*report);
  QVERIFY2(faults(*s).isEmpty(), all(faults(*s)));
  QVERIFY(s->mfu > 0 && s->mfu <= 1);
  QVERIFY(s->hfu > 0 && s->hfu <= 1);
  // Model FLOPs and hardware FLOPs are known.
  QVERIFY(s->model_tflops > 0 && s->hardware_tflops > 0);
}

void SimulationTest::randomDesigns() {
  constexpr int kDraws = 400;
  std::mt19937 random(20240607);
  int played = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto design = repaired(random_design(random), random);
    if (!design) continue;
    const auto report = make_report(*design);
    if (!report->valid()) continue;
    const auto s = simulate(*report);
    QVERIFY2(faults(*s).isEmpty(), all(faults(*s) << QString::fromStdString(command_line(*design))));
    ++played;
  }
  QVERIFY2(played > kDraws / 4, qPrintable(QString::number(played)));
}

// A longer sequence or another microbatch never makes the step shorter.
void SimulationTest::moreNeverCostsLess() {
  Design d = trace_design("llama3-8b", 2, 2, 2, true, 4, 4);
  double before = 0;
  for (const int64_t seq : {256, 512, 1024, 4096}) {
    d.workload.seq = seq;
    const double now = simulate(*make_report(d))->step_seconds;
    QVERIFY(now > before);
    before = now;
  }
  d.workload.batch *= 2;
  QVERIFY(simulate(*make_report(d))->step_seconds > before);
}

void SimulationTest::replicasDoNotChangeCompute() {
  Design d = trace_design("llama3-8b", 2, 2, 2, true, 4, 4);
  const auto few = simulate(*make_report(d));
  d.parallel.dp *= 4;
  d.workload.batch *= 4;
  const auto many = simulate(*make_report(d));
  for (const TimeCategory c : {TimeCategory::MatrixProducts, TimeCategory::Attention,
                               TimeCategory::MemoryBound, TimeCategory::TensorComm})
    QCOMPARE(seconds_of(few->stages[0], c), seconds_of(many->stages[0], c));
  QVERIFY(seconds_of(many->stages[0], TimeCategory::DataComm) >
          seconds_of(few->stages[0], TimeCategory::DataComm));
}

// Buckets go while the backward still runs; one flat buffer waits for its end.
void SimulationTest::hiddenGradients() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 2, 8);
  d.workload.seq = 4096;
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  d.parallel.overlap_grad_reduce = false;
  const auto after = simulate(*make_report(d));
  d.parallel.overlap_grad_reduce = true;
  d.parallel.ddp_bucket_size = 100'000'000;
  const auto meanwhile = simulate(*make_report(d));
  QVERIFY2(faults(*after).isEmpty() && faults(*meanwhile).isEmpty(), all(faults(*meanwhile)));
  QVERIFY(seconds_of(meanwhile->stages[0], TimeCategory::DataComm) <
          0.9 * seconds_of(after->stages[0], TimeCategory::DataComm));
  QVERIFY(meanwhile->step_seconds < after->step_seconds);
}

// FSDP gathers the next unit while one runs: with enough to compute only the first gather and the last
// scatter are exposed.
void SimulationTest::gathersAheadOfUse() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 32);
  d.workload.seq = 8192;
  d.workload.microbatch = 2;
  d.workload.batch = 16;
  d.parallel.sync = SyncStrategy::Fsdp2;
  const auto report = make_report(d);
  QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
  const auto s = simulate(*report);
  QVERIFY2(faults(*s).isEmpty(), all(faults(*s)));
  QVERIFY(s->stages[0].communication > 3 * s->stages[0].exposed);
  QVERIFY(s->stages[0].exposed > 0);
}

// torch.distributed.pipelining reduces a stage of FSDP2 after its last backward. FSDP1 reduces unit by unit,
// concurrently with the backward.
void SimulationTest::fsdp2ReducesAfterThePipeline() {
  Design d = trace_design("llama3-8b", 1, 2, 2, false, 4, 4);
  for (const SyncStrategy sync : {SyncStrategy::Fsdp2, SyncStrategy::Fsdp1}) {
    d.parallel.sync = sync;
    const auto s = simulate(*make_report(d));
    QVERIFY2(faults(*s).isEmpty(), all(faults(*s)));
    for (const StageTimes& stage : s->stages) {
      double computed = 0, first = s->step_seconds;
      for (const Span& span : stage.spans) {
        if (span.stream == StreamKind::Compute && span.kind == SpanKind::Backward)
          computed = std::max(computed, span.end);
        if (span.name < 0) continue;
        const auto& collective = s->names[static_cast<size_t>(span.name)].collective;
        if (collective && collective->op == CollectiveKind::ReduceScatter)
          first = std::min(first, span.begin);
      }
      QVERIFY(first < s->step_seconds);
      QCOMPARE(first >= computed - kTiny, sync == SyncStrategy::Fsdp2);
    }
  }
}

// NCCL occupies 24 of 132 processors, so concurrent GEMMs are slower, at most by 132 / 108. Without a known
// number of occupied processors, GEMMs keep their speed.
void SimulationTest::collectivesKeepProcessors_data() {
  QTest::addColumn<QString>("accelerator");
  QTest::addColumn<int>("sync");
  QTest::addColumn<int>("seq");
  QTest::addColumn<double>("least");
  QTest::addColumn<double>("most");
  const double all_the_time = 132.0 / 108;
  QTest::newRow("short sequences") << "h100-sxm-80gb" << int(SyncStrategy::Fsdp2) << 64
                                   << 1 + 0.8 * (all_the_time - 1) << all_the_time;
  QTest::newRow("long ones") << "h100-sxm-80gb" << int(SyncStrategy::Fsdp2) << 16384 << 1.0001
                             << 1 + 0.5 * (all_the_time - 1);
  QTest::newRow("buckets, short sequences") << "h100-sxm-80gb" << int(SyncStrategy::DistributedOptimizer)
                                            << 512 << 1.02 << 1 + 0.7 * (all_the_time - 1);
  QTest::newRow("other libraries") << "mi300x-192gb" << int(SyncStrategy::Fsdp2) << 512 << 1.0 << 1.0;
}

void SimulationTest::collectivesKeepProcessors() {
  QFETCH(QString, accelerator);
  QFETCH(int, sync);
  QFETCH(int, seq);
  QFETCH(double, least);
  QFETCH(double, most);
  Design d = trace_design("llama3-8b", 1, 1, 1, false, 1, 32);
  d.cluster.accelerator = accelerator.toStdString();
  d.workload.seq = seq;
  d.parallel.sync = static_cast<SyncStrategy>(sync);
  d.parallel.overlap_grad_reduce = true;
  d.parallel.ddp_bucket_size = 100'000'000;
  const auto alone = simulate(*make_report(d));
  d.parallel.dp = 8;
  d.workload.batch *= 8;
  const auto concurrent = simulate(*make_report(d));
  QVERIFY2(faults(*concurrent).isEmpty(), all(faults(*concurrent)));
  const double ratio = seconds_of(concurrent->stages[0], TimeCategory::MatrixProducts) /
                       seconds_of(alone->stages[0], TimeCategory::MatrixProducts);
  QVERIFY2(ratio > least - kTiny && ratio < most + kTiny, qPrintable(QString::number(ratio)));
  const auto others = [&](const Simulation& s) { return seconds_of(s.stages[0], TimeCategory::MemoryBound); };
  QVERIFY(std::abs(others(*concurrent) - others(*alone)) < kTiny * others(*alone));
}

void SimulationTest::updatedParametersUnderTheForward() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 2, 8);
  d.workload.seq = 4096;
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  d.parallel.overlap_grad_reduce = true;
  d.parallel.ddp_bucket_size = 100'000'000;
  const auto after = simulate(*make_report(d));
  d.parallel.overlap_param_gather = true;
  const auto ahead = simulate(*make_report(d));
  QVERIFY2(faults(*ahead).isEmpty(), all(faults(*ahead)));
  QVERIFY(ahead->step_seconds < after->step_seconds);
  const auto gathers = [](const Simulation& s) {
    double out = 0;
    for (const Span& span : s.stages[0].spans) {
      if (span.name < 0) continue;
      const auto& collective = s.names[static_cast<size_t>(span.name)].collective;
      if (collective && collective->phase == Phase::ParamGather) out += span.end - span.begin;
    }
    return out;
  };
  QVERIFY(gathers(*after) > 0);
  QVERIFY(std::abs(gathers(*ahead) - gathers(*after)) < kTiny);  // nothing shares its links
}

// tp_comm_overlap hides all but the exposed pieces: exposed time does not grow, and bytes stay equal.
void SimulationTest::matmulsWithTheirGathers() {
  Design d = trace_design("llama3-8b", 8, 1, 1, true, 2, 4);
  d.workload.seq = 8192;
  for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
    d.workload.recompute = recompute;
    d.parallel.tp_comm_overlap = false;
    const auto exposed = simulate(*make_report(d));
    d.parallel.tp_comm_overlap = true;
    const auto hidden = simulate(*make_report(d));
    QVERIFY2(faults(*hidden).isEmpty(), all(faults(*hidden)));
    QCOMPARE(hidden->stages[0].communication, exposed->stages[0].communication);
    QCOMPARE(seconds_of(hidden->stages[0], TimeCategory::MatrixProducts),
             seconds_of(exposed->stages[0], TimeCategory::MatrixProducts));
    QVERIFY(hidden->stages[0].exposed < 0.7 * exposed->stages[0].exposed);
    QVERIFY(hidden->stages[0].exposed > 0);
  }
}

void SimulationTest::exchangesUnderTheOtherHalf() {
  Design d = trace_design("deepseek-v3", 1, 2, 4, false, 8, 4);
  d.parallel.ep = 4;
  d.model.dense_layers = 1;
  const auto plain = make_report(d);
  QVERIFY2(plain->valid(), plain->valid() ? "" : to_string(plain->problems.front()).c_str());
  d.parallel.schedule = ScheduleKind::DualPipeV;
  d.parallel.virtual_stages = 2;
  const auto report = make_report(d);
  QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
  const auto one = simulate(*plain), both = simulate(*report);
  QVERIFY2(faults(*both).isEmpty(), all(faults(*both)));
  double exposed = 0, hidden = 0, sent = 0;
  for (size_t s = 0; s < 2; ++s) {
    exposed += seconds_of(one->stages[s], TimeCategory::ExpertComm);
    hidden += seconds_of(both->stages[s], TimeCategory::ExpertComm);
    sent += both->stages[s].communication;
  }
  QVERIFY(hidden < 0.8 * exposed);
  QVERIFY(sent > exposed);  // hidden communication is still counted
  // GEMMs concurrent with an exchange lose its processors. They slow down at most by this share of the
  // device.
  d.parallel.dispatch_sms = 0;
  const auto all = simulate(*make_report(d));
  d.parallel.dispatch_sms = 66;  // of 132
  const auto half = simulate(*make_report(d));
  for (size_t s = 0; s < 2; ++s) {
    const double products = seconds_of(all->stages[s], TimeCategory::MatrixProducts);
    QVERIFY(seconds_of(both->stages[s], TimeCategory::MatrixProducts) > products);
    QVERIFY(seconds_of(both->stages[s], TimeCategory::MatrixProducts) < products * 132 / 112);
    QVERIFY(seconds_of(half->stages[s], TimeCategory::MatrixProducts) >
            seconds_of(both->stages[s], TimeCategory::MatrixProducts));
    QVERIFY(seconds_of(half->stages[s], TimeCategory::MatrixProducts) < 2 * products);
    QCOMPARE(seconds_of(half->stages[s], TimeCategory::MemoryBound),
             seconds_of(all->stages[s], TimeCategory::MemoryBound));
  }
}

// Dispatch once per node is pipelined across and inside nodes, so it takes the time of the slower exchange.
void SimulationTest::nodesArePipelined() {
  Design d = trace_design("deepseek-v3", 1, 1, 16, false, 1, 2);
  d.parallel.ep = 16;
  d.model.dense_layers = 1;
  d.parallel.dispatcher = Dispatcher::Flex;
  d.workload.seq = 4096;
  const auto seconds = [&] {
    const auto s = simulate(*make_report(d));
    return std::pair(seconds_of(s->stages[0], TimeCategory::ExpertComm), s->stages[0].communication);
  };
  d.cluster.nic_bandwidth = 100;
  const auto [slow, slow_all] = seconds();
  d.cluster.scaleup_bandwidth = 900;  // the exchange inside the node was hidden before
  const auto [faster_inside, ignored] = seconds();
  QCOMPARE(faster_inside, slow);
  QVERIFY(slow < slow_all);
  d.cluster.nic_bandwidth = 200;
  QVERIFY(seconds().first < 0.6 * slow);
}

// A device with twice the rate in one respect halves the time of the kernels that this rate bounds. Other
// kernels keep their time.
void SimulationTest::devicesWithChangedRates() {
  Design d = trace_design("llama3-8b", 1, 1, 1, false, 1, 1);
  d.workload.seq = 8192;
  d.workload.dropout = true;
  const auto sold = estimate(d);
  const auto before = simulate(*sold);
  const Accelerator& a = *sold->accelerator;
  d.cluster.peak_tflops = static_cast<int64_t>(2 * a.bf16_tflops);
  const auto fast = simulate(*estimate(d));
  QVERIFY(seconds_of(fast->stages[0], TimeCategory::MatrixProducts) <
          0.7 * seconds_of(before->stages[0], TimeCategory::MatrixProducts));
  QCOMPARE(seconds_of(fast->stages[0], TimeCategory::MemoryBound),
           seconds_of(before->stages[0], TimeCategory::MemoryBound));
  QCOMPARE(fast->machine.accelerator->fp8_tflops / fast->machine.accelerator->bf16_tflops,
           a.fp8_tflops / a.bf16_tflops);
  d.cluster.peak_tflops = 0;
  d.cluster.memory_bandwidth = static_cast<int64_t>(2 * a.memory_gbps);
  const auto wide = simulate(*estimate(d));
  QVERIFY(seconds_of(wide->stages[0], TimeCategory::MemoryBound) <
          0.6 * seconds_of(before->stages[0], TimeCategory::MemoryBound));
  d.cluster.memory_capacity = sold->memory->stages[0].in_use >> 30;
  QVERIFY(!estimate(d)->memory->fits);
  d.cluster.memory_capacity += 1;
  const auto large = estimate(d);
  QVERIFY(large->memory->fits);
  QCOMPARE(large->memory->capacity, d.cluster.memory_capacity << 30);
  QVERIFY(large->accelerator->name.find(std::to_string(d.cluster.memory_capacity) + " GB") !=
          std::string::npos);
}

void SimulationTest::actionsAreMadeOfOps_data() {
  QTest::addColumn<int>("which");
  for (const auto& [name, which] : {std::pair{"replayed", 0},
                                    {"communication concurrent with GEMMs", 1},
                                    {"the host is late", 2},
                                    {"overlapped exchanges of experts", 3},
                                    {"gathers of FSDP", 4}})
    QTest::newRow(name) << which;
}

// The ops of a span run one after another and end with the span. Their seconds per category add up to those
// of the simulation.
void SimulationTest::actionsAreMadeOfOps() {
  QFETCH(int, which);
  Design d = which == 3 ? trace_design("mixtral-8x7b", 1, 2, 4, false, 4, 16)
                        : trace_design("llama3-8b", 2, 2, which == 4 ? 2 : 1, true, 4, 4);
  d.workload.seq = which == 2 ? 64 : 8192;  // kernels long enough for the host to run ahead, or not
  if (which == 0) d.workload.recompute = Recompute::Full;
  if (which == 1) d.parallel.tp_comm_overlap = true;
  if (which == 2) d.cluster.accelerator = "a100-sxm-80gb";
  if (which == 3)
    d.parallel.ep = 4, d.parallel.schedule = ScheduleKind::DualPipe,
    d.parallel.dispatcher = Dispatcher::Flex;  // needs no packing kernels
  if (which == 4) d.parallel.sync = SyncStrategy::Fsdp2;
  const auto report = make_report(d);
  QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems.front()).c_str());
  const auto s = simulate(*report);
  StepOps step(report, s);
  const double tiny = kTiny * s->step_seconds;
  for (int stage = 0; stage < 2; ++stage) {
    const StageTimes& times = s->stages[static_cast<size_t>(stage)];
    double exchanged = 0, waited = 0;
    for (size_t i = 0; i < times.spans.size(); ++i) {
      const Span& span = times.spans[i];
      const std::vector<OpSpan> ops = step.of(stage, static_cast<int>(i));
      const bool computes = span.stream == StreamKind::Compute && span.kind <= SpanKind::BackwardWeight;
      if (!computes) {
        QVERIFY(ops.empty());
        continue;
      }
      QVERIFY(!ops.empty());
      double at = span.begin;
      for (const OpSpan& op : ops) {
        QVERIFY(op.begin > at - tiny);
        QVERIFY(op.end > op.begin);
        waited += op.begin - at;
        at = op.end;
        const Op& of = report->graph().segments[static_cast<size_t>(op.segment)].op(op.op);
        if (is_collective(of.kind) && redistribution(of).group == MeshAxes{MeshAxis::Ep})
          exchanged += op.end - op.begin;
      }
      QVERIFY(std::abs(span.end - at) < tiny);
    }
    QVERIFY(std::abs(exchanged - times.seconds[static_cast<size_t>(TimeCategory::ExpertComm)]) < tiny);
    QVERIFY(which == 2 ? waited > 0.01 * s->step_seconds : which == 4 || waited < tiny);
    if (which == 3) QVERIFY(exchanged > 0);
  }
}

void SimulationTest::sameTwice() {
  const auto report = make_report(trace_design("llama3-8b", 2, 2, 2, true, 8, 4));
  const auto once = simulate(*report), again = simulate(*report);
  QCOMPARE(timeline_file(report, once, "a").json, timeline_file(report, again, "a").json);
  QCOMPARE(with_time(report_json(*report), *report, *once), with_time(report_json(*report), *report, *again));
}

void SimulationTest::stops() {
  const auto report = make_report(trace_design("llama3-8b", 2, 2, 2, true, 4, 4));
  std::stop_source source;
  source.request_stop();
  QVERIFY(!simulate(*report, source.get_token()));
}

// A price, a power or a capacity makes a copy of the accelerator, which keeps its measured tables.
void SimulationTest::pricesChangeNoTime() {
  const auto seconds = [](const Design& d) { return simulate(*make_report(d))->step_seconds; };
  for (const Accelerator& accelerator : accelerators()) {
    Design d = preset_design("llama3-8b", 1, 1, 8);
    d.cluster.accelerator = accelerator.id;
    const double before = seconds(d);
    d.cluster.price_per_hour = 3000;
    QCOMPARE(seconds(d), before);
    d.cluster.price_per_hour = 0;
    d.cluster.board_power = 500;
    d.cluster.memory_capacity = 4096;
    QCOMPARE(seconds(d), before);
  }
}

QTEST_GUILESS_MAIN(SimulationTest)
#include "simulation_test.moc"
