// Proof by execution: layers of one model with sizes of their own compute what the unsharded run computes.
#include <QtTest>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct VariantModel {
  const char *name, *architecture, *pattern, *variants, *settings;
};
constexpr VariantModel kModels[] = {
    {"heads", "llama", "(layer, wide)*", "wide: layer heads=8", ""},
    {"head size", "llama", "(layer, wide)*", "wide: layer head_dim=6", ""},
    {"no number in common", "llama", "wide, layer*, wide", "wide: layer heads=8 kv_heads=4 head_dim=6 ffn=32",
     ""},
    {"few KV heads", "llama", "(layer, few)*", "few: layer kv_heads=1", "kv_heads=4"},
    {"two numbers of KV heads below tp", "qwen3", "(layer, few)*", "few: layer kv_heads=1", "kv_heads=2"},
    {"many KV heads", "qwen2", "(layer, many)*", "many: layer kv_heads=4", "kv_heads=1"},
    {"ffn", "gpt", "layer, (wide, layer)*", "wide: layer ffn=40", ""},
    {"windows", "mistral", "(layer, long, whole)*", "long: layer window=5; whole: layer window=0", ""},
    {"gemma", "gemma2", "(local*2, full)*", "full: global head_dim=8 kv_heads=1", "kv_heads=4"},
    {"latent", "latent", "(layer, wide)*", "wide: layer kv_rank=6 nope_head_dim=6 value_head_dim=3; ",
     "kv_heads=4"},
    {"experts", "mixtral", "(layer, many)*", "many: layer experts=8 experts_per_token=4 expert_ffn=16",
     "experts=4 experts_per_token=2 expert_ffn=8"},
    {"queries", "latent", "(layer, direct)*", "direct: layer q_rank=0", "kv_heads=4"}};

Design variant_design(const VariantModel& model) {
  Design d = tiny_design(model.architecture);
  d.model.layers = 3;
  d.workload.batch = 12;
  set_value(d, "layer_pattern", model.pattern);
  set_value(d, "variants", model.variants);
  set_knobs(d, model.settings);
  return d;
}

struct Run {
  int tp;
  bool sp;
  int pp, dp, recompute;
  int cp = 1;
};
constexpr Run kRuns[] = {{1, false, 1, 2, 0}, {2, false, 1, 1, 0}, {2, true, 2, 1, 1},   {4, false, 1, 1, 0},
                         {4, true, 1, 1, 0},  {4, true, 2, 2, 2},  {2, true, 1, 1, 0, 2}};

}  // namespace

class VariantExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<int>("model");
    QTest::addColumn<int>("run");
    for (size_t model = 0; model < std::size(kModels); ++model)
      for (size_t run = 0; run < std::size(kRuns); ++run) {
        const Run& r = kRuns[run];
        if (r.cp > 1 && QString(kModels[model].architecture) == "gpt") continue;  // a table of 8 positions
        QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 cp%6 recompute %7")
                                     .arg(kModels[model].name)
                                     .arg(r.tp)
                                     .arg(r.sp ? "+sp" : "")
                                     .arg(r.pp)
                                     .arg(r.dp)
                                     .arg(r.cp)
                                     .arg(r.recompute)))
            << static_cast<int>(model) << static_cast<int>(run);
      }
  }

  void equalsUnsharded() {
    QFETCH(int, model);
    QFETCH(int, run);
    Design d = variant_design(kModels[model]);
    const Run& r = kRuns[run];
    set_mesh(d, r.tp, r.sp, r.pp, r.dp, r.cp);
    d.workload.recompute = static_cast<Recompute>(r.recompute);
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<int>("model");
    for (size_t model = 0; model < std::size(kModels); ++model)
      QTest::newRow(kModels[model].name) << static_cast<int>(model);
  }

  void equalsFiniteDifferences() {
    QFETCH(int, model);
    Design d = variant_design(kModels[model]);
    d.workload.batch = 1;
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  // Each kind has its own sizes, and the splits of tp for its own KV heads.
  void ownSizes() {
    Design d = variant_design(kModels[4]);
    d.parallel.tp = 4;
    const auto built = build_graph(structure_of(d), ModelLibrary::instance());
    const Graph& graph = *std::get<0>(built);
    QCOMPARE(graph.segments.size(), size_t{4});
    QCOMPARE(graph.segments[2].name, std::string("few"));
    const Binding binding = bind_symbols(d);
    for (const auto& [segment, heads, axis] : {std::tuple{1, 2, MeshAxis::TpKv}, {2, 1, MeshAxis::TpKv2}}) {
      const auto& tensors = graph.segments[static_cast<size_t>(segment)].tensors;
      const auto keys = std::find_if(tensors.begin(), tensors.end(), [](const Tensor& t) {
        return t.role == TensorRole::Parameter && t.name.ends_with("wk");
      });
      QVERIFY(keys != tensors.end());
      const auto dim = static_cast<size_t>(std::find(keys->axes.begin(), keys->axes.end(), Axis::KvHeads) -
                                           keys->axes.begin());
      QCOMPARE(std::get<Wide>(evaluate(keys->sizes[dim], binding)), Wide(heads));
      QCOMPARE(keys->placement.shards[dim], MeshAxes{axis});
    }
  }
};

QTEST_APPLESS_MAIN(VariantExecutionTest)
#include "variant_execution_test.moc"
