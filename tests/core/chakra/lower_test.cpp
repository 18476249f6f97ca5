// Lowered programs against their report, and the order of nodes that simulators rely on.
#include <QTest>
#include <map>
#include <set>

#include "chakra/groups.h"
#include "chakra/lower.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;
using chakra::CollectiveType;
using chakra::NodeType;

namespace {

std::string report_op(CollectiveType type) {
  switch (type) {
    case CollectiveType::AllGather: return "all_gather";
    case CollectiveType::ReduceScatter: return "reduce_scatter";
    case CollectiveType::AllToAll: return "all_to_all";
    case CollectiveType::AllReduce: return "all_reduce";
    default: return "not written by the program";
  }
}

struct Total {
  Wide count = 0, bytes = 0;
  friend bool operator==(const Total&, const Total&) = default;
};

// Bytes and count of full buffers by op and group size, from the report.
std::map<std::pair<std::string, int64_t>, Total> reported(const StageReport& stage) {
  std::map<std::pair<std::string, int64_t>, Total> out;
  for (const CollectiveValue& c : stage.collectives) {
    if (c.group_size < 2 || c.count.value == 0) continue;
    Total& t = out[{c.op == CollectiveKind::Reduce ? "reduce_scatter" : std::string(c.op.name()),
                    c.op.is_message() ? 0 : c.group_size}];
    t.count += c.count.value;
    t.bytes += c.bytes.value;
  }
  return out;
}

std::map<std::pair<std::string, int64_t>, Total> lowered(const Lowering& lowering, const RankProgram& program,
                                                         int64_t rank) {
  std::map<std::pair<std::string, int64_t>, Total> out;
  for (const TraceNode& n : program.nodes) {
    const TraceOp& op = program.ops[n.op];
    if (op.type == NodeType::Send || op.type == NodeType::Recv) {
      Total& t = out[{op.type == NodeType::Send ? "send" : "recv", 0}];
      t.count += 1;
      t.bytes += op.comm_size;
    } else if (op.type == NodeType::Coll) {
      const auto group = role_group(lowering.mesh(), lowering.roles()[static_cast<size_t>(op.role)], rank);
      const auto size = static_cast<int64_t>(group.size());
      Total& t = out[{report_op(op.collective.value()), size}];
      t.count += 1;
      t.bytes += Wide{op.comm_size} * (op.collective == CollectiveType::AllGather ? size : 1);
    }
  }
  return out;
}

}  // namespace

class LowerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const NamedDesign& d : trace_designs()) reports_.push_back(trace_report(d.design));
  }

  void designs_data() {
    QTest::addColumn<int>("index");
    int i = 0;
    for (const NamedDesign& d : trace_designs()) QTest::newRow(d.name) << i++;
  }

  void collectives_equal_the_report_data() { designs_data(); }
  void collectives_equal_the_report() {
    for_each_stage(
        [](const Report& report, const Lowering& lowering, const RankProgram& program, int64_t rank) {
          const auto expected = reported(report.stages[static_cast<size_t>(program.stage)]);
          const auto found = lowered(lowering, program, rank);
          for (const auto& [key, total] : expected) {
            const auto it = found.find(key);
            QVERIFY2(it != found.end(),
                     (key.first + " over " + std::to_string(key.second) + " is missing").c_str());
            const std::string values = key.first + " over " + std::to_string(key.second) + ": " +
                                       to_string(it->second.count) + " of " + to_string(it->second.bytes) +
                                       " bytes, the report has " + to_string(total.count) + " of " +
                                       to_string(total.bytes);
            QVERIFY2(it->second.count == total.count && it->second.bytes == total.bytes, values.c_str());
          }
          QCOMPARE(found.size(), expected.size());
        });
  }

  // num_ops is at least 1, also where nothing is computed.
  void flops_equal_the_report_data() { designs_data(); }
  void flops_equal_the_report() {
    for_each_stage([](const Report& report, const Lowering&, const RankProgram& of_roofline, int64_t) {
      Wide ops = 0, idle = 0;
      // A roofline scales the FLOPs of quantized ops.
      const bool quantized = is_quantized(report.graph().structure.compute);
      const Lowering lowering(report, TraceTimes::Durations);
      const RankProgram program = quantized ? lowering.stage(of_roofline.stage, false, {},
                                                             of_roofline.ring_position)
                                            : of_roofline;
      for (const TraceNode& n : program.nodes) {
        const TraceOp& op = program.ops[n.op];
        if (op.type != NodeType::Comp) continue;
        QVERIFY(op.num_ops >= 1 && op.tensor_size >= 1);
        (op.num_ops == 1 ? idle : ops) += op.num_ops;
      }
      Wide expected = 0;
      const auto own = make_report(report.design, {}, program.ring_position);
      for (const FlopsValue& f : own->stages[static_cast<size_t>(program.stage)].flops)
        expected += f.counted.value;
      QVERIFY2(ops <= expected && expected <= ops + idle,
               (to_string(ops) + " + " + to_string(idle) + " against " + to_string(expected)).c_str());
    });
  }

  // A simulator with one peak, that of the storage type, times a quantized op as the peak of the op's type
  // does.
  void quantized_ops_run_at_their_peak_data() {
    QTest::addColumn<QString>("accelerator");
    QTest::addColumn<int>("compute");
    QTest::addColumn<double>("factor");
    QTest::newRow("fp8") << "h100-sxm-80gb" << static_cast<int>(ComputePrecision::FP8) << 2.0;
    QTest::newRow("nvfp4") << "b200-hgx-180gb" << static_cast<int>(ComputePrecision::NVFP4) << 4.0;
  }
  void quantized_ops_run_at_their_peak() {
    QFETCH(QString, accelerator);
    QFETCH(int, compute);
    QFETCH(double, factor);
    Design design = trace_design("llama3-8b", 2, 1, 1, true, 1, 2);
    design.cluster.accelerator = accelerator.toStdString();
    design.workload.compute = static_cast<ComputePrecision>(compute);
    const auto report = trace_report(design);
    const RankProgram roofline = Lowering(*report).stage(0, false),
                      counted = Lowering(*report, TraceTimes::Durations).stage(0, false);
    QCOMPARE(roofline.nodes.size(), counted.nodes.size());
    int64_t scaled = 0;
    for (size_t i = 0; i < roofline.nodes.size(); ++i) {
      const auto own = static_cast<double>(roofline.ops[roofline.nodes[i].op].num_ops),
                 all = static_cast<double>(counted.ops[counted.nodes[i].op].num_ops);
      if (own == all) continue;
      ++scaled;
      QVERIFY(std::abs(own * factor / all - 1) < 0.02);
    }
    QVERIFY(scaled > 0);
  }

  // The first node of a rank takes a nanosecond at least, whatever the machine.
  void first_nodes_take_time() {
    Design design = trace_design("gpt3-175b", 2, 1, 1, false, 1, 1);
    design.workload.mode = Mode::Decode;
    design.workload.batch = design.workload.microbatch = 1;
    design.workload.context_length = 1024;
    const RankProgram program = lower(*trace_report(design), 0, false);
    for (const TraceNode& n : program.nodes)
      if (n.ctrl_count + n.data_count == 0 && program.ops[n.op].type == NodeType::Comp)
        QVERIFY(program.ops[n.op].tensor_size >= 16 * 1024);
  }

  void memory_nodes_equal_the_report_data() { designs_data(); }
  void memory_nodes_equal_the_report() {
    for_each_stage([](const Report& report, const Lowering&, const RankProgram& program, int64_t) {
      std::map<NodeType, Total> found, expected;
      for (const TraceNode& n : program.nodes) {
        const TraceOp& op = program.ops[n.op];
        if (op.type != NodeType::MemLoad && op.type != NodeType::MemStore) continue;
        found[op.type].count += 1;
        found[op.type].bytes += op.tensor_size;
      }
      for (const HostValue& h : report.stages[static_cast<size_t>(program.stage)].host) {
        Total& t = expected[h.op == HostOp::Store ? NodeType::MemStore : NodeType::MemLoad];
        t.count += h.count.value;
        t.bytes += h.bytes.value;
      }
      QVERIFY(found == expected);
    });
  }

  // The backward of a microbatch loads only what its forward has stored; at most two loads are ahead of what
  // reads them.
  void loads_follow_stores_data() { designs_data(); }
  void loads_follow_stores() {
    for_each_stage([](const Report&, const Lowering&, const RankProgram& program, int64_t) {
      std::set<std::pair<int32_t, int32_t>> stored;  // microbatch and layer
      for (size_t i = 0; i < program.nodes.size(); ++i) {
        const TraceNode& n = program.nodes[i];
        const TraceOp& op = program.ops[n.op];
        if (n.microbatch < 0 || (op.type != NodeType::MemLoad && op.type != NodeType::MemStore)) continue;
        if (op.type == NodeType::MemStore)
          QVERIFY(stored.insert({n.microbatch, n.layer}).second);
        else
          QVERIFY(stored.erase({n.microbatch, n.layer}) == 1);
        if (op.type == NodeType::MemStore) continue;
        bool read = false;  // by the backward of its layer
        for (size_t j = i + 1; j < program.nodes.size() && !read; ++j) {
          const auto deps = program.data_deps(program.nodes[j]);
          read = program.nodes[j].layer == n.layer &&
                 std::find(deps.begin(), deps.end(), static_cast<uint32_t>(i + 1)) != deps.end();
        }
        QVERIFY(read);
      }
      QVERIFY(stored.empty());
    });
  }

  void order_is_fixed_data() { designs_data(); }
  void order_is_fixed() {
    for_each_stage([](const Report&, const Lowering&, const RankProgram& program, int64_t) {
      std::vector<int64_t> reach;  // how many communications in a row come before a node, by dependencies
      int64_t chain = 0;
      size_t roots = 0;
      for (size_t i = 0; i < program.nodes.size(); ++i) {
        const TraceNode& n = program.nodes[i];
        int64_t before = 0;
        std::set<uint32_t> seen;
        for (uint32_t k = 0; k < n.ctrl_count + n.data_count; ++k) {
          const uint32_t dep = program.deps[n.deps + k];
          QVERIFY(dep >= 1 && dep <= i);  // ids ascend, no cycles
          QVERIFY2(seen.insert(dep).second, "the same dependency twice");
          before = std::max(before, reach[dep - 1]);
        }
        roots += seen.empty();
        if (program.ops[n.op].type != NodeType::Comp) {
          QCOMPARE(before, chain);
          before = ++chain;
        }
        reach.push_back(before);
      }
      QCOMPARE(roots, size_t{1});
    });
  }

  // What a replay needs is there right after the forward. A simulator must not recompute a layer so early,
  // because its memory would then be saved memory.
  void replays_follow_the_backward_before() {
    Design design = trace_design("llama3-8b", 4, 1, 1, false, 2, 2);
    design.workload.recompute = Recompute::Full;
    const auto report = trace_report(design);
    const RankProgram program = Lowering(*report).stage(0, false, {}, 0);
    const auto replayed = [&](size_t i) {
      return program.ops[program.nodes[i].op].name.ends_with(".recompute");
    };
    size_t replays = 0;
    for (size_t begin = 1; begin < program.nodes.size(); ++begin) {
      if (!replayed(begin) || replayed(begin - 1)) continue;
      size_t gate = begin - 1;
      while (program.ops[program.nodes[gate].op].type != NodeType::Comp) --gate;
      std::set<uint32_t> after{static_cast<uint32_t>(gate + 1)};  // ids
      for (size_t i = gate + 1; i < program.nodes.size() && (i < begin || replayed(i)); ++i) {
        const TraceNode& n = program.nodes[i];
        const auto* deps = program.deps.data() + n.deps;
        const bool waits = std::any_of(deps, deps + n.ctrl_count + n.data_count,
                                       [&](uint32_t id) { return after.contains(id); });
        if (waits) after.insert(static_cast<uint32_t>(i + 1));
        if (i >= begin && program.ops[n.op].type == NodeType::Comp)
          QVERIFY2(waits, program.ops[n.op].name.c_str());
      }
      ++replays;
    }
    QCOMPARE(replays, size_t{4});  // of two layers in two microbatches
  }

  void transfers_follow_the_schedule_data() { designs_data(); }
  void transfers_follow_the_schedule() {
    for_each_stage([](const Report& report, const Lowering& lowering, const RankProgram& program, int64_t) {
      const Structure& structure = report.graph().structure;
      const StageReport& stage = report.stages[static_cast<size_t>(program.stage)];
      // The gradient of the tokens of images, which a frozen tower does not get.
      const ActionKind unsent = !structure.vision_stage || !structure.frozen_tower ? ActionKind::Forward
                                : stage.first.tower_alone()     ? ActionKind::ReceiveBackward
                                : stage.first.embedding_alone() ? ActionKind::SendBackward
                                                                : ActionKind::Forward;
      std::vector<std::pair<std::string, int>> expected, found;
      for (const Action& a : lowering.schedule().actions[static_cast<size_t>(program.stage)]) {
        const bool transfer = a.kind == ActionKind::ReceiveForward || a.kind == ActionKind::SendForward ||
                              a.kind == ActionKind::ReceiveBackward || a.kind == ActionKind::SendBackward;
        if (transfer && a.kind != unsent)
          expected.emplace_back(std::string(action_name(a.kind)), a.microbatch);
      }
      for (const TraceNode& n : program.nodes) {
        const TraceOp& op = program.ops[n.op];
        const bool between_stages = op.peer == Peer::PreviousStage || op.peer == Peer::NextStage;
        if (between_stages && (op.type == NodeType::Send || op.type == NodeType::Recv))
          found.emplace_back(op.name, n.microbatch);
      }
      QVERIFY(found == expected);
    });
  }

  void tensors_add_no_nodes_data() { designs_data(); }
  void tensors_add_no_nodes() {
    QFETCH(int, index);
    const Report& report = *reports_[static_cast<size_t>(index)];
    const RankProgram with = lower(report, 0, true), without = lower(report, 0, false);
    QCOMPARE(with.nodes.size(), without.nodes.size());
    for (const TraceOp& op : without.ops) QVERIFY(op.inputs.empty() && op.outputs.empty());
    QVERIFY(without.extra.empty());
  }

  void groups_are_numbered_for_simulators_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("largest");
    QTest::newRow("8 ranks") << 2 << 2 << 2 << 2147;
    QTest::newRow("1,024 ranks") << 8 << 16 << 8 << 2147;
    QTest::newRow("4,096 ranks") << 8 << 64 << 8 << 2147;
    QTest::newRow("500 tp groups") << 2 << 500 << 1 << 2147;
    QTest::newRow("32,768 ranks") << 8 << 512 << 8 << 40000;
  }
  void groups_are_numbered_for_simulators() {
    QFETCH(int, tp);
    QFETCH(int, dp);
    QFETCH(int, pp);
    QFETCH(int, largest);
    const DeviceMesh mesh({.tp = tp, .cp = 1, .dp = dp, .pp = pp, .kv_heads = 8}, {});
    const std::vector<GroupRole> roles{{{MeshAxis::Tp}, false}, {{MeshAxis::Dp}, false}, {{}, true}};
    const GroupTable table(mesh, roles);
    std::set<int32_t> ids;
    for (const CommGroup& g : table.groups()) {
      QVERIFY(g.ranks.size() > 1);
      QVERIFY(std::is_sorted(g.ranks.begin(), g.ranks.end()));
      QVERIFY(g.id >= 1 && g.id <= largest);
      QVERIFY2(ids.insert(g.id).second, "an id twice");
    }
    QVERIFY(*ids.rbegin() <= static_cast<int>(500 * (ids.size() / 497 + 1)));  // hardly any left out
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::set<int32_t> rest;
      for (int role = 0; role < 3; ++role)
        if (const int32_t id = table.id(role, rank); id != 0)
          QVERIFY2(rest.insert(id % GroupTable::kIdModulus).second, "ids of a rank equal modulo 500");
    }
  }

  // The n-th message that a rank sends is the n-th that the next one receives: equal bytes under equal tags,
  // all distinct.
  void rings_pair_their_messages_data() { designs_data(); }
  void rings_pair_their_messages() {
    QFETCH(int, index);
    const Report& report = *reports_[static_cast<size_t>(index)];
    const Lowering lowering(report);
    std::vector<std::pair<int32_t, int64_t>> first_sent;
    for (int64_t position = 0; position < lowering.positions(); ++position) {
      const RankProgram program = lowering.stage(0, false, {}, position);
      std::vector<std::pair<int32_t, int64_t>> sent, received;
      std::set<int32_t> tags;
      for (const TraceNode& n : program.nodes) {
        const TraceOp& op = program.ops[n.op];
        if (op.type != NodeType::Send && op.type != NodeType::Recv) continue;
        if (op.peer != (op.type == NodeType::Send ? Peer::NextInRing : Peer::PreviousInRing)) continue;
        const int32_t tag = message_tag(n, program.chunks, op.backward);
        (op.type == NodeType::Send ? sent : received).emplace_back(tag, op.comm_size);
        if (op.type == NodeType::Send) QVERIFY(tags.insert(tag).second);
      }
      QVERIFY(sent == received);
      QCOMPARE(sent.empty(), !report.graph().structure.ring);
      if (position == 0) first_sent = sent;
      QVERIFY(sent == first_sent);
    }
  }

  // A step works on a block while the next one is on its way, and on no block before it has come.
  void rings_overlap() {
    const auto all = trace_designs();
    const auto at = std::find_if(all.begin(), all.end(), [](const NamedDesign& d) {
      return d.name == std::string("context parallel ring");
    });
    const Report& report = *reports_[static_cast<size_t>(at - all.begin())];
    const RankProgram program = Lowering(report).stage(0, false, {}, 3);
    // Nodes of the first microbatch in layer 0, by name, for tests of direct and indirect dependencies.
    std::map<std::string, size_t> node;
    for (size_t i = 0; i < program.nodes.size(); ++i)
      if (program.nodes[i].microbatch == 0 && program.nodes[i].layer == 0)
        node.emplace(program.ops[program.nodes[i].op].name, i);
    std::vector<std::set<size_t>> before(program.nodes.size());
    for (size_t i = 0; i <= node.at("attention.o.3"); ++i) {
      const TraceNode& n = program.nodes[i];
      for (uint32_t k = 0; k < n.ctrl_count + n.data_count; ++k) {
        const size_t dep = program.deps[n.deps + k] - 1;
        before[i].insert(dep);
        before[i].insert(before[dep].begin(), before[dep].end());
      }
    }
    for (int step = 1; step < 4; ++step) {
      const std::string at_step = "." + std::to_string(step), earlier = "." + std::to_string(step - 1);
      for (const char* what : {"attention.kr.ring.recv", "attention.v.ring.recv"}) {
        QVERIFY(before[node.at("attention.o" + at_step)].contains(node.at(what + earlier)));
        QVERIFY(!before[node.at(what + earlier)].contains(node.at("attention.o" + earlier)));
      }
      QVERIFY(before[node.at("attention.o" + at_step)].contains(node.at("attention.o" + earlier)));
    }
  }

  void stopping_leaves_early() {
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(Lowering(*reports_[0]).stage(0, false, stop.get_token()).nodes.empty());
  }

 private:
  template <class Check>
  void for_each_stage(Check check) {
    QFETCH(int, index);
    const Report& report = *reports_[static_cast<size_t>(index)];
    const Lowering lowering(report);
    for (int s = 0; s < static_cast<int>(report.stages.size()); ++s)
      for (int64_t position = 0; position < lowering.positions(); ++position) {
        const RankProgram program = lowering.stage(s, false, {}, position);
        int64_t rank = lowering.mesh().with(0, MeshAxis::Pp, s);
        for (const MeshAxis ring : ring_axes(report.graph().structure))
          rank = lowering.mesh().with(rank, ring, position);
        QCOMPARE(lowering.position_of(rank), position);
        check(report, lowering, program, rank);
        if (QTest::currentTestFailed()) return;
      }
  }
  std::vector<std::shared_ptr<const Report>> reports_;
};

QTEST_GUILESS_MAIN(LowerTest)
#include "lower_test.moc"
