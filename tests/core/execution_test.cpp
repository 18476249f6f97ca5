// Proof by execution: for every strategy, loss, outputs and gradients equal the unsharded run, and that run equals
// finite differences.
#include <QtTest>
#include <cmath>
#include <numeric>

#include "design/knobs.h"
#include "support/designs.h"
#include "support/interpreter.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

double difference(const RealTensor& a, const RealTensor& b) {
  if (a.shape != b.shape) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.data.size(); ++i) worst = std::max(worst, std::abs(a.data[i] - b.data[i]));
  return worst;
}

// The same step on one rank: all replicas' samples of a microbatch at once.
Design unsharded(const Design& d) {
  Design out = d;
  out.parallel = {};
  out.workload.recompute = Recompute::None;
  out.workload.microbatch = d.workload.microbatch * d.parallel.dp;
  return out;
}

}  // namespace

// Architectures beside llama and gpt, and what each is run under.
constexpr const char* kFamilies[] = {"mistral", "qwen2", "qwen3", "gemma", "gemma2", "mpt"};
struct FamilyRun {
  int tp;
  bool sp;
  int pp, dp, kv_heads, recompute;
  const char* profile;
};
constexpr FamilyRun kFamilyRuns[] = {
    {1, false, 2, 1, 2, 0, "flash"}, {1, false, 1, 2, 2, 0, "flash"}, {2, false, 1, 1, 2, 0, "flash"}, {2, true, 1, 1, 2, 0, "flash"},
    {2, true, 2, 2, 2, 0, "flash"},  {4, false, 1, 1, 2, 0, "flash"}, {4, true, 1, 1, 2, 0, "flash"},  {4, true, 1, 1, 1, 0, "flash"},
    {4, false, 2, 2, 1, 0, "flash"}, {2, true, 2, 1, 2, 1, "flash"},  {4, true, 2, 1, 1, 2, "flash"},  {2, true, 2, 1, 2, 0, "megatron-2022"}};

// Every kernel profile beside the two of the families, with KV heads shared by query heads and not.
constexpr const char* kProfiles[] = {"megatron-2022-unfused", "megatron-core-unfused", "transformers-eager", "transformers-flash",
                                     "fairscale", "litgpt", "litgpt-math", "litgpt-capped"};
constexpr FamilyRun kProfileRuns[] = {
    {1, false, 2, 2, 2, 0, ""}, {2, false, 1, 1, 4, 0, ""}, {2, true, 2, 2, 2, 0, ""}, {4, false, 1, 1, 2, 0, ""}, {4, true, 1, 1, 1, 0, ""},
    {2, true, 2, 1, 2, 1, ""},  {4, true, 2, 1, 1, 2, ""}};

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
          QTest::newRow(qPrintable(QString("gpt %1 dropout %2 sp %3 recompute %4").arg(profile).arg(dropout).arg(sp).arg(recompute)))
              << "gpt" << 2 << sp << 2 << 2 << "1,2" << "1f1b" << 2 << recompute << profile << dropout;
        }
    for (int recompute : {1, 2})
      for (const char* architecture : {"llama", "gpt"})
        for (bool sp : {false, true})
          QTest::newRow(qPrintable(QString("%1 recompute %2 sp %3").arg(architecture).arg(recompute).arg(sp)))
              << QString(architecture) << 2 << sp << 2 << 2 << "1,2" << "1f1b" << 2 << recompute << "flash" << false;
    for (const char* architecture : kFamilies)
      for (const auto& [tp, sp, pp, dp, kv_heads, recompute, profile] : kFamilyRuns)
        QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 kv heads %6 recompute %7 %8").arg(architecture).arg(tp).arg(sp ? "+sp" : "")
                                     .arg(pp).arg(dp).arg(kv_heads).arg(recompute).arg(profile)))
            << QString(architecture) << tp << sp << pp << dp << (pp == 2 ? "1,2" : "3") << "1f1b" << kv_heads << recompute << QString(profile) << false;
    for (const char* profile : kProfiles)
      for (const char* architecture : {"llama", "qwen3", "gemma2"})
        for (const auto& [tp, sp, pp, dp, kv_heads, recompute, ignored] : kProfileRuns) {
          if (architecture[0] == 'q' && (pp == 1 || recompute != 0)) continue;  // for its norms over heads
          QTest::newRow(qPrintable(QString("%1 %2 tp%3%4 pp%5 dp%6 kv heads %7 recompute %8").arg(architecture, profile).arg(tp)
                                       .arg(sp ? "+sp" : "").arg(pp).arg(dp).arg(kv_heads).arg(recompute)))
              << QString(architecture) << tp << sp << pp << dp << (pp == 2 ? "1,2" : "3") << "1f1b" << kv_heads << recompute << QString(profile) << false;
        }
    for (const char* architecture : {"llama", "gpt"})
      for (int tp : {1, 2, 4})
        for (bool sp : {false, true})
          for (int pp : {1, 2, 4})
            for (int dp : {1, 2})
              for (const char* schedule : {"1f1b", "gpipe"}) {
                if ((sp && tp == 1) || (pp == 1 && schedule[0] == 'g')) continue;
                const QString layers = pp == 4 ? "0,1,2,0" : pp == 2 ? "1,2" : "3";
                const QString name = QString("%1 tp%2%3 pp%4 dp%5 %6").arg(architecture).arg(tp).arg(sp ? "+sp" : "").arg(pp).arg(dp).arg(schedule);
                QTest::newRow(qPrintable(name)) << QString(architecture) << tp << sp << pp << dp << layers << QString(schedule) << 2 << 0 << "flash" << false;
                if (architecture[0] == 'l' && tp == 4)
                  QTest::newRow(qPrintable(name + " one kv head")) << QString(architecture) << tp << sp << pp << dp << layers << QString(schedule) << 1 << 0 << "flash" << false;
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
    expectUnsharded(d);
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
           {Run{1, false, 2, 2, 1, "", false}, Run{2, false, 2, 2, 2, "", false}, Run{2, true, 2, 2, 1, "", false},
            Run{1, false, 4, 2, 1, "0,1,1,1,1,1,1,0", false}, Run{1, false, 3, 2, 1, "", false},
            Run{2, true, 2, 3, 1, "0,2,1,1,2,0", false}, Run{1, false, 8, 2, 2, "0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0", false},
            Run{2, false, 2, 1, 2, "", true}, Run{4, false, 3, 1, 1, "", true}, Run{4, false, 2, 2, 1, "", true},
            Run{2, false, 4, 2, 2, "0,1,1,1,1,1,1,0", true}})
        QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 v%5 dp%6 %7%8").arg(architecture).arg(tp).arg(sp ? "+sp" : "").arg(pp).arg(v).arg(dp)
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
    for (const QString& n : layers.split(',', Qt::SkipEmptyParts)) d.parallel.stage_layers.push_back(n.toInt());
    d.model.layers = d.parallel.stage_layers.empty() ? 2 * pp : std::accumulate(d.parallel.stage_layers.begin(), d.parallel.stage_layers.end(), int64_t{0});
    d.workload.batch = (dp == 2 ? 1 : 2) * pp * dp;
    expectUnsharded(d);
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
            QTest::newRow(qPrintable(QString("%1 tp%2 cp%3 kv heads %4").arg(architecture).arg(tp).arg(cp).arg(kv_heads))) << QString(architecture) << tp << cp << kv_heads;
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
    expectUnsharded(d);
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
      for (const QString context : {"all-gather", "ulysses", "ring", "zigzag", "ulysses-ring", "ulysses-zigzag"})
        for (int cp : {2, 4})
          for (int tp : {1, 2})
            for (bool sp : {false, true})
              for (int dp : {1, 2})
                for (int kv_heads : {1, 2, 4})
                  for (int recompute : {0, 1, 2}) {
                    const int exchanging = context == "ulysses" ? cp : context.startsWith("ulysses") ? 2 : 1;
                    if ((sp && tp == 1) || (exchanging > 1 && kv_heads % (tp * exchanging) != 0) || (recompute != 0 && (dp == 1 || kv_heads == 1))) continue;
                    if (context.startsWith("ulysses-") && cp == 2) continue;
                    if (dp == 1 && (context.endsWith("ring") || context.endsWith("zigzag"))) continue;  // nothing that dp 2 has not
                    QTest::newRow(qPrintable(QString("%1 %2 cp%3 tp%4%5 dp%6 kv heads %7 recompute %8").arg(architecture, context).arg(cp).arg(tp)
                                                 .arg(sp ? "+sp" : "").arg(dp).arg(kv_heads).arg(recompute)))
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
    expectUnsharded(d);
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("architecture");
    QTest::newRow("llama") << "llama";
    QTest::newRow("gpt") << "gpt";
    for (const char* family : kFamilies) QTest::newRow(family) << family;
    QTest::newRow("gpt, scores kept, dropout") << "gpt dropout megatron-2022";
    QTest::newRow("gpt, unfused softmax, dropout") << "gpt dropout megatron-2022-unfused";
    for (const char* profile : kProfiles) QTest::newRow(profile) << QString("gemma2 plain %1").arg(profile);
    for (const char* context : {"ring", "zigzag", "ulysses-zigzag"}) QTest::newRow(context) << QString("llama context %1").arg(context);
  }

  void equalsFiniteDifferences() {
    QFETCH(QString, architecture);
    const QStringList words = architecture.split(' ');
    Design d = tiny_design(qPrintable(words[0]));
    d.workload.dropout = words.value(1) == "dropout";
    if (words.value(1) == "context") {
      d.model.kv_heads = 4;
      d.parallel.cp = 4;
      d.parallel.ulysses_degree = words[2].startsWith("ulysses") ? 2 : 0;
      QVERIFY(!set_knob(d, *find_knob("context"), words[2].toStdString()));
    } else if (words.size() > 2) {
      d.workload.profile = words[2].toStdString();
    }
    Parameters parameters = random_parameters(d, 3);
    const RunResult exact = run_step(d, parameters, 5);
    QCOMPARE(exact.gradients.size(), parameters.size());
    constexpr double h = 1e-5;
    for (auto& [name, value] : parameters) {
      for (size_t i = 0; i < value.data.size(); i += 1 + value.data.size() / 5) {
        const double old = value.data[i];
        value.data[i] = old + h;
        const double up = run_step(d, parameters, 5, false).loss;
        value.data[i] = old - h;
        const double down = run_step(d, parameters, 5, false).loss;
        value.data[i] = old;
        const double slope = (up - down) / (2 * h);
        QVERIFY2(std::abs(slope - exact.gradients.at(name).data[i]) < 1e-7 + 1e-5 * std::abs(slope), name.c_str());
      }
    }
  }

 private:
  // Outputs and gradients of a step of the design against those of one rank.
  static void expectUnsharded(const Design& d) {
    const Parameters parameters = random_parameters(d, 7);
    RunResult expected, got;
    try {
      expected = run_step(unsharded(d), parameters, 11);
      got = run_step(d, parameters, 11);
    } catch (const std::runtime_error& error) {
      QFAIL(error.what());
    }
    QVERIFY(std::abs(got.loss - expected.loss) < 1e-12);
    QVERIFY(difference(got.token_losses, expected.token_losses) < 1e-11);
    QVERIFY(difference(got.last_hidden, expected.last_hidden) < 1e-11);
    QCOMPARE(got.gradients.size(), parameters.size());
    for (const auto& [name, gradient] : expected.gradients)
      QVERIFY2(difference(gradient, got.gradients.at(name)) < 1e-11, name.c_str());
  }
};

QTEST_APPLESS_MAIN(ExecutionTest)
#include "execution_test.moc"
