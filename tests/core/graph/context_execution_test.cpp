// Proof by execution of context parallelism, of attention and of mixers: every run equals the unsharded run.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/designs.h"
#include "support/equivalence.h"

using namespace shardscape;
using namespace shardscape::test;

class ContextExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
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
};

QTEST_APPLESS_MAIN(ContextExecutionTest)
#include "context_execution_test.moc"
