// Coarser traces: the same work, the same communication, the same order between them.
#include <QTest>
#include <algorithm>
#include <map>

#include "chakra/granularity.h"
#include "chakra/lower.h"
#include "chakra/repeat_steps.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr Granularity kCoarser[] = {Granularity::Block, Granularity::Layer, Granularity::Pass,
                                    Granularity::BetweenCommunications};

struct Work {
  int64_t ops = 0, bytes = 0, microseconds = 0;
  bool operator==(const Work&) const = default;
};

// The work between two communications of the rank, by their numbers along the chain: the last that it
// follows, and the first that waits for it. Fails if a dependency does not have a lower id.
using WorkByPlace = std::map<std::pair<int64_t, int64_t>, Work>;
WorkByPlace work_by_place(const RankProgram& program) {
  const size_t count = program.nodes.size();
  std::vector<int64_t> after(count, 0), before(count, INT64_MAX), chain(count, 0);
  const auto deps = [&](size_t n) {
    const auto ctrl = program.ctrl_deps(program.nodes[n]), data = program.data_deps(program.nodes[n]);
    std::vector<uint32_t> all(ctrl.begin(), ctrl.end());
    all.insert(all.end(), data.begin(), data.end());
    return all;
  };
  const auto computes = [&](size_t n) {
    return program.ops[program.nodes[n].op].type == chakra::NodeType::Comp;
  };
  int64_t number = 0;
  for (size_t n = 0; n < count; ++n) {
    if (!computes(n)) chain[n] = ++number;
    for (const uint32_t id : deps(n)) {
      if (id > n) qFatal("node %zu depends on node %u", n + 1, id);
      after[n] = std::max({after[n], after[id - 1], chain[id - 1]});
    }
  }
  for (size_t n = count; n-- != 0;)
    for (const uint32_t id : deps(n))
      before[id - 1] = std::min(before[id - 1], computes(n) ? before[n] : chain[n]);
  WorkByPlace out;
  for (size_t n = 0; n < count; ++n) {
    if (!computes(n)) continue;
    const TraceOp& op = program.ops[program.nodes[n].op];
    Work& work = out[{after[n], before[n]}];
    work.ops += op.num_ops;
    work.bytes += op.tensor_size;
    work.microseconds += program.durations[n];
  }
  return out;
}

// Everything about the communication and memory nodes except their ids.
std::vector<std::tuple<std::string, int, int64_t, int64_t, int, int32_t, int32_t, int32_t>> communication(
    const RankProgram& program) {
  std::vector<std::tuple<std::string, int, int64_t, int64_t, int, int32_t, int32_t, int32_t>> out;
  for (const TraceNode& n : program.nodes) {
    const TraceOp& op = program.ops[n.op];
    if (op.type != chakra::NodeType::Comp)
      out.emplace_back(op.name, static_cast<int>(op.type), op.comm_size, op.tensor_size, op.role,
                       n.microbatch, n.layer, message_tag(n, program.chunks, op.backward));
  }
  return out;
}

}  // namespace

class GranularityTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_are_read() {
    for (const Granularity g : kCoarser) QVERIFY(parse_granularity(granularity_name(g)) == g);
    QVERIFY(parse_granularity("op") == Granularity::Op);
    QVERIFY(!parse_granularity("") && !parse_granularity("Layer") && !parse_granularity("layers"));
    QVERIFY(granularity_list().find("between-communications") != std::string::npos);
  }

  // Between any two communications, every granularity has the FLOPs, bytes and microseconds of the ops.
  void work_stays_in_its_place_data() { add_trace_rows(); }
  void work_stays_in_its_place() {
    const auto report = trace_report(fetched_trace_design());
    const Lowering lowering(*report, TraceTimes::Durations);
    for (int stage = 0; stage < static_cast<int>(report->stages.size()); ++stage) {
      const RankProgram fine = lowering.stage(stage, false);
      const WorkByPlace expected = work_by_place(fine);
      const auto messages = communication(fine);
      size_t nodes = fine.nodes.size();
      for (const Granularity g : kCoarser) {
        const RankProgram coarse = merge_compute_nodes(fine, g);
        QVERIFY(work_by_place(coarse) == expected);
        QVERIFY(communication(coarse) == messages);
        QVERIFY2(coarse.nodes.size() <= nodes, std::string(granularity_name(g)).c_str());
        nodes = coarse.nodes.size();
      }
      QCOMPARE(nodes, expected.size() + messages.size());  // the coarsest: one node per place
    }
  }

  // Limits of the granularity itself, where no communication divides anything.
  void a_node_covers_what_the_granularity_says() {
    const auto report = trace_report(trace_design("llama3-8b", 1, 1, 1, false, 3, 2));
    const RankProgram fine = Lowering(*report).stage(0, false);
    const auto count = [&](Granularity g) { return merge_compute_nodes(fine, g).nodes.size(); };
    QCOMPARE(count(Granularity::Pass), size_t{2 * 3 + 1});  // forwards, backwards, the optimizer
    // Embedding, two layers and the head.
    QCOMPARE(count(Granularity::Layer), size_t{2 * 3 * 4 + 1});
    QVERIFY(count(Granularity::Block) > count(Granularity::Layer));
    QVERIFY(count(Granularity::Op) > count(Granularity::Block));
    QCOMPARE(count(Granularity::BetweenCommunications), size_t{1});
    const RankProgram passes = merge_compute_nodes(fine, Granularity::Pass);
    QVERIFY(passes.ops[passes.nodes[0].op].name == "forward" && passes.nodes[0].microbatch == 0);
  }

  void steps_follow_each_other_data() { add_trace_rows(); }
  void steps_follow_each_other() {
    const auto report = trace_report(fetched_trace_design());
    const Lowering lowering(*report, TraceTimes::Durations);
    const int64_t microbatches = lowering.schedule().microbatches;
    const RankProgram one = lowering.stage(0, false), three = repeat_steps(one, 3, microbatches);
    QCOMPARE(three.nodes.size(), 3 * one.nodes.size());
    QCOMPARE(three.durations.size(), 3 * one.durations.size());
    WorkByPlace sum;
    const auto count = static_cast<int64_t>(communication(one).size());
    for (const auto& [place, work] : work_by_place(one))
      for (int64_t step = 0; step < 3; ++step) {
        // Work that follows no communication of its step follows the last one of the step before. Work that
        // no communication waits for is awaited by the first of the next step.
        const bool last = place.second == INT64_MAX && (step == 2 || count == 0);
        Work& there = sum[{
            place.first + step * count,
            last ? INT64_MAX : (place.second == INT64_MAX ? count + 1 : place.second) + step * count}];
        there.ops += work.ops;
        there.bytes += work.bytes;
        there.microseconds += work.microseconds;
      }
    QVERIFY(work_by_place(three) == sum);
    std::map<std::tuple<std::string, int32_t>, int> tags;  // of messages of one kind
    for (const TraceNode& n : three.nodes)
      if (const TraceOp& op = three.ops[n.op]; op.type == chakra::NodeType::Send)
        QCOMPARE((++tags[{op.name + std::to_string(static_cast<int>(op.peer)) + std::to_string(n.layer),
                          message_tag(n, three.chunks, op.backward)}]),
                 1);
  }

  void too_many_steps_are_refused() {
    const auto report = trace_report(trace_design("llama3-8b", 1, 2, 1, false, 2, 2));
    const RankProgram one = Lowering(*report).stage(0, false);
    for (const int64_t steps : {int64_t{1} << 24, int64_t{1} << 40, INT64_MAX})
      QVERIFY_THROWS_EXCEPTION(LoweringError, repeat_steps(one, steps, 2));
  }
};

QTEST_GUILESS_MAIN(GranularityTest)
#include "granularity_test.moc"
