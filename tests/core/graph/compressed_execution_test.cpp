// Proof by execution of attention to compressed keys: whatever the parallelism, a step equals the unsharded
// run, gradients equal finite differences, and decode after a prefill equals the longer prompt.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/designs.h"
#include "support/equivalence.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design with_settings(const char* architecture, const QString& settings) {
  Design d = tiny_design(architecture);
  for (const QString& setting : settings.split(' ', Qt::SkipEmptyParts))
    if (const auto problem = set_knob(d, *find_knob(setting.section('=', 0, 0).toStdString()),
                                      setting.section('=', 1).replace('+', ' ').toStdString()))
      qFatal("%s", to_string(*problem).c_str());
  return d;
}

// One run per line: architecture and settings.
constexpr const char* kRuns[] = {
    "compressed dp=2",
    "compressed tp=2",
    "compressed tp=2 sequence_parallel=true",
    "compressed tp=4 sequence_parallel=true pp=3",
    "compressed tp=2 dp=2 compress_ratio=4",
    "compressed tp=2 compress_ratio=3",
    "compressed tp=2 variants=hca:+hca+compress_ratio=4",
    "compressed tp=2 index_top_k=100",
    "compressed tp=2 window=0",
    "compressed cp=2 context=all-gather",
    "compressed cp=4 context=all-gather seq=16 tp=2",
    "compressed cp=2 context=all-gather tp=2 sequence_parallel=true compress_ratio=4 seq=16",
    "compressed cp=2 context=all-gather tp=2 sequence_parallel=true recompute=full",
    "compressed tp=2 sequence_parallel=true recompute=full",
    "compressed tp=2 recompute=selective recompute_modules=core_attn,mla_up_proj,layernorm",
    "compressed tp=2 pp=3 schedule=zb-h1 batch=8",
    "compressed tp=2 profile=megatron-core-te",
    "compressed tp=2 profile=torchtitan",
    "compressed tp=2 compute=fp8 heads=8 kv_heads=8 head_dim=8 ffn=64 seq=32 hidden=32 output_rank=16 "
    "q_rank=16",
    "deepseek4 dp=2 ep=2",
    "deepseek4 tp=2 pp=3",
    "deepseek4 tp=2 sequence_parallel=true dp=2 ep=2 recompute=full",
    "deepseek4 tp=2 sequence_parallel=true dp=2 ep=4 etp=1",
    "deepseek4 tp=2 sequence_parallel=true dp=2 ep=4 etp=1 mtp_layers=1",
    "deepseek4 dp=2 ep=2 cp=2 context=all-gather mtp_layers=1",
    "deepseek4 tp=2 layers=6 layer_pattern=hca_hash,window,csa,hca,csa,hca "
    "variants=hca:+hca+compress_ratio=4"};

void rows(std::initializer_list<const char*> names) {
  QTest::addColumn<QString>("words");
  for (const char* name : names) QTest::newRow(name) << QString(name);
}

}  // namespace

class CompressedExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("words");
    for (const char* run : kRuns) QTest::newRow(run) << QString(run);
  }
  void equalsUnsharded() {
    QFETCH(QString, words);
    const Design d = with_settings(qPrintable(words.section(' ', 0, 0)), words.section(' ', 1));
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    rows({"compressed", "compressed compress_ratio=4", "compressed compress_ratio=3", "compressed window=0",
          "compressed index_top_k=100", "deepseek4 mtp_layers=1 batch=1"});
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, words);
    const Design d = with_settings(qPrintable(words.section(' ', 0, 0)), words.section(' ', 1));
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  // The ninth token completes a block of three tokens, and none of two or four.
  void decodeAfterPrefill_data() {
    rows({"compressed", "compressed compress_ratio=3", "compressed compress_ratio=4",
          "compressed compress_ratio=8", "compressed variants=hca:+hca+compress_ratio=3", "compressed tp=2",
          "compressed tp=4 pp=3",
          "compressed tp=2 sequence_parallel=true dp=2 microbatch=2 batch=8 compress_ratio=3",
          "compressed cp=2 context=all-gather", "compressed cp=2 context=all-gather compress_ratio=4 tp=2",
          "compressed tp=2 index_top_k=100 compress_ratio=3",
          "deepseek4 dp=2 ep=2 batch=16 microbatch=4 compress_ratio=3",
          "deepseek4 tp=2 sequence_parallel=true dp=2 ep=4 etp=1 microbatch=8 batch=32"});
  }
  void decodeAfterPrefill() {
    QFETCH(QString, words);
    const Design d = with_settings(qPrintable(words.section(' ', 0, 0)), words.section(' ', 1));
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }

  // A query sees no tokens outside of its window but by the keys of their blocks.
  void compressedKeysMatter() {
    const Design d = with_settings("compressed", ""),
                 longer = with_settings("compressed", "compress_ratio=4"),
                 few = with_settings("compressed", "index_top_k=1");
    const Parameters parameters = random_parameters(d, 7);
    const double loss = run_step(d, parameters, 11).loss;
    QVERIFY(std::abs(loss - run_step(few, parameters, 11).loss) > 1e-9);
    QVERIFY(std::abs(loss - run_step(longer, random_parameters(longer, 7), 11).loss) > 1e-9);
  }
};

QTEST_APPLESS_MAIN(CompressedExecutionTest)
#include "compressed_execution_test.moc"
