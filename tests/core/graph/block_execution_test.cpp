// Proof by execution: models with residual blocks compute what the unsharded run computes, and their
// gradients equal finite differences.
#include <QtTest>

#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Run {
  int tp;
  bool sp;
  int pp, dp, cp;
  const char* settings;
};
constexpr Run kRuns[] = {
    {1, false, 1, 2, 1, ""},
    {2, false, 1, 1, 1, ""},
    {2, true, 2, 1, 1, ""},
    {4, true, 2, 2, 1, "residual_block_layers=3"},
    {1, false, 4, 1, 1, ""},
    {1, false, 3, 1, 1, "residual_block_layers=1"},
    {2, true, 3, 1, 1, "stage_layers=0,5,1"},
    {1, false, 3, 1, 1, "stage_layers=2,4,0"},
    {1, false, 2, 1, 1, "schedule=zb-h1"},
    {1, false, 2, 1, 1, "schedule=gpipe"},
    {1, false, 2, 1, 2, "kv_heads=4 context=ulysses"},
    {2, true, 1, 1, 2, "context=zigzag"},
    {2, true, 2, 1, 1, "recompute=selective recompute_modules=core_attn,layernorm,mlp_act"},
    {2, true, 2, 1, 1, "recompute=selective recompute_modules=layernorm,mlp"},
    {2, true, 2, 1, 1, "recompute=full"},
    {1, false, 2, 1, 1, "recompute=full recompute_num_layers=3"},
    {1, false, 1, 1, 1, "recompute=full recompute_method=block recompute_num_layers=2"},
    {2, true, 2, 1, 1, "layer_pattern=(layer*2,wide)* variants=wide:layer\u00a0ffn=48"},
    {2, true, 1, 2, 1, "compute=fp8 heads=8 head_dim=8 ffn=64 seq=32"},
    {2, true, 2, 1, 1, "profile=megatron-2022"},
    {2, false, 2, 1, 1, "profile=transformers-eager"},
    {2, true, 2, 1, 1, "profile=mamba"},
    {2, false, 2, 1, 1, "tied_embeddings=true profile=fairscale"}};

Design block_design(const QString& settings) {
  Design d = tiny_design("attention-residual");
  d.model.layers = 6;
  for (const QString& setting : settings.split(' ', Qt::SkipEmptyParts)) {
    QString value = setting.section('=', 1);
    set_value(d, setting.section('=', 0, 0).toStdString(), value.replace(QChar::Nbsp, ' ').toStdString());
  }
  return d;
}

}  // namespace

class BlockExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<int>("run");
    for (size_t i = 0; i < std::size(kRuns); ++i) {
      const Run& r = kRuns[i];
      QTest::newRow(qPrintable(QString("tp%1%2 pp%3 dp%4 cp%5 %6")
                                   .arg(r.tp)
                                   .arg(r.sp ? "+sp" : "")
                                   .arg(r.pp)
                                   .arg(r.dp)
                                   .arg(r.cp)
                                   .arg(r.settings)))
          << static_cast<int>(i);
    }
  }
  void equalsUnsharded() {
    QFETCH(int, run);
    const Run& r = kRuns[run];
    Design d = block_design(r.settings);
    set_mesh(d, r.tp, r.sp, r.pp, r.dp, r.cp);
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("settings");
    for (const char* settings :
         {"layers=4", "layers=3 residual_block_layers=1", "layers=2 residual_block_layers=5",
          "layers=3 profile=megatron-2022", "layers=3 profile=mamba"})
      QTest::newRow(settings) << QString(settings);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, settings);
    Design d = block_design(settings);
    d.workload.batch = 1;
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }
};

QTEST_APPLESS_MAIN(BlockExecutionTest)
#include "block_execution_test.moc"
