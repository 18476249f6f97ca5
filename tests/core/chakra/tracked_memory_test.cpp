// A simulator that follows the tensors of a trace sees the memory that the memory model reports.
#include <QTest>
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "chakra/lower.h"
#include "chakra/node_tensors.h"
#include "chakra/tracked_memory.h"
#include "graph/kernel_label.h"
#include "memory/memory_timeline.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Bounds of the peak of a stage without the bytes that a trace cannot carry: workspaces, receive buffers and
// gradients that live during one op. Without the latter, the peak may be at another op: it is at least their
// bytes lower than the peak of the memory model, and no more than that peak.
struct Bounds {
  double low = 0, high = 0;
};
Bounds carried(const Graph& graph, const StageMemory& stage) {
  int64_t low = stage.allocated, high = stage.allocated;
  const std::string op = stage.segment < 0 || stage.at.op < 0
                             ? "-"
                             : kernel_label(graph.segments[static_cast<size_t>(stage.segment)], stage.at.op);
  for (const MemoryContributor& c : stage.contributors) {
    if (c.category != MemoryCategory::Buffers) continue;
    const bool fixed = c.name == "workspace of matrix products" || c.name == "dummy weight gradients" ||
                       c.kind == PartKind::ReceiveBuffers;
    if (fixed) high -= c.bytes;
    if (fixed || c.name.starts_with(op)) low -= c.bytes;
  }
  return {static_cast<double>(low), static_cast<double>(high)};
}

// How far the peak of a trace may lie outside the bounds. Nodes of a trace run one after the other, so an
// overlapped forward and backward never hold the transient tensors of both. FSDP reduces some units earlier
// in a trace than the memory model assumes.
double tolerance(const Lowering& lowering) {
  for (const std::vector<Action>& actions : lowering.schedule().actions)
    if (std::any_of(actions.begin(), actions.end(), [](const Action& a) { return a.overlapped; }))
      return 0.09;
  return is_fsdp(lowering.report().graph().structure.sync) ? 0.05 : 0.02;
}

// Whether the dependencies of a node lead to another, earlier one. Both are indices.
bool follows(const RankProgram& program, size_t node, size_t earlier) {
  std::vector<size_t> open{node};
  std::set<size_t> seen;
  while (!open.empty()) {
    const TraceNode& n = program.nodes[open.back()];
    open.pop_back();
    for (const std::span<const uint32_t> deps : {program.ctrl_deps(n), program.data_deps(n)})
      for (const uint32_t id : deps) {
        if (id - 1 == earlier) return true;
        if (id - 1 > earlier && seen.insert(id - 1).second) open.push_back(id - 1);
      }
  }
  return false;
}

}  // namespace

class TrackedMemoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void peaks_equal_the_memory_model_data() { add_trace_rows(); }
  void peaks_equal_the_memory_model() {
    const auto report = trace_report(fetched_trace_design());
    const auto memory = memory_timeline(*report);
    const Lowering lowering(*report);
    for (const StageReport& stage : report->stages) {
      const RankProgram program = lowering.stage(stage.stage, true);
      const TrackedMemory tracked = track_memory(program);
      const Bounds ours = carried(report->graph(), memory->stages[static_cast<size_t>(stage.stage)]);
      const auto peak = static_cast<double>(tracked.peak);
      const double most = tolerance(lowering);
      QVERIFY2(peak > ours.low * (1 - most) && peak < ours.high * (1 + most),
               qPrintable(QString("stage %1: tracked %2, memory model %3 to %4")
                              .arg(stage.stage)
                              .arg(peak)
                              .arg(ours.low)
                              .arg(ours.high)));
      for (const auto* defects : {&tracked.written_twice, &tracked.unread})
        QVERIFY2(defects->empty(), defects->empty() ? "" : defects->front().c_str());
    }
  }

  // A tensor has the same bytes wherever it is named. Messages between stages may carry several vectors of
  // the residual stream, or the tokens of images.
  void tensors_have_one_size_data() { add_trace_rows(); }
  void tensors_have_one_size() {
    const auto report = trace_report(fetched_trace_design());
    const RankProgram program = lower(*report, 0, true);
    const Structure& of_design = report->graph().structure;
    const bool same_messages = of_design.vectors == 0 && !of_design.vision_stage;
    std::map<std::string, int64_t> bytes;
    for (size_t i = 0; i < program.nodes.size(); ++i) {
      const NodeTensors tensors = node_tensors(program, i);
      for (const auto* of : {&tensors.inputs, &tensors.outputs})
        for (const NamedTensor& t : *of)
          if (same_messages || t.name.find("stream.") == std::string::npos)
            QVERIFY2(bytes.emplace(t.name, t.bytes).first->second == t.bytes, t.name.c_str());
    }
  }

  // A simulator may run a deferred weight gradient, or a message, before an earlier action that it does not
  // depend on. A node that reads a tensor of another backward therefore depends on the node that writes it.
  // The uses of a tied parameter are an exception: they add to its gradient in either order.
  void reads_depend_on_writes_data() { add_trace_rows(); }
  void reads_depend_on_writes() {
    const auto report = trace_report(fetched_trace_design());
    const Lowering lowering(*report);
    for (const StageReport& stage : report->stages) {
      const RankProgram program = lowering.stage(stage.stage, true);
      std::map<std::string, size_t> writers;
      for (size_t i = 0; i < program.nodes.size(); ++i)
        if (program.actions[program.nodes[i].action] != "forward")
          for (const NamedTensor& made : node_tensors(program, i).outputs) writers.emplace(made.name, i);
      for (size_t i = 0; i < program.nodes.size(); ++i)
        for (const NamedTensor& read : node_tensors(program, i).inputs) {
          const auto writer = writers.find(read.name);
          if (writer == writers.end() || read.name.starts_with("tied.") ||
              program.nodes[writer->second].action == program.nodes[i].action)
            continue;
          QVERIFY2(follows(program, i, writer->second),
                   qPrintable(QString("node %1 reads %2 without depending on node %3, which writes it")
                                  .arg(i + 1)
                                  .arg(QString::fromStdString(read.name))
                                  .arg(writer->second + 1)));
        }
    }
  }

  // Peaks of published sizes, which trace_designs() scale down.
  void large_models_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("schedule");
    QTest::newRow("1f1b") << "qwen3-14b" << static_cast<int>(ScheduleKind::OneFOneB);
    QTest::newRow("zb-v") << "qwen3-14b" << static_cast<int>(ScheduleKind::ZbV);
  }
  void large_models() {
    QFETCH(QString, preset);
    QFETCH(int, schedule);
    Design design = trace_design(preset.toStdString().c_str(), 4, 2, 1, true, 16, 40);
    design.parallel.schedule = static_cast<ScheduleKind>(schedule);
    if (design.parallel.schedule == ScheduleKind::ZbV) design.parallel.virtual_stages = 2;
    design.workload.seq = 4096;
    const auto report = trace_report(design);
    const auto memory = memory_timeline(*report);
    for (int stage = 0; stage < 2; ++stage) {
      const TrackedMemory tracked = track_memory(lower(*report, stage, true));
      const Bounds ours = carried(report->graph(), memory->stages[static_cast<size_t>(stage)]);
      qInfo("stage %d: tracked %.2f GB, memory model %.2f to %.2f GB", stage,
            static_cast<double>(tracked.peak) / 1e9, ours.low / 1e9, ours.high / 1e9);
      QVERIFY(static_cast<double>(tracked.peak) > 0.98 * ours.low);
      QVERIFY(static_cast<double>(tracked.peak) < 1.02 * ours.high);
    }
  }
};

QTEST_GUILESS_MAIN(TrackedMemoryTest)
#include "tracked_memory_test.moc"
