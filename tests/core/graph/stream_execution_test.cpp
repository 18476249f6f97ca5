// Proof by execution: models with several residual streams compute what the unsharded run computes, and their
// gradients equal finite differences.
#include <QtTest>

#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Run {
  const char* architecture;
  int tp;
  bool sp;
  int pp, dp, cp;
  const char* settings;
};
constexpr Run kRuns[] = {
    {"hyper", 1, false, 1, 2, 1, ""},
    {"hyper", 2, false, 1, 1, 1, ""},
    {"hyper", 2, true, 1, 2, 1, ""},
    {"hyper", 4, true, 2, 1, 1, ""},
    {"hyper", 1, false, 4, 1, 1, "layers=4"},
    {"hyper", 2, true, 2, 1, 1, "streams=1"},
    {"hyper", 2, false, 2, 1, 1, "streams=4 scatter_gather_pipeline=true"},
    {"hyper", 2, false, 2, 1, 1, "layers=4 virtual_stages=2 scatter_gather_pipeline=true"},
    {"hyper", 1, false, 2, 1, 1, "schedule=zb-h1"},
    {"hyper", 2, true, 2, 1, 1, "schedule=dualpipe-v virtual_stages=2 layers=4 batch=8"},
    {"hyper", 1, false, 1, 1, 2, "kv_heads=4 context=all-gather"},
    {"hyper", 2, true, 1, 1, 2, "kv_heads=4 context=ulysses"},
    {"hyper", 1, false, 2, 1, 2, "context=ring"},
    {"hyper", 2, true, 1, 1, 2, "context=zigzag recompute=full"},
    {"hyper", 2, true, 2, 1, 1, "recompute=selective recompute_modules=core_attn,layernorm,mlp_act"},
    {"hyper", 2, true, 2, 1, 1, "recompute=selective recompute_modules=layernorm,mlp"},
    {"hyper", 2, true, 2, 1, 1, "recompute=full"},
    {"hyper", 2, false, 1, 1, 1, "recompute=full distribute_saved_activations=true"},
    {"hyper", 1, false, 2, 1, 1, "recompute=full recompute_num_layers=2 layers=4"},
    {"hyper", 2, true, 2, 1, 1, "mtp_layers=1"},
    {"hyper", 2, false, 1, 1, 2, "mtp_layers=2 kv_heads=4"},
    {"hyper", 2, true, 2, 2, 1, "mtp_layers=1 tied_embeddings=true recompute=full"},
    {"hyper", 2, true, 1, 2, 1, "compute=fp8 heads=8 head_dim=8 ffn=64 seq=32"},
    {"hyper", 2, true, 2, 1, 1, "profile=megatron-2022"},
    {"hyper", 2, false, 2, 1, 1, "profile=transformers-eager"},
    {"hyper", 2, false, 2, 1, 1, "profile=fairscale"},
    {"hyper", 2, true, 2, 1, 1, "profile=mamba"},
    {"hyper", 2, true, 1, 1, 1, "profile=torchtitan-selective recompute=selective"},
    {"hyper", 2, true, 1, 1, 1, "profile=megatron-core-te"},
    {"hyper-moe", 1, false, 2, 2, 1, "ep=2"},
    {"hyper-moe", 2, true, 1, 2, 1, "ep=2 recompute=full"},
    {"hyper-moe", 2, false, 2, 2, 1, "ep=2 dispatcher=allgather"},
    {"hyper-moe", 2, true, 1, 2, 1, "ep=4 etp=1 mtp_layers=1"},
    {"hyper-moe", 1, false, 1, 2, 2, "ep=2 kv_heads=4"}};

Design stream_design(const char* architecture, const QString& settings) {
  Design d = tiny_design(architecture);
  set_knobs(d, settings.toStdString());
  return d;
}

}  // namespace

class StreamExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<int>("run");
    for (size_t i = 0; i < std::size(kRuns); ++i) {
      const Run& r = kRuns[i];
      QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 cp%6 %7")
                                   .arg(r.architecture)
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
    Design d = stream_design(r.architecture, r.settings);
    set_mesh(d, r.tp, r.sp, r.pp, r.dp, r.cp);
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("settings");
    for (const char* settings : {"", "streams=1", "streams=4", "mtp_layers=2", "tied_embeddings=true",
                                 "profile=megatron-2022", "profile=mamba"})
      QTest::newRow(*settings ? settings : "three streams") << QString(settings);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, settings);
    Design d = stream_design("hyper", settings);
    d.workload.batch = 1;
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }
};

QTEST_APPLESS_MAIN(StreamExecutionTest)
#include "stream_execution_test.moc"
