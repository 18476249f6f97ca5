// Mixture of experts, proved by execution: tokens that are sent once per node, or sent again in the backward
// pass.
#include <QtTest>
#include <algorithm>
#include <map>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "graph/build.h"
#include "support/equivalence.h"
#include "support/expert_designs.h"

using namespace shardscape;
using namespace shardscape::test;

class ExpertDispatchExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Sent once per node, then inside the node: nodes of so many ranks, experts in so many groups of which a
  // token picks some.
  void byNodeEqualsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QList<int>>("mesh");    // tp, sp, cp, dp, pp, ep, etp, ranks of a node
    QTest::addColumn<QList<int>>("groups");  // of experts, of a token
    QTest::addColumn<int>("recompute");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QString>("precision");
    const auto row = [](const char* name, QList<int> mesh, QList<int> groups, int recompute = 0,
                        const char* precision = "") {
      for (const char* architecture : {"mixtral", "deepseek-moe", "deepseek3", "gpt-oss"})
        for (const char* profile : {"flash", "litgpt", "megatron-core-te"}) {
          if (QString(profile) == "litgpt" && QString(architecture) != "mixtral") continue;
          if (*precision && QString(architecture) != "deepseek-moe") continue;
          QTest::newRow(qPrintable(QString("%1 %2: %3%4").arg(architecture, profile, name, precision)))
              << QString(architecture) << mesh << groups << recompute << QString(profile)
              << QString(precision);
        }
    };
    row("2 nodes of 2", {1, 0, 1, 4, 1, 4, 0, 2}, {1, 1});
    row("2 nodes of 2, one group", {1, 0, 1, 4, 1, 4, 0, 2}, {2, 1});
    row("2 nodes of 2, 2 of 4 groups", {1, 0, 1, 4, 1, 4, 0, 2}, {4, 2});
    row("4 nodes of 1, 2 of 4 groups", {1, 0, 1, 4, 1, 4, 0, 1}, {4, 2});
    row("4 nodes of 2, 1 of 2 groups", {1, 0, 1, 8, 1, 8, 0, 2}, {2, 1});
    row("2 nodes of 2 twice", {1, 0, 1, 8, 1, 4, 0, 2}, {2, 1});
    row("2 nodes over dp and cp", {1, 0, 2, 2, 1, 4, 0, 2}, {2, 1});
    row("tp 2", {2, 0, 1, 4, 1, 4, 0, 4}, {2, 1});
    row("tp 2 sp pp 2", {2, 1, 1, 4, 2, 4, 0, 4}, {4, 2});
    row("tp 2 sp, a node per rank of ep", {2, 1, 1, 2, 1, 2, 0, 2}, {2, 1});
    row("folded, experts whole", {2, 1, 1, 2, 1, 4, 1, 2}, {2, 1});
    row("folded, experts over 2 of 4", {4, 1, 1, 2, 1, 4, 2, 4}, {2, 1});
    row("selective", {2, 1, 1, 4, 1, 4, 0, 4}, {2, 1}, 1);
    row("full recompute", {2, 1, 1, 4, 1, 4, 0, 4}, {4, 2}, 2);
    row("", {1, 0, 1, 4, 1, 4, 0, 2}, {4, 2}, 0, "fp8 dispatch");
    row("", {2, 1, 1, 4, 1, 4, 0, 4}, {4, 2}, 0, "mxfp8");
    row("", {2, 1, 1, 4, 1, 4, 0, 4}, {4, 2}, 2, "mxfp8, fp8 dispatch");
  }
  void byNodeEqualsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(QList<int>, mesh);
    QFETCH(QList<int>, groups);
    QFETCH(int, recompute);
    QFETCH(QString, profile);
    QFETCH(QString, precision);
    Design d = experts_design(qPrintable(architecture));
    d.model.layers = 2;
    d.model.experts = 8;
    d.model.experts_per_token = 4;
    d.model.expert_groups = groups[0];
    d.model.groups_per_token = groups[1];
    d.parallel.tp = mesh[0];
    d.parallel.sequence_parallel = mesh[1];
    d.parallel.cp = mesh[2];
    d.parallel.dp = mesh[3];
    d.parallel.pp = mesh[4];
    d.parallel.ep = mesh[5];
    d.parallel.etp = mesh[6];
    d.cluster.gpus_per_node = mesh[7];
    d.parallel.dispatcher = Dispatcher::Flex;
    d.workload.recompute = static_cast<Recompute>(recompute);
    if (recompute == 1) d.workload.recompute_modules.add(RecomputeModule::Moe);
    d.workload.profile = profile.toStdString();
    if (!precision.isEmpty()) {
      d.model.hidden = 128;
      d.model.ffn = d.model.expert_ffn = 64;
      d.model.head_dim = 16;
      d.workload.seq = 64;
      d.workload.vocab_multiple = 1;
    }
    if (precision.startsWith("mxfp8")) d.workload.compute = ComputePrecision::MXFP8;
    if (precision.endsWith("fp8 dispatch")) d.workload.dispatch_dtype = DispatchPrecision::FP8;
    PlanCache plans;
    const auto graph = cached_graph(structure_of(d), plans);
    const auto& segments = std::get<std::shared_ptr<const Graph>>(graph)->segments;
    const auto sends = [&](OpKind kind) {
      return std::any_of(segments.begin(), segments.end(), [&](const Segment& s) {
        return std::any_of(s.ops.begin(), s.ops.end(), [&](const Op& op) { return op.kind == kind; });
      });
    };
    QVERIFY(sends(OpKind::DispatchNodes) && sends(OpKind::CombineNodes));
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // Modules of selective recompute that only these layers have: what is replayed, its exchanges included,
  // changes no number.
  void recomputedModules_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("modules");
    QTest::addColumn<QString>("dispatcher");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QList<int>>("mesh");  // tp, sequence parallel, cp, dp, ep, etp
    const std::tuple<const char*, QList<int>> meshes[] = {{"one rank", {1, 0, 1, 1, 1, 0}},
                                                          {"ep 2", {1, 0, 1, 2, 2, 0}},
                                                          {"tp 2 ep 4 whole experts", {2, 1, 1, 4, 4, 1}},
                                                          {"cp 2 ep 2", {1, 0, 2, 2, 2, 0}}};
    for (const char* architecture : {"mixtral", "qwen2-moe", "deepseek3", "gpt-oss"})
      for (const QString modules : {"moe", "moe_act", "shared_experts", "mla_up_proj",
                                    "layernorm,moe_act,mla_up_proj", "moe,mla_up_proj,core_attn"})
        for (const char* dispatcher : {"alltoall", "allgather", "flex"})
          for (const auto& [name, mesh] : meshes) {
            if (modules.contains("mla") && QByteArray(architecture) != "deepseek3") continue;
            const bool plain = dispatcher[3] == 't';  // alltoall
            if (!plain && mesh[4] != 2) continue;
            for (const char* profile : {"flash", "megatron-core-unfused"}) {
              if (profile[0] == 'm' && (!plain || mesh[0] == 1)) continue;
              QTest::newRow(
                  qPrintable(QString("%1 %2 %3 %4 %5").arg(architecture, modules, dispatcher, name, profile)))
                  << QString(architecture) << modules << QString(dispatcher) << QString(profile) << mesh;
            }
          }
  }
  void recomputedModules() {
    QFETCH(QString, architecture);
    QFETCH(QString, modules);
    QFETCH(QString, dispatcher);
    QFETCH(QString, profile);
    QFETCH(QList<int>, mesh);
    Design d = experts_design(qPrintable(architecture));
    d.parallel.tp = mesh[0];
    d.parallel.sequence_parallel = mesh[1];
    d.parallel.cp = mesh[2];
    d.parallel.dp = mesh[3];
    d.parallel.ep = mesh[4];
    d.parallel.etp = mesh[5];
    d.cluster.gpus_per_node = 2;
    QVERIFY(!set_knob(d, *find_knob("dispatcher"), dispatcher.toStdString()));
    d.workload.profile = profile.toStdString();
    d.workload.recompute = Recompute::Selective;
    QVERIFY(!set_knob(d, *find_knob("recompute_modules"), modules.toStdString()));
    PlanCache plans;
    const auto graph = cached_graph(structure_of(d), plans);
    const auto& segments = std::get<std::shared_ptr<const Graph>>(graph)->segments;
    const bool there = modules != "shared_experts" || d.model.shared_experts > 0;
    QCOMPARE(std::any_of(segments.begin(), segments.end(),
                         [](const Segment& s) {
                           return std::any_of(s.ops.begin(), s.ops.end(),
                                              [](const Op& op) { return op.phase == Phase::Recompute; });
                         }),
             there);
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // DeepSeek-V3 over 8 nodes of 8: 4 copies of a token over nodes, 8 inside, in FP8 with a float32 per 128
  // there and bf16 back; the weights of 8 choices travel with each copy. By all-to-all 8 copies, whatever the
  // groups.
  void bytesByNode_data() {
    QTest::addColumn<QString>("dispatcher");
    QTest::addColumn<int>("groups_per_token");
    QTest::addColumn<qint64>("over_nodes");
    QTest::addColumn<qint64>("in_nodes");
    QTest::addColumn<qint64>("at_once");
    constexpr qint64 tokens = 4096, there = 7168 * 33 / 32, back = 7168 * 2, weights = 8 * 4;
    QTest::newRow("4 of 8 nodes") << "flex" << 4 << tokens * 4 * (there + weights + back)
                                  << tokens * 8 * (there + back) << qint64{0};
    QTest::newRow("any nodes: 5.295, so 2,712 slots of each")
        << "flex" << 8 << 2712 * 8 * (there + weights + back) << tokens * 8 * (there + back) << qint64{0};
    QTest::newRow("all-to-all, 4 of 8 groups")
        << "alltoall" << 4 << qint64{0} << qint64{0} << tokens * 8 * (there + back);
    QTest::newRow("all-to-all, any") << "alltoall" << 8 << qint64{0} << qint64{0}
                                     << tokens * 8 * (there + back);
  }
  void bytesByNode() {
    QFETCH(QString, dispatcher);
    QFETCH(int, groups_per_token);
    Design d = default_design();
    QVERIFY(apply_preset(d, "deepseek-v3"));
    d.parallel = {};
    d.parallel.dp = d.parallel.ep = 64;
    d.model.groups_per_token = groups_per_token;
    d.workload.seq = 4096;
    d.workload.batch = 64;
    d.workload.dispatch_dtype = DispatchPrecision::FP8;
    QVERIFY(!set_knob(d, *find_knob("dispatcher"), dispatcher.toStdString()));
    QVERIFY(!has_errors(validate(d)));
    PlanCache plans;
    const auto graph = std::get<std::shared_ptr<const Graph>>(cached_graph(structure_of(d), plans));
    const Segment& layer = *std::find_if(
        graph->segments.begin(), graph->segments.end(), [](const Segment& s) {
          return s.kind == SegmentKind::Layer && std::any_of(s.ops.begin(), s.ops.end(), [](const Op& op) {
                   return op.kind == OpKind::Dispatch;
                 });
        });
    const Binding binding = bind_symbols(d);
    std::map<std::string, qint64> bytes;
    for (const Op& op : layer.ops)
      if (op.kind == OpKind::AllToAll && op.phase == Phase::Forward)
        bytes[group_name(redistribution(op).group)] += static_cast<qint64>(
            std::get<Wide>(evaluate(collective_bytes(layer, op), binding)));
    QTEST(bytes["ep_node"], "over_nodes");
    QTEST(bytes["ep_local"], "in_nodes");
    QTEST(bytes["ep"], "at_once");
  }
};

QTEST_APPLESS_MAIN(ExpertDispatchExecutionTest)
#include "expert_dispatch_execution_test.moc"
