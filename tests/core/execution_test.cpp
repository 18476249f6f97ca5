// Proof by execution: for every strategy, loss, outputs and gradients equal the unsharded run, and that run
// equals finite differences.
#include <QtTest>
#include <numeric>

#include "design/knobs/knobs.h"
#include "support/designs.h"
#include "support/equivalence.h"

using namespace shardscape;
using namespace shardscape::test;

// Architectures beside llama and gpt, and what each is run under.
constexpr const char* kFamilies[] = {"mistral", "qwen2", "qwen3", "gemma", "gemma2", "mpt"};
struct FamilyRun {
  int tp;
  bool sp;
  int pp, dp, kv_heads, recompute;
  const char* profile;
};
constexpr FamilyRun kFamilyRuns[] = {
    {1, false, 2, 1, 2, 0, "flash"}, {1, false, 1, 2, 2, 0, "flash"}, {2, false, 1, 1, 2, 0, "flash"},
    {2, true, 1, 1, 2, 0, "flash"},  {2, true, 2, 2, 2, 0, "flash"},  {4, false, 1, 1, 2, 0, "flash"},
    {4, true, 1, 1, 2, 0, "flash"},  {4, true, 1, 1, 1, 0, "flash"},  {4, false, 2, 2, 1, 0, "flash"},
    {2, true, 2, 1, 2, 1, "flash"},  {4, true, 2, 1, 1, 2, "flash"},  {2, true, 2, 1, 2, 0, "megatron-2022"}};

// Every kernel profile beside the two of the families, with KV heads shared by query heads and not.
constexpr const char* kProfiles[] = {"megatron-2022-unfused",
                                     "megatron-core-unfused",
                                     "transformers-eager",
                                     "transformers-flash",
                                     "fairscale",
                                     "litgpt",
                                     "litgpt-math",
                                     "litgpt-capped",
                                     "megatron-core-te",
                                     "megatron-core-te-fused-loss",
                                     "torchtitan",
                                     "torchtitan-selective"};
constexpr FamilyRun kProfileRuns[] = {{1, false, 2, 2, 2, 0, ""}, {2, false, 1, 1, 4, 0, ""},
                                      {2, true, 2, 2, 2, 0, ""},  {4, false, 1, 1, 2, 0, ""},
                                      {4, true, 1, 1, 1, 0, ""},  {2, true, 2, 1, 2, 1, ""},
                                      {4, true, 2, 1, 1, 2, ""}};

class ExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("recompute");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<bool>("dropout");
    for (const char* profile : {"flash", "megatron-2022"})
      for (bool sp : {false, true})
        for (int recompute : {0, 1, 2}) {
          const bool dropout = profile[0] == 'm';
          QTest::newRow(qPrintable(QString("gpt %1 dropout %2 sp %3 recompute %4")
                                       .arg(profile)
                                       .arg(dropout)
                                       .arg(sp)
                                       .arg(recompute)))
              << "gpt" << 2 << sp << 2 << 2 << "1,2"
              << "1f1b" << 2 << recompute << profile << dropout;
        }
    for (int recompute : {1, 2})
      for (const char* architecture : {"llama", "gpt"})
        for (bool sp : {false, true})
          QTest::newRow(qPrintable(QString("%1 recompute %2 sp %3").arg(architecture).arg(recompute).arg(sp)))
              << QString(architecture) << 2 << sp << 2 << 2 << "1,2"
              << "1f1b" << 2 << recompute << "flash" << false;
    for (const char* architecture : kFamilies)
      for (const auto& [tp, sp, pp, dp, kv_heads, recompute, profile] : kFamilyRuns)
        QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 kv heads %6 recompute %7 %8")
                                     .arg(architecture)
                                     .arg(tp)
                                     .arg(sp ? "+sp" : "")
                                     .arg(pp)
                                     .arg(dp)
                                     .arg(kv_heads)
                                     .arg(recompute)
                                     .arg(profile)))
            << QString(architecture) << tp << sp << pp << dp << (pp == 2 ? "1,2" : "3") << "1f1b" << kv_heads
            << recompute << QString(profile) << false;
    for (const char* profile : kProfiles)
      for (const char* architecture : {"llama", "qwen3", "gemma2"})
        for (const auto& [tp, sp, pp, dp, kv_heads, recompute, ignored] : kProfileRuns) {
          if (architecture[0] == 'q' && (pp == 1 || recompute != 0)) continue;  // for its norms over heads
          QTest::newRow(qPrintable(QString("%1 %2 tp%3%4 pp%5 dp%6 kv heads %7 recompute %8")
                                       .arg(architecture, profile)
                                       .arg(tp)
                                       .arg(sp ? "+sp" : "")
                                       .arg(pp)
                                       .arg(dp)
                                       .arg(kv_heads)
                                       .arg(recompute)))
              << QString(architecture) << tp << sp << pp << dp << (pp == 2 ? "1,2" : "3") << "1f1b"
              << kv_heads << recompute << QString(profile) << false;
        }
    for (const char* architecture : {"llama", "gpt"})
      for (int tp : {1, 2, 4})
        for (bool sp : {false, true})
          for (int pp : {1, 2, 4})
            for (int dp : {1, 2})
              for (const char* schedule : {"1f1b", "gpipe"}) {
                if ((sp && tp == 1) || (pp == 1 && schedule[0] == 'g')) continue;
                const QString layers = pp == 4 ? "0,1,2,0" : pp == 2 ? "1,2" : "3";
                const QString name = QString("%1 tp%2%3 pp%4 dp%5 %6")
                                         .arg(architecture)
                                         .arg(tp)
                                         .arg(sp ? "+sp" : "")
                                         .arg(pp)
                                         .arg(dp)
                                         .arg(schedule);
                QTest::newRow(qPrintable(name)) << QString(architecture) << tp << sp << pp << dp << layers
                                                << QString(schedule) << 2 << 0 << "flash" << false;
                if (architecture[0] == 'l' && tp == 4)
                  QTest::newRow(qPrintable(name + " one kv head"))
                      << QString(architecture) << tp << sp << pp << dp << layers << QString(schedule) << 1
                      << 0 << "flash" << false;
              }
  }

  void equalsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(QString, layers);
    QFETCH(QString, schedule);
    QFETCH(int, kv_heads);
    QFETCH(int, recompute);
    QFETCH(QString, profile);
    QFETCH(bool, dropout);
    Design d = tiny_design(qPrintable(architecture));
    d.model.layers = 3;
    d.model.kv_heads = kv_heads;
    d.workload.batch = 12;
    d.workload.profile = profile.toStdString();
    d.workload.dropout = dropout;
    d.workload.recompute = static_cast<Recompute>(recompute);
    d.parallel.tp = tp;
    d.parallel.pp = pp;
    d.parallel.dp = dp;
    d.parallel.sequence_parallel = sp;
    d.parallel.schedule = schedule == "gpipe" ? ScheduleKind::GPipe : ScheduleKind::OneFOneB;
    for (const QString& n : layers.split(',')) d.parallel.stage_layers.push_back(n.toInt());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void virtualStagesEqualUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("v");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<bool>("scatter");
    struct Run {
      int tp;
      bool sp;
      int pp, v, dp;
      const char* layers;
      bool scatter;
    };
    for (const char* architecture : {"llama", "gpt"})
      for (const auto& [tp, sp, pp, v, dp, layers, scatter] :
           {Run{1, false, 2, 2, 1, "", false}, Run{2, false, 2, 2, 2, "", false},
            Run{2, true, 2, 2, 1, "", false}, Run{1, false, 4, 2, 1, "0,1,1,1,1,1,1,0", false},
            Run{1, false, 3, 2, 1, "", false}, Run{2, true, 2, 3, 1, "0,2,1,1,2,0", false},
            Run{1, false, 8, 2, 2, "0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0", false},
            Run{2, false, 2, 1, 2, "", true}, Run{4, false, 3, 1, 1, "", true},
            Run{4, false, 2, 2, 1, "", true}, Run{2, false, 4, 2, 2, "0,1,1,1,1,1,1,0", true}})
        QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 v%5 dp%6 %7%8")
                                     .arg(architecture)
                                     .arg(tp)
                                     .arg(sp ? "+sp" : "")
                                     .arg(pp)
                                     .arg(v)
                                     .arg(dp)
                                     .arg(layers, scatter ? " scatter-gather" : "")))
            << QString(architecture) << tp << sp << pp << v << dp << QString(layers) << scatter;
  }

  void virtualStagesEqualUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, pp);
    QFETCH(int, v);
    QFETCH(int, dp);
    QFETCH(QString, layers);
    QFETCH(bool, scatter);
    Design d = tiny_design(qPrintable(architecture));
    d.parallel.tp = tp;
    d.parallel.pp = pp;
    d.parallel.dp = dp;
    d.parallel.sequence_parallel = sp;
    d.parallel.virtual_stages = v;
    d.parallel.scatter_gather_pipeline = scatter;
    for (const QString& n : layers.split(',', Qt::SkipEmptyParts))
      d.parallel.stage_layers.push_back(n.toInt());
    d.model.layers = d.parallel.stage_layers.empty()
                         ? 2 * pp
                         : std::accumulate(d.parallel.stage_layers.begin(), d.parallel.stage_layers.end(),
                                           int64_t{0});
    d.workload.batch = (dp == 2 ? 1 : 2) * pp * dp;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

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

  void contextParallel_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("context");
    QTest::addColumn<int>("cp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("recompute");
    for (const char* architecture : {"llama", "gpt"})
      for (const QString context :
           {"all-gather", "ulysses", "ring", "zigzag", "ulysses-ring", "ulysses-zigzag"})
        for (int cp : {2, 4})
          for (int tp : {1, 2})
            for (bool sp : {false, true})
              for (int dp : {1, 2})
                for (int kv_heads : {1, 2, 4})
                  for (int recompute : {0, 1, 2}) {
                    const int exchanging = context == "ulysses" ? cp : context.startsWith("ulysses") ? 2 : 1;
                    if ((sp && tp == 1) || (exchanging > 1 && kv_heads % (tp * exchanging) != 0) ||
                        (recompute != 0 && (dp == 1 || kv_heads == 1)))
                      continue;
                    if (context.startsWith("ulysses-") && cp == 2) continue;
                    if (dp == 1 && (context.endsWith("ring") || context.endsWith("zigzag")))
                      continue;  // nothing that dp 2 has not
                    QTest::newRow(qPrintable(QString("%1 %2 cp%3 tp%4%5 dp%6 kv heads %7 recompute %8")
                                                 .arg(architecture, context)
                                                 .arg(cp)
                                                 .arg(tp)
                                                 .arg(sp ? "+sp" : "")
                                                 .arg(dp)
                                                 .arg(kv_heads)
                                                 .arg(recompute)))
                        << QString(architecture) << context << cp << tp << sp << dp << kv_heads << recompute;
                  }
    // Other statistics, biases, caps and penalties on distance go round as well.
    for (const char* architecture : {"qwen2", "qwen3", "gemma", "mpt"})
      for (const char* context : {"ring", "zigzag"})
        for (int recompute : {0, 1, 2})
          QTest::newRow(qPrintable(QString("%1 %2 recompute %3").arg(architecture, context).arg(recompute)))
              << QString(architecture) << QString(context) << 4 << 2 << true << 1 << 2 << recompute;
  }
  void contextParallel() {
    QFETCH(QString, context);
    QFETCH(int, cp);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, dp);
    QFETCH(int, kv_heads);
    QFETCH(int, recompute);
    QFETCH(QString, architecture);
    Design d = tiny_design(qPrintable(architecture));
    d.model.kv_heads = kv_heads;
    d.parallel.cp = cp;
    d.parallel.tp = tp;
    d.parallel.dp = dp;
    d.parallel.pp = 2;
    d.parallel.sequence_parallel = sp;
    QVERIFY(!set_knob(d, *find_knob("context"), context.toStdString()));
    d.parallel.ulysses_degree = context.startsWith("ulysses-") ? 2 : 0;
    d.workload.recompute = static_cast<Recompute>(recompute);
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // Latent attention with and without compressed queries, and modules of multi-token prediction behind the
  // head.
  void latentAttention_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("cp");
    QTest::addColumn<bool>("ulysses");
    QTest::addColumn<int>("q_rank");
    QTest::addColumn<int>("mtp");
    QTest::addColumn<int>("recompute");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<bool>("tied");
    struct Run {
      int tp;
      bool sp;
      int pp, dp, cp;
      bool ulysses;
      int recompute;
      const char* profile;
    };
    constexpr Run kRuns[] = {
        {1, false, 2, 2, 1, false, 0, "flash"},      {2, false, 1, 1, 1, false, 0, "flash"},
        {2, true, 1, 1, 1, false, 0, "flash"},       {4, true, 2, 2, 1, false, 0, "flash"},
        {4, false, 2, 1, 1, false, 1, "flash"},      {2, true, 2, 1, 1, false, 1, "flash"},
        {2, true, 2, 1, 1, false, 2, "flash"},       {1, false, 1, 2, 2, false, 0, "flash"},
        {2, true, 2, 1, 2, false, 0, "flash"},       {2, true, 2, 1, 2, true, 0, "flash"},
        {1, false, 2, 1, 4, true, 0, "flash"},       {2, false, 1, 1, 2, false, 2, "flash"},
        {1, false, 1, 1, 1, false, 0, "litgpt"},     {2, true, 2, 1, 1, false, 0, "litgpt"},
        {2, true, 2, 1, 1, false, 1, "litgpt-math"}, {2, true, 2, 1, 1, false, 0, "transformers-eager"},
        {2, false, 2, 2, 1, false, 0, "fairscale"},  {2, true, 2, 1, 1, false, 0, "megatron-2022"}};
    for (const auto& [tp, sp, pp, dp, cp, ulysses, recompute, profile] : kRuns)
      for (int q_rank : {12, 0})
        for (int mtp : {0, 1, 2}) {
          const bool tied = mtp == 2 && q_rank == 0;
          QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 cp%6%7 recompute %8 q rank %9")
                                       .arg(profile)
                                       .arg(tp)
                                       .arg(sp ? "+sp" : "")
                                       .arg(pp)
                                       .arg(dp)
                                       .arg(cp)
                                       .arg(ulysses ? " ulysses" : "")
                                       .arg(recompute)
                                       .arg(q_rank) +
                                   QString(" mtp %1%2").arg(mtp).arg(tied ? " tied" : "")))
              << tp << sp << pp << dp << cp << ulysses << q_rank << mtp << recompute << QString(profile)
              << tied;
        }
  }
  void latentAttention() {
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(int, cp);
    QFETCH(bool, ulysses);
    QFETCH(int, q_rank);
    QFETCH(int, mtp);
    QFETCH(int, recompute);
    QFETCH(QString, profile);
    QFETCH(bool, tied);
    Design d = tiny_design("latent");
    d.model.q_rank = q_rank;
    d.model.mtp_layers = mtp;
    d.model.tied_embeddings = tied;
    d.parallel.tp = tp;
    d.parallel.sequence_parallel = sp;
    d.parallel.pp = pp;
    d.parallel.dp = dp;
    d.parallel.cp = cp;
    d.parallel.context = ulysses ? ContextMode::Ulysses : ContextMode::AllGather;
    d.workload.recompute = static_cast<Recompute>(recompute);
    d.workload.profile = profile.toStdString();
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // State-space mixers: channels or groups of heads over tp, kernels that make results again, a residual
  // stream in float32.
  void mixersEqualUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("recompute");
    for (const char* architecture : {"mamba", "mamba2", "mamba2_hybrid"})
      for (const char* profile : {"flash", "mamba", "transformers-eager", "litgpt"})
        for (const auto& [tp, sp, pp, dp, kv_heads, recompute, ignored] : kFamilyRuns) {
          if (kv_heads == 1 || ignored[0] != 'f' || (profile[0] > 'm' && !sp) ||
              (profile[0] == 'l' && pp == 1))
            continue;
          QTest::newRow(qPrintable(QString("%1 %2 tp%3%4 pp%5 dp%6 recompute %7")
                                       .arg(architecture, profile)
                                       .arg(tp)
                                       .arg(sp ? "+sp" : "")
                                       .arg(pp)
                                       .arg(dp)
                                       .arg(recompute)))
              << QString(architecture) << QString(profile) << tp << sp << pp << dp << recompute;
        }
    QTest::newRow("llama, wide stream") << "llama"
                                        << "mamba" << 2 << true << 2 << 2 << 0;
    QTest::newRow("gpt, wide stream, full recompute") << "gpt"
                                                      << "mamba" << 2 << false << 2 << 1 << 2;
    QTest::newRow("mamba, full recompute") << "mamba"
                                           << "mamba" << 2 << true << 2 << 1 << 2;
    QTest::newRow("mamba2, full recompute") << "mamba2"
                                            << "mamba" << 4 << false << 1 << 2 << 2;
    QTest::newRow("hybrid, full recompute") << "mamba2_hybrid"
                                            << "flash" << 4 << true << 2 << 1 << 2;
  }
  void mixersEqualUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(QString, profile);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(int, recompute);
    Design d = tiny_design(qPrintable(architecture));
    d.model.layers = architecture.endsWith("hybrid") ? 12 : 3;  // so that there is one of every kind
    d.workload.profile = profile.toStdString();
    d.workload.recompute = static_cast<Recompute>(recompute);
    d.parallel.tp = tp;
    d.parallel.pp = pp;
    d.parallel.dp = dp;
    d.parallel.sequence_parallel = sp;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // cp exchanges the sequence for groups (4 on a rank or 2), or for the two heads of a rank's one group,
  // around convolution, scan and gate; attention beside it is spread in any way.
  void mixersUnderContextParallel_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("profile");
    QTest::addColumn<QString>("context");
    QTest::addColumn<int>("cp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("groups");
    QTest::addColumn<int>("recompute");
    struct Run {
      int cp, tp;
      bool sp;
      int dp, groups, recompute;
    };
    constexpr Run kRuns[] = {{2, 1, false, 1, 4, 0}, {4, 1, false, 1, 4, 0}, {2, 2, true, 2, 4, 0},
                             {2, 2, false, 1, 4, 2}, {2, 1, false, 2, 1, 0}, {4, 1, false, 1, 1, 0},
                             {2, 2, true, 1, 2, 0},  {4, 2, false, 1, 2, 2}, {2, 4, true, 1, 4, 0},
                             {4, 1, false, 2, 2, 0}, {4, 2, true, 1, 4, 0},  {4, 1, false, 1, 2, 2},
                             {8, 1, false, 1, 2, 0}};
    for (const auto& [cp, tp, sp, dp, groups, recompute] : kRuns)
      for (const char* architecture : {"mamba2", "mamba2_hybrid"})
        for (const char* profile : {"flash", "mamba"})
          for (const QString context :
               {"all-gather", "ulysses", "ring", "zigzag", "ulysses-ring", "ulysses-zigzag"}) {
            if (architecture[6] == '\0' && (context == "ulysses" || context.endsWith("ring")))
              continue;  // there is no attention
            if (profile[0] == 'm' && context != "zigzag" && context != "all-gather") continue;
            if (context.startsWith("ulysses-") && cp == 2) continue;
            QTest::newRow(qPrintable(QString("%1 %2 %3 cp%4 tp%5%6 dp%7 groups %8 recompute %9")
                                         .arg(architecture, profile, context)
                                         .arg(cp)
                                         .arg(tp)
                                         .arg(sp ? "+sp" : "")
                                         .arg(dp)
                                         .arg(groups)
                                         .arg(recompute)))
                << QString(architecture) << QString(profile) << context << cp << tp << sp << dp << groups
                << recompute;
          }
  }
  void mixersUnderContextParallel() {
    QFETCH(QString, architecture);
    QFETCH(QString, profile);
    QFETCH(QString, context);
    QFETCH(int, cp);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, dp);
    QFETCH(int, groups);
    QFETCH(int, recompute);
    Design d = tiny_design(qPrintable(architecture));
    if (architecture.endsWith("hybrid")) {
      d.model.layers = 12;
      d.model.heads = d.model.kv_heads = 8;
    }
    d.model.ssm_groups = groups;
    d.workload.profile = profile.toStdString();
    d.workload.recompute = static_cast<Recompute>(recompute);
    d.workload.seq = 16;
    d.workload.batch = 2 * dp;
    d.parallel.cp = cp;
    d.parallel.tp = tp;
    d.parallel.dp = dp;
    d.parallel.sequence_parallel = sp;
    QVERIFY(!set_knob(d, *find_knob("context"), context.toStdString()));
    d.parallel.ulysses_degree = context.startsWith("ulysses-") ? 2 : 0;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("architecture");
    QTest::newRow("llama") << "llama";
    QTest::newRow("gpt") << "gpt";
    for (const char* family : kFamilies) QTest::newRow(family) << family;
    QTest::newRow("gpt, scores kept, dropout") << "gpt dropout megatron-2022";
    QTest::newRow("gpt, unfused softmax, dropout") << "gpt dropout megatron-2022-unfused";
    QTest::newRow("latent attention") << "latent";
    QTest::newRow("latent attention, two depths of prediction") << "latent mtp";
    QTest::newRow("latent attention, one depth, direct queries, litgpt") << "latent direct litgpt";
    for (const char* profile : {"mamba", "flash"})
      for (const char* mixer : {"mamba", "mamba2", "mamba2_hybrid"})
        QTest::newRow(qPrintable(QString("%1, %2").arg(mixer, profile)))
            << QString("%1 plain %2").arg(mixer, profile);
    for (const char* profile : kProfiles) QTest::newRow(profile) << QString("gemma2 plain %1").arg(profile);
    for (const char* context : {"ring", "zigzag", "ulysses-zigzag"})
      QTest::newRow(context) << QString("llama context %1").arg(context);
    for (const char* groups : {"1", "2", "4"})
      QTest::newRow(qPrintable(QString("mamba2, context, groups %1").arg(groups)))
          << QString("mamba2 context zigzag %1").arg(groups);
  }

  void equalsFiniteDifferences() {
    QFETCH(QString, architecture);
    const QStringList words = architecture.split(' ');
    Design d = tiny_design(qPrintable(words[0]));
    d.workload.dropout = words.value(1) == "dropout";
    if (words.value(1) == "mtp") d.model.mtp_layers = 2;
    if (words.value(1) == "direct") {
      d.model.mtp_layers = 1;
      d.model.q_rank = 0;
    }
    if (words[0].endsWith("hybrid")) d.model.layers = 12;
    if (words.value(1) == "context") {
      if (words[0] == "llama") d.model.kv_heads = 4;
      if (words.size() > 3) d.model.ssm_groups = words[3].toInt();
      d.parallel.cp = 4;
      d.parallel.ulysses_degree = words[2].startsWith("ulysses") ? 2 : 0;
      QVERIFY(!set_knob(d, *find_knob("context"), words[2].toStdString()));
    } else if (words.size() > 2) {
      d.workload.profile = words[2].toStdString();
    }
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }
};

QTEST_APPLESS_MAIN(ExecutionTest)
#include "execution_test.moc"
