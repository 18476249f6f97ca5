// The timeline file, read as a reader of Trace Event JSON does: slices nest, and each level adds up to the
// one above and to the report.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <cmath>
#include <map>
#include <set>

#include "design/knobs/knobs.h"
#include "report/timeline_json.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Read {
  QString name, cat;
  int64_t begin = 0, end = 0;  // nanoseconds
  QJsonObject args;
  int parent = -1;
  int64_t seconds() const { return end - begin; }
};

struct Thread {
  std::vector<Read> slices;
  QString fault;
};

int64_t nanoseconds(const QJsonValue& microseconds) { return std::llround(microseconds.toDouble() * 1000); }

// Slices by process and thread, in the order of the file. Of two slices that begin together, the later one is
// nested in the earlier one.
std::map<std::pair<int, int>, Thread> threads_of(const QJsonObject& root) {
  std::map<std::pair<int, int>, Thread> out;
  std::map<std::pair<int, int>, std::vector<int>> open;
  for (const QJsonValue& value : root["traceEvents"].toArray()) {
    const QJsonObject event = value.toObject();
    if (event["ph"] != "X") continue;
    const std::pair at{event["pid"].toInt(), event["tid"].toInt()};
    Thread& thread = out[at];
    Read slice{event["name"].toString(), event["cat"].toString(), nanoseconds(event["ts"]),
               nanoseconds(event["ts"]) + nanoseconds(event["dur"]), event["args"].toObject()};
    std::vector<int>& stack = open[at];
    while (!stack.empty() && thread.slices[static_cast<size_t>(stack.back())].end <= slice.begin)
      stack.pop_back();
    if (!stack.empty()) {
      const Read& parent = thread.slices[static_cast<size_t>(stack.back())];
      if (slice.begin < parent.begin || slice.end > parent.end)
        thread.fault = slice.name + " lies partly in " + parent.name;
      slice.parent = stack.back();
    }
    if (!thread.slices.empty() && slice.begin < thread.slices.back().begin)
      thread.fault = slice.name + " is not in order";
    stack.push_back(static_cast<int>(thread.slices.size()));
    thread.slices.push_back(slice);
  }
  return out;
}

bool is_pass(const Read& slice) {
  return slice.parent < 0 &&
         (slice.cat == "forward" || slice.cat == "recompute" || slice.cat.startsWith("backward"));
}

struct Made {
  std::shared_ptr<const Report> report;
  std::shared_ptr<const Simulation> simulation;
  TimelineFile file;
  QJsonObject root;
};

Made made(const Design& design, TimelineOps ops = TimelineOps::Some) {
  Made out;
  out.report = make_report(design);
  if (!out.report->valid()) throw std::runtime_error(to_string(out.report->problems.front()));
  out.simulation = simulate(*out.report);
  out.file = timeline_file(out.report, out.simulation, "a \"name\"", ops);
  out.root = QJsonDocument::fromJson(QByteArray::fromStdString(out.file.json)).object();
  return out;
}

// The design of a row of levels().
void set_up(const QString& which, Design& d) {
  if (which.contains("experts")) d = trace_design("mixtral-8x7b", 2, 2, 4, true, 4, 8), d.parallel.ep = 4;
  if (which == "ring" || which == "ulysses")
    d = trace_design("llama3-8b", 1, 1, 1, false, 2, 4), d.parallel.cp = 8;
  d.workload.seq = which == "host late" ? 64 : 4096;
  if (which == "split messages")
    d.parallel.sequence_parallel = false, d.parallel.scatter_gather_pipeline = true;
  if (which == "host late") d.cluster.accelerator = "a100-sxm-80gb";
  if (which == "recompute") d.workload.recompute = Recompute::Full;
  if (which == "split backward") d.parallel.schedule = ScheduleKind::ZbH1;
  if (which == "overlapped experts") d.parallel.schedule = ScheduleKind::DualPipe;
  if (which == "ring") QVERIFY(!set_knob(d, *find_knob("context"), "zigzag"));
  if (which == "ulysses") QVERIFY(!set_knob(d, *find_knob("context"), "ulysses"));
  if (which == "fsdp2") d.parallel.dp = 2, d.workload.batch *= 2, d.parallel.sync = SyncStrategy::Fsdp2;
  if (which == "offloaded") QVERIFY(!set_knob(d, *find_knob("offload_activations"), "1"));
  if (which.startsWith("decode")) {
    QVERIFY(!set_knob(d, *find_knob("mode"), "decode"));
    QVERIFY(!set_knob(d, *find_knob("context_length"), "8192"));
    d.workload.batch = d.workload.microbatch = 8;
    d.parallel.pp = 1;
    if (which == "decode over cp") d.parallel.cp = 4;
  }
}

// The sums of a stage's slices.
struct StageSums {
  std::map<QString, int64_t> taken;  // by category
  std::map<QString, Wide> bytes;     // by kind and group
  std::map<int, int64_t> inside;     // of a slice, that others take
  int64_t waits = 0, exposed = 0, messages = 0;
  size_t ops = 0, passes = 0, layers = 0;
};

void sum_slice(const QString& which, const std::vector<Read>& slices, size_t i, StageSums& sums) {
  const Read& s = slices[i];
  sums.passes += is_pass(s);
  if (s.parent < 0) return;
  sums.inside[s.parent] += s.seconds();
  const Read& parent = slices[static_cast<size_t>(s.parent)];
  if (s.cat == "layer") {
    QVERIFY(is_pass(parent));
    ++sums.layers;
    return;
  }
  sums.taken[s.cat] += s.seconds();
  if (parent.cat != "layer") {  // a message that is put together
    QCOMPARE(which, QString("split messages"));
    ++sums.messages;
    return;
  }
  ++sums.ops;
  QVERIFY(!s.args["op"].toString().isEmpty() && !s.args["kind"].toString().isEmpty());
  for (const auto& [part, from, to] : {std::tuple{"waits_us", s.cat, QString("context_comm")},
                                       {"packing_us", s.cat, QString("memory_bound")}}) {
    sums.taken[from] -= nanoseconds(s.args[part]);
    sums.taken[to] += nanoseconds(s.args[part]);
  }
  sums.exposed += nanoseconds(s.args["waits_us"]);
  QCOMPARE(s.args.contains("group"), s.cat.endsWith("_comm") || s.args.contains("waits_us"));
  if (!s.args.contains("group")) return;
  QVERIFY(s.args["bytes"].toDouble() > 0 && s.args["group_size"].toInt() > 1 &&
          s.args["alone_us"].toDouble() > 0);
  sums.bytes[(s.args.contains("waits_us") ? QString("send") : s.args["kind"].toString()) + " " +
             s.args["group"].toString()] += static_cast<Wide>(s.args["bytes"].toDouble());
}

void sum_idle(const QString& which, const std::vector<Read>& slices, StageSums& sums) {
  for (size_t i = 0; i < slices.size(); ++i) {
    const int64_t idle = slices[i].seconds() - sums.inside[static_cast<int>(i)];
    QVERIFY(idle >= 0);
    if (slices[i].cat == "layer")
      sums.waits += idle;
    else if (is_pass(slices[i]) && which != "fsdp2" && which != "offloaded")
      QVERIFY2(idle == 0, qPrintable(slices[i].name));
  }
}

void check_seconds(const QString& which, const StageTimes& times, StageSums& sums) {
  // The file has the passes and other spans of the simulation.
  QCOMPARE(sums.passes,
           static_cast<size_t>(std::count_if(times.spans.begin(), times.spans.end(), [](const Span& s) {
             return s.stream == StreamKind::Compute && s.kind <= SpanKind::BackwardWeight;
           })));
  QVERIFY((sums.messages > 0) == (which == "split messages"));
  // A nanosecond of each op is rounding.
  const auto equal = [&](int64_t found, std::initializer_list<TimeCategory> categories, const char* what) {
    double wanted = 0;
    for (const TimeCategory c : categories) wanted += times.seconds[static_cast<size_t>(c)] * 1e9;
    QVERIFY2(std::abs(static_cast<double>(found) - wanted) <= static_cast<double>(sums.ops + 100),
             qPrintable(QString("%1: %2 ns, not %3").arg(what).arg(found).arg(wanted)));
  };
  using T = TimeCategory;
  equal(sums.taken["products"], {T::MatrixProducts}, "products");
  equal(sums.taken["attention"], {T::Attention}, "attention");
  equal(sums.taken["context_comm"], {T::ContextComm}, "context-parallel communication");
  equal(sums.taken["tensor_comm"], {T::TensorComm}, "tensor-parallel communication");
  if (which != "split messages" && which != "offloaded") equal(sums.waits, {T::Host}, "waits for the host");
  equal(sums.taken["memory_bound"], {T::MemoryBound}, "memory-bound ops");
  equal(sums.taken["expert_comm"], {T::ExpertComm}, "exchanges of experts");
  if (which.contains("host late")) QVERIFY(sums.waits > 0);
  if (which == "ring") QVERIFY(sums.exposed >= 0 && sums.bytes.count("send cp"));
}

void check_bytes(const StageReport& stage, const std::map<QString, Wide>& bytes) {
  std::map<QString, Wide> counted;
  for (const CollectiveValue& c : stage.collectives)
    if (c.phase == Phase::Forward || c.phase == Phase::Backward || c.phase == Phase::Recompute)
      counted[QString::fromStdString(std::string(c.op.name()) + " " + c.group)] += c.bytes.value;
  for (const char* other : {"recv cp", "all_gather dp", "reduce_scatter dp"})
    counted.erase(other);  // sends of the ring are counted once; gathers and reductions of units have no ops
  for (const auto& [key, value] : bytes) QVERIFY2(counted[key] == value, qPrintable(key));
  for (const auto& [key, value] : counted) QVERIFY2(bytes.count(key), qPrintable(key));
}

}  // namespace

class TimelineJsonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void levels_data();
  void levels();
  void linesAreEvents();
  void arrows();
  void largeSteps();
  void machines();
};

void TimelineJsonTest::levels_data() {
  QTest::addColumn<QString>("which");
  for (const char* which :
       {"dense", "split messages", "host late", "recompute", "split backward", "experts",
        "overlapped experts", "ring", "ulysses", "fsdp2", "offloaded", "decode", "decode over cp"})
    QTest::newRow(which) << which;
}

void TimelineJsonTest::levels() {
  QFETCH(QString, which);
  Design d = trace_design("llama3-8b", 2, 2, 1, true, 4, 4);
  set_up(which, d);
  if (QTest::currentTestFailed()) return;
  const Made m = made(d);
  QCOMPARE(m.file.left_out, std::string());
  const auto threads = threads_of(m.root);
  size_t layers = 0, ops = 0, spans = 0;
  for (const auto& [place, thread] : threads) QVERIFY2(thread.fault.isEmpty(), qPrintable(thread.fault));
  for (size_t stage = 0; stage < m.simulation->stages.size(); ++stage) {
    const StageTimes& times = m.simulation->stages[stage];
    spans += times.spans.size();
    const std::vector<Read>& slices = threads.at({static_cast<int>(stage), 0}).slices;
    StageSums sums;
    for (size_t i = 0; i < slices.size(); ++i) sum_slice(which, slices, i, sums);
    sum_idle(which, slices, sums);
    check_seconds(which, times, sums);
    // Bytes equal those of the report, except for overlapped passes.
    if (which != "overlapped experts") check_bytes(m.report->stages[stage], sums.bytes);
    if (QTest::currentTestFailed()) return;
    layers += sums.layers;
    ops += sums.ops;
  }
  QCOMPARE(layers, m.file.layers);
  QCOMPARE(ops, m.file.ops);
  QCOMPARE(spans, m.file.spans);
  QVERIFY(ops > 10 * layers);
  // Neither layers nor passes change where ops are left out.
  const Made bare = made(d, TimelineOps::None);
  QCOMPARE(bare.file.ops, size_t(0));
  QCOMPARE(bare.file.layers, m.file.layers);
  QCOMPARE(bare.file.spans, m.file.spans);
  QVERIFY(bare.file.left_out.starts_with("all "));
}

// One event per line, in the order of the file, with times of whole nanoseconds.
void TimelineJsonTest::linesAreEvents() {
  const Made m = made(trace_design("llama3-8b", 2, 2, 1, true, 4, 4));
  QList<QByteArray> lines = QByteArray::fromStdString(m.file.json).split('\n');
  const QJsonArray events = m.root["traceEvents"].toArray();
  QCOMPARE(lines.size(), events.size() + 3);  // the head, "]}", and the end of the last line
  QVERIFY(lines.front().endsWith("\"traceEvents\":["));
  QCOMPARE(lines[lines.size() - 2], QByteArray("]}"));
  for (qsizetype i = 0; i < events.size(); ++i) {
    QByteArray line = lines[i + 1];
    if (i + 1 < events.size()) {
      QVERIFY(line.endsWith(','));
      line.chop(1);
    }
    QCOMPARE(QJsonDocument::fromJson(line).object(), events[i].toObject());
    QVERIFY(line.startsWith("{\"ph\":"));
    for (const char* key : {"ts", "dur"})
      if (const QJsonValue time = events[i].toObject()[QLatin1String(key)]; time.isDouble())
        QVERIFY(std::abs(time.toDouble() * 1000 - static_cast<double>(nanoseconds(time))) < 1e-5);
  }
}

void TimelineJsonTest::arrows() {
  const Made m = made(trace_design("llama3-8b", 2, 2, 2, true, 4, 4));
  QMap<QString, int> phases;
  for (const QJsonValue& event : m.root["traceEvents"].toArray()) ++phases[event.toObject()["ph"].toString()];
  QCOMPARE(static_cast<size_t>(phases["X"]), m.file.spans + m.file.layers + m.file.ops);
  QVERIFY(phases["s"] > 0);
  QCOMPARE(phases["s"], phases["f"]);
  QCOMPARE(m.root["otherData"].toObject()["title"].toString(), QString("a \"name\""));
}

// A step with very many ops shows only the ops of the first and the last microbatch.
void TimelineJsonTest::largeSteps() {
  const Design d = trace_design("llama3-8b", 2, 2, 1, true, 96, 32);
  const Made some = made(d), all = made(d, TimelineOps::All);
  QVERIFY(all.file.ops > kMostTimelineOps);
  QVERIFY(all.file.left_out.empty() && !all.root["otherData"].toObject().contains("left_out"));
  QCOMPARE(some.file.ops, all.file.ops / 48);
  QCOMPARE(some.file.layers, all.file.layers);
  QVERIFY2(some.file.left_out.ends_with(" ops: those of all microbatches except 0 and 95"),
           some.file.left_out.c_str());
  QCOMPARE(some.root["otherData"].toObject()["left_out"].toString().toStdString(), some.file.left_out);
  std::set<int> with_ops;
  const auto threads = threads_of(some.root);
  for (const auto& [place, thread] : threads) {
    QVERIFY2(thread.fault.isEmpty(), qPrintable(thread.fault));
    for (const Read& s : thread.slices)
      if (s.args.contains("op"))
        with_ops.insert(
            thread.slices[static_cast<size_t>(thread.slices[static_cast<size_t>(s.parent)].parent)]
                .args["microbatch"]
                .toInt());
  }
  QVERIFY((with_ops == std::set<int>{0, 95}));
}

// A file says which machine its times are of: made-up ones too.
void TimelineJsonTest::machines() {
  Design d = trace_design("llama3-8b", 2, 1, 1, true, 1, 2);
  QJsonObject other = made(d).root["otherData"].toObject();
  QCOMPARE(other["machine"].toString(), QString("h100-sxm-80gb"));
  QVERIFY(other["overrides"].toObject().isEmpty());
  d.cluster.peak_tflops = 2000;
  d.cluster.nic_bandwidth = 800;
  other = made(d).root["otherData"].toObject();
  QCOMPARE(other["machine"].toString(), QString("h100-sxm-80gb"));
  QCOMPARE(other["overrides"].toObject()["bf16_tflops"].toString(),
           QString("2,000 TFLOP/s, set in this design, --peak-tflops"));
  QCOMPARE(other["overrides"].toObject()["nic_gbps"].toString(),
           QString("800 Gb/s, set in this design, --nic-bandwidth"));
  QVERIFY(!other["overrides"].toObject().contains("memory_gbps"));
}

QTEST_GUILESS_MAIN(TimelineJsonTest)
#include "timeline_json_test.moc"
