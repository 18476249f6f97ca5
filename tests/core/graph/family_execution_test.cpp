// Proof by execution of whole families, language model and vision tower: layers of several kinds compute what
// the unsharded run computes, decode continues prefill, and gradients equal finite differences.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "support/designs.h"
#include "support/equivalence.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void set_all(Design& d, const QString& settings) {
  for (const QString& setting : settings.split(' ', Qt::SkipEmptyParts)) {
    const Knob* knob = find_knob(setting.section('=', 0, 0).toStdString());
    if (!knob) qFatal("%s", qPrintable(setting));
    QString value = setting.section('=', 1);
    if (const auto problem = set_knob(d, *knob, value.replace('~', ' ').toStdString()))
      qFatal("%s", problem->what.c_str());
  }
}

// Sizes of the family in addition to those of a tiny model with a tower; "~" stands for a space.
struct Family {
  const char *architecture, *sizes;
};
constexpr Family kFamilies[] = {
    {"kimi-k3",
     "layers=5 layer_pattern=linear_dense,linear,full,linear,full residual_block_layers=2 kv_heads=4 "
     "q_rank=6 "
     "kv_rank=5 nope_head_dim=4 rope_head_dim=2 value_head_dim=5 linear_key_heads=4 linear_value_heads=4 "
     "linear_key_dim=4 linear_value_dim=4 linear_conv=3 linear_chunk=4 gate_rank=3 experts=4 "
     "experts_per_token=2 expert_ffn=8 shared_experts=1 latent_ffn=12 vision_head_dim=4"},
    {"minimax-m3",
     "layers=3 layer_pattern=dense,sparse* rope_head_dim=2 index_dim=4 index_top_k=2 index_block=2 experts=4 "
     "experts_per_token=2 expert_ffn=8 shared_experts=1 mtp_layers=1 vision_projector=12 vision_positions=0"},
    {"llama4-vision",
     "layers=3 layer_pattern=chunked,full,chunked_dense attention_chunk=4 experts=4 experts_per_token=1 "
     "expert_ffn=8 shared_experts=1 vision_projector=12"},
    {"step3.7",
     "layers=4 layer_pattern=full_dense,sliding_dense,full,sliding window=3 experts=4 experts_per_token=2 "
     "expert_ffn=8 shared_experts=1 shared_ffn=20 mtp_layers=2 "
     "variants=sliding:~sliding~heads=8;~sliding_dense:~sliding_dense~heads=8 vision_merge=16 image_size=4 "
     "frames=1 vision_positions=16"}};

Design family_design(const QString& architecture, const QString& settings) {
  Design d = tower_design(qPrintable(architecture));
  for (const auto& [id, sizes] : kFamilies)
    if (architecture == id) set_all(d, sizes);
  set_all(d, settings);
  return d;
}

constexpr const char* kTraining[] = {
    "dp=2 ep=2",
    "tp=2",
    "tp=2 sequence_parallel=true dp=2 ep=2",
    "pp=2",
    "tp=2 sequence_parallel=true pp=2 recompute=full",
    "pp=2 schedule=zb-h1",
    "recompute=selective recompute_modules=core_attn,layernorm,mlp tp=2 sequence_parallel=true",
    "vision_training=frozen tp=2 pp=2",
    "vision_parallel=data tp=2 microbatch=2 dp=2",
    "cp=2 context=all-gather"};
constexpr const char* kServing[] = {
    "images=0 mtp_layers=0 microbatch=4 tp=2", "images=0 mtp_layers=0 microbatch=4 pp=2 dp=2 ep=2",
    "images=0 mtp_layers=0 microbatch=8 tp=2 sequence_parallel=true dp=2 ep=2"};

template <size_t n>
void add_rows(const char* const (&runs)[n]) {
  QTest::addColumn<QString>("architecture");
  QTest::addColumn<QString>("settings");
  for (const Family& family : kFamilies)
    for (const char* run : runs)
      QTest::addRow("%s %s", family.architecture, run) << QString(family.architecture) << QString(run);
}

}  // namespace

class FamilyExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() { add_rows(kTraining); }
  void equalsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(QString, settings);
    const Design d = family_design(architecture, settings);
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void decodeAfterPrefill_data() { add_rows(kServing); }
  void decodeAfterPrefill() {
    QFETCH(QString, architecture);
    QFETCH(QString, settings);
    Design d = family_design(architecture, settings);
    d.workload.batch = 2 * d.workload.microbatch * d.parallel.dp;
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }

  // Gates of latent attention without positions, residual blocks, latent experts.
  void equalsFiniteDifferences() {
    const Design d = family_design("kimi-k3",
                                   "images=0 batch=1 layer_pattern=linear_dense,linear,full layers=3");
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }
};

QTEST_APPLESS_MAIN(FamilyExecutionTest)
#include "family_execution_test.moc"
