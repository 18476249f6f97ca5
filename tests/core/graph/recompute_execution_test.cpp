// Proof by execution of activation recomputation and of products in fewer bits: every run equals the
// unsharded run.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/designs.h"
#include "support/equivalence.h"

using namespace shardscape;
using namespace shardscape::test;

class RecomputeExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void distributedCheckpoints_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("cp");
    QTest::addColumn<int>("kv_heads");
    for (const char* architecture : {"llama", "gpt"})
      for (int cp : {1, 2})
        for (int kv_heads : {1, 2})
          for (int tp : {2, 4})
            QTest::newRow(qPrintable(
                QString("%1 tp%2 cp%3 kv heads %4").arg(architecture).arg(tp).arg(cp).arg(kv_heads)))
                << QString(architecture) << tp << cp << kv_heads;
  }
  void distributedCheckpoints() {
    QFETCH(QString, architecture);
    QFETCH(int, tp);
    QFETCH(int, cp);
    QFETCH(int, kv_heads);
    Design d = tiny_design(qPrintable(architecture));
    d.model.kv_heads = kv_heads;
    d.parallel.tp = tp;
    d.parallel.cp = cp;
    d.parallel.dp = 2;
    d.workload.recompute = Recompute::Full;
    d.workload.distribute_saved_activations = true;
    d.workload.dropout = architecture == "gpt";
    d.workload.gathered_logits = kv_heads == 1;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void recomputedLayers_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<bool>("block");
    QTest::addColumn<int>("number");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("v");
    QTest::addColumn<int>("cp");
    QTest::addColumn<bool>("distribute");
    struct Run {
      int number, tp;
      bool sp;
      int pp, v, cp;
      bool distribute;
    };
    for (const char* architecture : {"llama", "gpt", "gemma2"})
      for (const char* profile : {"flash", "megatron-2022", "transformers-eager"})
        for (bool block : {false, true})
          for (const auto& [number, tp, sp, pp, v, cp, distribute] :
               {Run{1, 2, true, 1, 1, 1, false}, Run{2, 1, false, 1, 1, 1, false},
                Run{2, 2, true, 2, 1, 1, false}, Run{3, 2, false, 1, 1, 1, true},
                Run{2, 2, false, 2, 2, 1, true}, Run{3, 1, false, 2, 1, 2, false},
                Run{9, 2, true, 2, 1, 1, false}, Run{1, 2, false, 2, 2, 1, true}})
            QTest::newRow(qPrintable(QString("%1 %2 %3 of %4 tp%5%6 pp%7 v%8 cp%9%10")
                                         .arg(architecture, profile, block ? "block" : "uniform")
                                         .arg(number)
                                         .arg(tp)
                                         .arg(sp ? "+sp" : "")
                                         .arg(pp)
                                         .arg(v)
                                         .arg(cp)
                                         .arg(distribute ? " distributed" : "")))
                << QString(architecture) << QString(profile) << block << number << tp << sp << pp << v << cp
                << distribute;
  }
  void recomputedLayers() {
    QFETCH(QString, architecture);
    QFETCH(QString, profile);
    QFETCH(bool, block);
    QFETCH(int, number);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, pp);
    QFETCH(int, v);
    QFETCH(int, cp);
    QFETCH(bool, distribute);
    Design d = tiny_design(qPrintable(architecture));
    d.model.layers = v == 2 ? 8 : 7;
    d.parallel.tp = tp;
    d.parallel.pp = pp;
    d.parallel.cp = cp;
    d.parallel.virtual_stages = v;
    d.parallel.sequence_parallel = sp;
    d.workload.batch = 4;
    d.workload.profile = profile.toStdString();
    d.workload.dropout = architecture == "gpt";
    d.workload.recompute = Recompute::Full;
    d.workload.recompute_method = block ? RecomputeMethod::Block : RecomputeMethod::Uniform;
    d.workload.recompute_num_layers = number;
    d.workload.distribute_saved_activations = distribute;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void recomputedModules_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QString>("modules");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("cp");
    for (const char* architecture : {"llama", "gpt", "qwen3", "gemma2"})
      for (const char* profile : {"flash", "megatron-2022", "litgpt", "fairscale"})
        for (const char* modules : {"layernorm", "mlp_act", "mlp", "layernorm,mlp",
                                    "core_attn,layernorm,mlp_act", "core_attn,layernorm,mlp_act,mlp"})
          for (const auto& [tp, sp, cp] :
               {std::tuple{1, false, 1}, {2, true, 1}, {2, false, 2}, {4, true, 1}})
            QTest::newRow(qPrintable(QString("%1 %2 %3 tp%4%5 cp%6")
                                         .arg(architecture, profile, modules)
                                         .arg(tp)
                                         .arg(sp ? "+sp" : "")
                                         .arg(cp)))
                << QString(architecture) << QString(profile) << QString(modules) << tp << sp << cp;
  }
  void recomputedModules() {
    QFETCH(QString, architecture);
    QFETCH(QString, profile);
    QFETCH(QString, modules);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, cp);
    Design d = tiny_design(qPrintable(architecture));
    d.parallel.tp = tp;
    d.parallel.cp = cp;
    d.parallel.dp = 2;
    d.parallel.sequence_parallel = sp;
    d.parallel.context = tp == 1 ? ContextMode::AllGather : ContextMode::Ulysses;
    if (cp > 1) d.model.kv_heads = 4;
    d.workload.profile = profile.toStdString();
    d.workload.dropout = architecture == "gpt";
    d.workload.recompute = Recompute::Selective;
    QVERIFY(!set_knob(d, *find_knob("recompute_modules"), modules.toStdString()));
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // Quantization is a copy here: what it moves and keeps, and who reads which copy, is what is proven.
  void quantizedProducts_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QString>("recompute");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("cp");
    for (const char* architecture : {"llama", "gpt", "gemma2"})
      for (const char* profile : {"flash", "megatron-2022", "fairscale", "litgpt"})
        for (const char* recompute :
             {"none", "layernorm", "mlp_act,core_attn", "layernorm,mlp", "full", "groups", "block"})
          for (const auto& [tp, sp, cp] :
               {std::tuple{1, false, 1}, {2, true, 1}, {2, false, 2}, {4, true, 1}}) {
            if (profile[0] != 'f' && (architecture[0] != 'l' || tp != 2)) continue;
            QTest::newRow(qPrintable(QString("%1 %2 recompute %3 tp%4%5 cp%6")
                                         .arg(architecture, profile, recompute)
                                         .arg(tp)
                                         .arg(sp ? "+sp" : "")
                                         .arg(cp)))
                << QString(architecture) << QString(profile) << QString(recompute) << tp << sp << cp;
          }
  }
  void quantizedProducts() {
    QFETCH(QString, architecture);
    QFETCH(QString, profile);
    QFETCH(QString, recompute);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, cp);
    Design d = tiny_design(qPrintable(architecture));
    d.model.heads = d.model.kv_heads = 8;
    d.model.hidden = 16;
    d.model.head_dim = 8;
    d.model.ffn = 64;
    d.model.kv_heads = 2;
    d.parallel.tp = tp;
    d.parallel.cp = cp;
    d.parallel.dp = 2;
    d.parallel.sequence_parallel = sp;
    d.workload.seq = 32;
    d.workload.batch = 2;
    d.model.positions = d.model.positions > 0 ? 32 : 0;
    d.workload.profile = profile.toStdString();
    d.workload.dropout = architecture == "gpt";
    d.workload.compute = ComputePrecision::FP8;
    const bool whole = recompute == "full" || recompute == "groups" || recompute == "block";
    d.workload.recompute = recompute == "none" ? Recompute::None
                           : whole             ? Recompute::Full
                                               : Recompute::Selective;
    d.workload.recompute_num_layers = recompute == "groups" ? 2 : 1;
    if (recompute == "block") d.workload.recompute_method = RecomputeMethod::Block;
    if (d.workload.recompute == Recompute::Selective)
      QVERIFY(!set_knob(d, *find_knob("recompute_modules"), recompute.toStdString()));
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }
};

QTEST_APPLESS_MAIN(RecomputeExecutionTest)
#include "recompute_execution_test.moc"
