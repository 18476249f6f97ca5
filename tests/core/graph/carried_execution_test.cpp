// Proof by execution of carried float tensors (Gemma 4): shared keys and values, and per-layer inputs.
// Whatever the parallelism, a step equals the unsharded run, and decode after prefill equals a longer prompt.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/designs.h"
#include "support/equivalence.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void set(Design& d, const QString& knob, const QString& text) {
  if (const auto problem = set_knob(d, *find_knob(knob.toStdString()), text.toStdString()))
    qFatal("%s", to_string(*problem).c_str());
}

struct Model {
  const char *name, *architecture, *pattern;
  bool experts = false;
  bool one_kv_head = false;
};
constexpr Model kModels[] = {
    {"shared keys", "gemma4", "sliding, full, sliding_shared*2, full_shared, sliding_shared"},
    {"per-layer inputs", "gemma4; per_layer", "sliding*4, full*2"},
    {"both", "gemma4; per_layer", "sliding*2, full, sliding_shared, full_shared, sliding_shared"},
    {"keys as values, experts", "gemma4; key_as_value, experts", "sliding*2, full, sliding*2, full", true},
    {"one KV head", "gemma4; per_layer", "sliding*2, full, sliding_shared, full_shared, sliding_shared",
     false, true}};

Design design_of(const Model& model) {
  Design d = tiny_design(model.architecture);
  d.model.layers = 6;
  d.model.kv_heads = model.one_kv_head ? 1 : 4;
  d.model.window = 3;
  d.model.rope_head_dim = 2;
  d.model.tied_embeddings = true;
  if (QString(model.architecture).contains("per_layer")) d.model.per_layer_dim = 3;
  if (model.experts) {
    d.model.experts = 4;
    d.model.experts_per_token = 2;
    d.model.expert_ffn = 8;
  }
  set(d, "layer_pattern", model.pattern);
  const bool shares = QString(model.pattern).contains("shared");
  const QString full = model.one_kv_head ? "full head_dim=6" : "full head_dim=6 kv_heads=2";
  set(d, "variants",
      "full: " + full +
          (shares
               ? "; full_shared: full_shared head_dim=6" + QString(model.one_kv_head ? "" : " kv_heads=2") +
                     " ffn=32; sliding_shared: sliding_shared ffn=32"
               : QString()));
  return d;
}

struct Run {
  int tp;
  bool sp;
  int pp, dp, cp;
  const char* settings = "";
};
constexpr Run kTrained[] = {
    {1, false, 2, 2, 1},
    {1, false, 6, 1, 1},
    {2, true, 1, 1, 1},
    {2, false, 3, 1, 1, "recompute=full"},
    {4, true, 2, 1, 1, "recompute=selective"},
    {1, false, 2, 1, 1, "recompute=full recompute_num_layers=3"},
    {2, true, 1, 2, 1, "recompute=full recompute_method=block recompute_num_layers=2"},
    {1, false, 1, 1, 2, "context=all-gather"},
    {2, true, 2, 1, 2, "context=all-gather recompute=full"},
    {2, false, 2, 1, 1, "virtual_stages=3"},
    {2, true, 2, 1, 1, "schedule=zb-h1"},
    {1, false, 3, 1, 1, "virtual_stages=2 schedule=zb-v"},
    {2, false, 3, 1, 1, "scatter_gather_pipeline=true"}};
constexpr Run kServed[] = {{1, false, 1, 1, 1},
                           {2, false, 1, 2, 1},
                           {2, true, 1, 1, 1, "kv_cache_dtype=fp8"},
                           {4, false, 1, 1, 1},
                           {1, false, 1, 1, 2, "context=all-gather"}};

void add_rows(const Run* begin, const Run* end) {
  QTest::addColumn<int>("model");
  QTest::addColumn<Run>("run");
  for (const Model& model : kModels)
    for (const Run* r = begin; r != end; ++r)
      QTest::newRow(qPrintable(QString("%1: tp%2%3 pp%4 dp%5 cp%6 %7")
                                   .arg(model.name)
                                   .arg(r->tp)
                                   .arg(r->sp ? "+sp" : "")
                                   .arg(r->pp)
                                   .arg(r->dp)
                                   .arg(r->cp)
                                   .arg(r->settings)))
          << static_cast<int>(&model - kModels) << *r;
}

Design fetched() {
  QFETCH(int, model);
  QFETCH(Run, run);
  Design d = design_of(kModels[model]);
  d.parallel.tp = run.tp;
  d.parallel.sequence_parallel = run.sp;
  d.parallel.pp = run.pp;
  d.parallel.dp = run.dp;
  d.parallel.cp = run.cp;
  for (const QString& setting : QString(run.settings).split(' ', Qt::SkipEmptyParts))
    set(d, setting.section('=', 0, 0), setting.section('=', 1));
  return d;
}

}  // namespace

class CarriedExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() { add_rows(std::begin(kTrained), std::end(kTrained)); }
  void equalsUnsharded() {
    Design d = fetched();
    d.workload.batch = 12;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void decodeAfterPrefill_data() { add_rows(std::begin(kServed), std::end(kServed)); }
  void decodeAfterPrefill() {
    Design d = fetched();
    // Sequence parallelism splits decoded sequences; each expert has a slot.
    d.workload.microbatch = (d.model.experts > 0 ? 2 : 1) * d.parallel.tp;
    d.workload.batch = 2 * d.workload.microbatch * d.parallel.dp;
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<int>("model");
    // Without shared keys, norms of small numbers curve the loss too much for the step of the differences.
    for (const Model& model : kModels)
      if (&model != kModels + 1) QTest::newRow(model.name) << static_cast<int>(&model - kModels);
  }
  void equalsFiniteDifferences() {
    QFETCH(int, model);
    QCOMPARE(QString::fromStdString(difference_from_slopes(design_of(kModels[model]))), QString());
  }
};

QTEST_APPLESS_MAIN(CarriedExecutionTest)
#include "carried_execution_test.moc"
