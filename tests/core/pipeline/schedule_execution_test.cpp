// Proof by execution of the pipeline schedules: a step in any order equals the unsharded step. In a split
// backward, the second part has only the tensors that the graph lists for deferred weight gradients.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "mesh/pipeline_layout.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/schedules.h"

using namespace shardscape;
using namespace shardscape::test;

class ScheduleExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QString>("also");
    struct Run {
      int pp, tp;
      bool sp;
      int dp;
      const char* also;
    };
    for (const std::string& id : other_schedules()) {
      const char* schedule = id.c_str();
      for (const char* architecture : {"mixtral", "deepseek-moe", "latent", "mamba", "mamba2"})
        for (const int dp : {1, 2})
          QTest::addRow("%s %s pp2 dp%d", architecture, schedule, dp)
              << architecture << schedule << 2 << 2 << true << dp << (dp == 1 ? "none" : "full");
      for (const char* architecture : {"llama", "gpt", "gemma2", "qwen3"})
        for (const auto& [pp, tp, sp, dp, also] :
             {Run{2, 1, false, 1, "none"}, Run{4, 1, false, 1, "none"}, Run{2, 2, true, 2, "none"},
              Run{2, 2, false, 1, "selective"}, Run{2, 2, true, 1, "full"}, Run{2, 1, false, 1, "groups"},
              Run{2, 2, false, 1, "block"}, Run{2, 1, false, 1, "zigzag"}, Run{2, 2, true, 1, "ulysses"}})
          QTest::addRow("%s %s pp%d tp%d%s dp%d %s", architecture, schedule, pp, tp, sp ? "+sp" : "", dp,
                        also)
              << architecture << schedule << pp << tp << sp << dp << also;
    }
    // A forward and a backward at once: experts are spread over the replicas.
    for (const char* architecture : {"mixtral", "deepseek-moe"})
      for (const auto& [pp, tp, sp, dp, also] :
           {Run{1, 1, false, 2, "none"}, Run{1, 2, true, 4, "flex"}, Run{1, 1, false, 2, "selective"},
            Run{2, 1, false, 2, "none"}, Run{2, 2, true, 2, "flex"}, Run{2, 1, false, 2, "few"},
            Run{2, 2, false, 2, "selective"}, Run{4, 1, false, 2, "few"}, Run{2, 1, false, 2, "zigzag"}})
        QTest::addRow("%s pairs pp%d tp%d%s dp%d %s", architecture, pp, tp, sp ? "+sp" : "", dp, also)
            << architecture << "pairs" << pp << tp << sp << dp << also;
  }

  void equalsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(QString, schedule);
    QFETCH(int, pp);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, dp);
    QFETCH(QString, also);
    Design d = tiny_design(qPrintable(architecture));
    const bool pairs = schedule == "pairs";
    d.parallel.ep_comm_overlap = pairs;
    QVERIFY(!set_knob(d, *find_knob("schedule"), pairs ? "1f1b" : schedule.toStdString()));
    d.parallel.virtual_stages = schedule.endsWith("v") || schedule == "flexible" || (pairs && pp > 1) ? 2 : 1;
    if (schedule == "flexible") d.parallel.microbatch_group = pp + 1;
    d.parallel.pp = pp;
    d.parallel.tp = tp;
    d.parallel.dp = dp;
    d.parallel.sequence_parallel = sp;
    d.model.layers = 2 * pp;
    d.model.tied_embeddings = pp == 4;
    d.workload.microbatch = 1;
    d.workload.batch = dp *
                       (pairs ? (also == "few" ? pp : 4 * pp) : 2 * pp + (schedule == "dualpipe" ? 2 : 1));
    d.workload.dropout = architecture == "gpt";
    if (architecture == "mixtral" || architecture == "deepseek-moe") {
      d.model.experts = 4;
      d.model.experts_per_token = 2;
      d.model.expert_ffn = 8;
      d.model.shared_experts = architecture == "mixtral" ? 0 : 2;
      d.model.dense_layers = architecture == "mixtral" ? 0 : 1;
      d.parallel.ep = dp;
    }
    if (also == "zigzag" || also == "ulysses") {
      d.parallel.cp = 2;
      d.parallel.context = also == "zigzag" ? ContextMode::Zigzag : ContextMode::Ulysses;
      d.model.kv_heads = 4;
      if (architecture == "gemma2") d.model.window = 0;
    }
    if (also == "selective") d.workload.recompute = Recompute::Selective;
    if (also == "full" || also == "groups" || also == "block") d.workload.recompute = Recompute::Full;
    if (also == "groups") {
      d.model.layers = 4 * pp;
      d.workload.recompute_num_layers = 2;
    }
    if (also == "block") {
      d.model.layers = 4 * pp;
      d.workload.recompute_method = RecomputeMethod::Block;
    }
    if (also == "flex") d.parallel.dispatcher = Dispatcher::Flex;
    if (also == "flex") d.cluster.gpus_per_node = dp * tp / 2;  // two nodes of a stage
    QCOMPARE(schedule_of(d.parallel) == ScheduleKind::OneFOneBPairs, pairs);
    QCOMPARE(first_error(d), std::string());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }
};

QTEST_APPLESS_MAIN(ScheduleExecutionTest)
#include "schedule_execution_test.moc"
