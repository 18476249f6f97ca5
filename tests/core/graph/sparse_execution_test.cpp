// Proof by execution of sparse attention: whatever the parallelism, a step equals the unsharded run. The
// indexer picks the same keys on every rank.
#include <QtTest>
#include <span>

#include "support/equivalence.h"
#include "support/execution_runs.h"
#include "support/expert_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Run {
  int tp;
  bool sp;
  int pp, dp, cp, recompute;
  const char* settings = "";
};
constexpr Run kRuns[] = {{1, false, 1, 2, 1, 0},
                         {2, false, 1, 1, 1, 0},
                         {2, true, 2, 1, 1, 0},
                         {4, false, 2, 1, 1, 2},
                         {4, true, 1, 2, 1, 1},
                         {1, false, 1, 1, 2, 0, "context=all-gather"},
                         {2, true, 2, 1, 2, 2, "context=all-gather"},
                         {2, true, 2, 1, 1, 0, "schedule=zb-h1"},
                         {2, true, 1, 2, 1, 1, "recompute_modules=mla_up_proj"},
                         {1, false, 1, 2, 1, 0, "profile=megatron-core-te"}};

struct SparseModel {
  const char *name, *architecture, *settings;
};
constexpr SparseModel kModels[] = {
    {"lightning indexer", "sparse-latent", "kv_heads=4"},
    {"all keys picked", "sparse-latent", "kv_heads=4 index_top_k=100"},
    {"blocks", "block-sparse", "kv_heads=4"},
    {"blocks of few KV heads", "block-sparse", "kv_heads=1"},
    {"one block, and a part of another", "block-sparse", "kv_heads=2 index_block=3 index_top_k=1"},
    {"experts and prediction", "deepseek3-sparse", ""},
    {"shared indexers", "deepseek3-shared-index",
     "layers=6 layer_pattern=dense*2,dense_shared,moe,moe_shared*2"},
    {"shared by most layers", "deepseek3-shared-index", "layers=6 layer_pattern=dense,(moe_shared*3,moe)*"}};
constexpr int kSharedModels = 2;  // the last ones
// Where stages and groups of layers end between a layer that picks and those that read its picks.
constexpr Run kSharedRuns[] = {{1, false, 3, 1, 1, 2},
                               {1, false, 6, 1, 1, 0},
                               {2, false, 2, 1, 1, 2, "recompute_num_layers=3"},
                               {1, false, 1, 1, 1, 2, "recompute_num_layers=2"},
                               {1, false, 2, 1, 1, 2, "recompute_method=block recompute_num_layers=2"},
                               {2, false, 2, 1, 1, 0, "virtual_stages=3"},
                               {1, false, 3, 1, 1, 0, "virtual_stages=2 schedule=zb-v"},
                               {2, false, 3, 1, 1, 0, "scatter_gather_pipeline=true"}};

Design sparse_design(const SparseModel& model) {
  Design d = QByteArray(model.architecture).startsWith("deepseek") ? experts_design(model.architecture)
                                                                   : tiny_design(model.architecture);
  d.workload.seq = 8;
  d.workload.batch = 4;
  set_knobs(d, model.settings);
  return d;
}

}  // namespace

class SparseExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<int>("model");
    QTest::addColumn<Run>("run");
    const auto add = [](const SparseModel& model, const Run& r) {
      QTest::newRow(qPrintable(QString("%1: tp%2%3 pp%4 dp%5 cp%6 recompute %7 %8")
                                   .arg(model.name)
                                   .arg(r.tp)
                                   .arg(r.sp ? "+sp" : "")
                                   .arg(r.pp)
                                   .arg(r.dp)
                                   .arg(r.cp)
                                   .arg(r.recompute)
                                   .arg(r.settings)))
          << static_cast<int>(&model - kModels) << r;
    };
    for (const SparseModel& model : kModels)
      for (const Run& run : kRuns) {
        if (QString(run.settings).contains("mla") && !QString(model.architecture).contains("latent"))
          continue;
        add(model, run);
      }
    for (const SparseModel& model : std::span(kModels).last<kSharedModels>())
      for (const Run& run : kSharedRuns) add(model, run);
  }
  void equalsUnsharded() {
    QFETCH(int, model);
    QFETCH(Run, run);
    Design d = sparse_design(kModels[model]);
    set_mesh(d, run.tp, run.sp, run.pp, run.dp, run.cp);
    d.workload.recompute = static_cast<Recompute>(run.recompute);
    set_knobs(d, run.settings);
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // With as many picks as keys, sparse attention is latent attention: the absorbed form computes the same.
  void allKeysAreLatentAttention() {
    Design sparse = sparse_design(kModels[1]), dense = sparse;
    dense.model.architecture = "latent";
    dense.model.index_heads = dense.model.index_dim = dense.model.index_top_k = 0;
    const Parameters parameters = random_parameters(sparse, 7);
    Parameters shared;
    for (const auto& [name, value] : random_parameters(dense, 7)) shared[name] = parameters.at(name);
    const RunResult picked = run_step(sparse, parameters, 11), all = run_step(dense, shared, 11);
    QVERIFY(std::abs(picked.loss - all.loss) < 1e-11);
    for (const auto& [name, gradient] : all.gradients) {
      const RealTensor& other = picked.gradients.at(name);
      for (size_t i = 0; i < gradient.data.size(); ++i)
        QVERIFY2(std::abs(gradient.data[i] - other.data[i]) < 1e-11, name.c_str());
    }
  }

  // Fewer picks change the result, and the indexer has no gradient.
  void picksMatter() {
    const Design few = sparse_design(kModels[0]), all = sparse_design(kModels[1]);
    const Parameters parameters = random_parameters(few, 7);
    const RunResult picked = run_step(few, parameters, 11);
    QVERIFY(std::abs(picked.loss - run_step(all, parameters, 11).loss) > 1e-9);
    int indexers = 0;
    for (const auto& [name, gradient] : picked.gradients) {
      const QString bare = QString::fromStdString(name).section('.', -1);
      const bool indexer = bare.startsWith("wi") || bare.startsWith("ik_");
      indexers += indexer;
      const bool zero = std::all_of(gradient.data.begin(), gradient.data.end(),
                                    [](double g) { return g == 0; });
      QVERIFY2(zero == indexer, name.c_str());
    }
    QCOMPARE(indexers, 2 * 5);
  }
};

QTEST_APPLESS_MAIN(SparseExecutionTest)
#include "sparse_execution_test.moc"
