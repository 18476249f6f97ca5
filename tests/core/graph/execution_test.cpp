// Proof by execution: for every architecture, kernel profile, mesh and pipeline, loss, outputs and gradients
// equal the unsharded run.
#include <QtTest>
#include <numeric>

#include "support/designs.h"
#include "support/equivalence.h"
#include "support/executed_families.h"

using namespace shardscape;
using namespace shardscape::test;

// Meshes of the families.
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

// Meshes of the profiles, with KV heads shared by query heads and not.
constexpr FamilyRun kProfileRuns[] = {{1, false, 2, 2, 2, 0, ""}, {2, false, 1, 1, 4, 0, ""},
                                      {2, true, 2, 2, 2, 0, ""},  {4, false, 1, 1, 2, 0, ""},
                                      {4, true, 1, 1, 1, 0, ""},  {2, true, 2, 1, 2, 1, ""},
                                      {4, true, 2, 1, 1, 2, ""}};

namespace {

// Rows of equalsUnsharded().
void add_recomputed() {
  for (const char* profile : {"flash", "megatron-2022"})
    for (bool sp : {false, true})
      for (int recompute : {0, 1, 2}) {
        const bool dropout = profile[0] == 'm';
        QTest::newRow(qPrintable(
            QString("gpt %1 dropout %2 sp %3 recompute %4").arg(profile).arg(dropout).arg(sp).arg(recompute)))
            << "gpt" << 2 << sp << 2 << 2 << "1,2"
            << "1f1b" << 2 << recompute << profile << dropout;
      }
  for (int recompute : {1, 2})
    for (const char* architecture : {"llama", "gpt"})
      for (bool sp : {false, true})
        QTest::newRow(qPrintable(QString("%1 recompute %2 sp %3").arg(architecture).arg(recompute).arg(sp)))
            << QString(architecture) << 2 << sp << 2 << 2 << "1,2"
            << "1f1b" << 2 << recompute << "flash" << false;
}

void add_families() {
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
}

void add_profiles() {
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
            << QString(architecture) << tp << sp << pp << dp << (pp == 2 ? "1,2" : "3") << "1f1b" << kv_heads
            << recompute << QString(profile) << false;
      }
}

void add_meshes() {
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
                    << QString(architecture) << tp << sp << pp << dp << layers << QString(schedule) << 1 << 0
                    << "flash" << false;
            }
}

}  // namespace

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
    add_recomputed();
    add_families();
    add_profiles();
    add_meshes();
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
};

QTEST_APPLESS_MAIN(ExecutionTest)
#include "execution_test.moc"
