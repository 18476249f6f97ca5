// Concurrent blocks: their collectives run next to ops of the same layer that do not need their results.
#include <QtTest>

#include <cmath>
#include <set>

#include "memory/estimate.h"
#include "performance/machine.h"
#include "report/timeline_json.h"
#include "support/execution_runs.h"
#include "support/trace_designs.h"
#include "timing/machine_of.h"
#include "timing/step_ops.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr double kTiny = 1e-12;

Design longcat(int64_t ep) {
  Design d = trace_design("longcat-flash", 1, 1, ep, false, 2, 2);
  d.parallel.ep = ep;
  d.workload.seq = 4096;
  return d;
}

// The segment of layers as if no block were concurrent.
Segment serial(const Segment& layer) {
  Segment out = layer;
  for (BlockInstance& block : out.blocks) block.concurrent = false;
  return out;
}

std::vector<OpId> ops_of(const Report& report, const Segment& segment, Part part) {
  std::vector<OpId> out;
  for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
    if (runs(segment.op(id), CheckpointPolicy::Activations) &&
        part_of(report.graph().structure, segment, id) == part)
      out.push_back(id);
  return out;
}

double sum(const CategorySeconds& seconds) {
  double out = 0;
  for (const double s : seconds) out += s;
  return out;
}

double exposed(const Design& d) {
  return simulate(*trace_report(d))->stages[0].seconds[static_cast<size_t>(TimeCategory::ExpertComm)];
}

}  // namespace

class ConcurrentOpsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void parts_data();
  void parts();
  void backwardBegins();
  void longExchanges();
  void processors();
  void pairs();
  void stepOps();
  void timeline();
};

void ConcurrentOpsTest::parts_data() {
  QTest::addColumn<int>("part");
  QTest::addColumn<QString>("values");
  for (const char* values :
       {"", "tp=2 sequence_parallel=true", "profile=megatron-core-te", "load_imbalance=1.5"})
    for (const Part part : {Part::Forward, Part::Backward})
      QTest::newRow(qPrintable(QString("%1 %2").arg(values).arg(int(part)))) << int(part) << QString(values);
}

// A part takes no longer than its ops one after the other, and no shorter than its compute or its exchanges.
// Ops of one stream never overlap. An op begins after the ops that make its operands have ended.
void ConcurrentOpsTest::parts() {
  QFETCH(int, part);
  QFETCH(QString, values);
  Design d = longcat(8);
  for (const QString& value : values.split(' ', Qt::SkipEmptyParts))
    set_value(d, value.section('=', 0, 0).toStdString(), value.section('=', 1).toStdString());
  const auto report = trace_report(d);
  const Segment& layer = report->graph().segments[1];
  const OpSeconds seconds = op_seconds(*report, machine_of(d));
  const std::vector<OpId> ops = ops_of(*report, layer, static_cast<Part>(part));
  const ConcurrentPart one = schedule_concurrent(serial(layer), seconds.ops[1], ops, 1),
                       two = schedule_concurrent(layer, seconds.ops[1], ops, 1);
  double all = 0, exchanges = 0;
  for (const OpId id : ops) {
    const OpTime& time = seconds.ops[1][static_cast<size_t>(id)];
    all += time.seconds;
    const int block = layer.op(id).block;
    if (is_collective(layer.op(id).kind) && block >= 0 && layer.blocks[static_cast<size_t>(block)].concurrent)
      exchanges += is_communication(time.category) ? time.seconds : time.exposed;
  }
  QVERIFY(exchanges > 0);
  QVERIFY(std::abs(one.seconds - all) < kTiny * 1e3);
  QVERIFY(std::abs(one.hidden) < kTiny);
  QVERIFY(two.seconds < one.seconds - 0.1 * exchanges);
  QVERIFY(two.seconds > std::max(all - exchanges, exchanges) - kTiny);
  QVERIFY(std::abs(one.seconds - two.seconds - two.hidden) < kTiny * 1e3);
  for (const ConcurrentPart* placed : {&one, &two}) {
    QVERIFY(std::abs(sum(placed->categories) - placed->seconds) < kTiny * 1e3);
    double ends[2] = {0, 0};
    std::map<OpId, std::pair<double, double>> at;  // begin of the first span, end of the last
    for (const PlacedPartOp& op : placed->ops) {
      QVERIFY(op.begin >= ends[op.concurrent] - kTiny);
      ends[op.concurrent] = op.end;
      at.try_emplace(op.op, op.begin, op.end).first->second.second = op.end;
    }
    for (const OpId id : ops)
      for (const TensorId in : layer.op(id).inputs) {
        const OpId producer = layer.tensor(in).producer;
        if (producer < 0 || !at.contains(id) || !at.contains(producer)) continue;
        QVERIFY2(at.at(producer).second <= at.at(id).first + kTiny, layer.op(id).name.c_str());
      }
  }
}

// The gradient of the shortcut's result exists first, so the experts' backward begins before that of the
// second attention and of both MLPs.
void ConcurrentOpsTest::backwardBegins() {
  const auto report = trace_report(longcat(8));
  const Segment& layer = report->graph().segments[1];
  OpId exchange = -1, attention = -1;
  for (OpId id = layer.backward_begin; id < static_cast<OpId>(layer.ops.size()); ++id) {
    if (exchange < 0 && layer.op(id).kind == OpKind::AllToAll) exchange = id;
    if (attention < 0 && layer.op(id).name.starts_with("mlp2.")) attention = id;
  }
  QVERIFY(exchange >= layer.backward_begin && attention >= layer.backward_begin);
  QVERIFY(exchange < attention);
}

// More compute than exchanges: nothing is exposed. Exchanges over a slow network: their excess is.
void ConcurrentOpsTest::longExchanges() {
  Design d = longcat(8);
  const double inside = exposed(d);
  const auto report = trace_report(d);
  const auto s = simulate(*report);
  QVERIFY(inside < 0.02 * s->step_seconds);
  QVERIFY(s->stages[0].communication > 10 * inside);
  d.parallel.dp = d.parallel.ep = 64;
  d.workload.batch = 128;
  d.cluster.nic_bandwidth = 50;
  QVERIFY(exposed(d) > 5 * inside);
}

// Exchange kernels occupy processors, so GEMMs next to them take longer.
void ConcurrentOpsTest::processors() {
  Design d = longcat(8);
  const auto products = [&](int64_t taken) {
    d.parallel.dispatch_sms = taken;
    const auto s = simulate(*trace_report(d));
    return s->stages[0].seconds[static_cast<size_t>(TimeCategory::MatrixProducts)];
  };
  const double free = products(0), some = products(20), half = products(66);
  QVERIFY(free < some && some < half);
  QVERIFY(half < 2 * free);
}

// Pairs of a forward and a backward hide what the layers themselves leave exposed, no more.
void ConcurrentOpsTest::pairs() {
  Design d = longcat(8);
  d.workload.batch = 64;
  const double alone = exposed(d);
  d.parallel.ep_comm_overlap = true;
  const double paired = exposed(d);
  QVERIFY(paired <= alone + kTiny);
}

// Ops of simulated layers fill the layer; exchanges overlap with compute.
void ConcurrentOpsTest::stepOps() {
  Design d = longcat(8);
  const auto report = trace_report(d);
  const auto s = simulate(*report);
  StepOps step(report, s);
  double hidden = 0;
  for (size_t i = 0; i < s->stages[0].spans.size(); ++i) {
    double computed = 0;
    const std::vector<OpSpan> ops = step.of(0, static_cast<int>(i));
    for (const OpSpan& op : ops)
      if (!op.concurrent) computed = std::max(computed, op.end);
    for (const OpSpan& op : ops) {
      QVERIFY(op.begin >= s->stages[0].spans[i].begin - kTiny && op.end <= s->stages[0].spans[i].end + kTiny);
      if (op.concurrent) hidden += op.end - op.begin;
    }
  }
  QVERIFY(hidden > 0);
}

void ConcurrentOpsTest::timeline() {
  const auto report = trace_report(longcat(8));
  const TimelineFile file = timeline_file(report, simulate(*report), "longcat");
  QVERIFY(file.json.find("Collectives concurrent with compute") != std::string::npos);
  QVERIFY(file.json.find("\"tid\":6,\"ts\"") != std::string::npos);
  const auto other = trace_report(trace_design("mixtral-8x7b", 1, 1, 2, false, 2, 2));
  QVERIFY(timeline_file(other, simulate(*other), "other").json.find("concurrent with compute") ==
          std::string::npos);
}

QTEST_APPLESS_MAIN(ConcurrentOpsTest)
#include "concurrent_ops_test.moc"
