// Proof by execution of inference: prefill and then decode, sharded, leave what the forward of training makes
// of the longer sequence.
#include <QtTest>

#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t kPrompt = 8;  // tokens; one more is decoded

// "few KV heads" and other names of variants: a model whose layers differ. Otherwise an architecture.
struct VariantModel {
  const char *name, *architecture, *variants;
};
constexpr VariantModel kVariantModels[] = {
    {"own heads", "llama", "own: layer heads=8 kv_heads=4 head_dim=6"},
    {"one KV head", "qwen3", "own: layer kv_heads=1"},
    {"four KV heads", "llama", "own: layer kv_heads=4"},
    {"long window", "mistral", "own: layer window=5 head_dim=6"},
    {"no window", "mistral", "own: layer window=0"},
    {"latent heads", "latent", "own: layer kv_rank=6 nope_head_dim=6"},
    {"stored weights", "llama", "own: layer attention_weights=fp8 mlp_weights=int4-g32"},
    {"stored latents", "latent", "own: layer attention_weights=fp8 o_weights=mxfp4"}};

Design served_design(const char* architecture) {
  for (const auto& [variant, of, text] : kVariantModels)
    if (QString(variant) == architecture) {
      Design d = served_design(of);
      d.model.layers = 3;
      set_value(d, "layer_pattern", "layer, own*");
      set_value(d, "variants", text);
      return d;
    }
  Design d = tiny_design(architecture);
  const QString name = architecture;
  if (d.model.positions > 0) d.model.positions = kPrompt + 1;
  if (d.model.linear_chunk > 0) return d;
  d.model.layers = name == "mamba2_hybrid" ? 12 : name == "jamba" ? 8 : 2;  // attention among them
  if (name == "jamba") {
    d.model.ssm_state = d.model.ssm_conv = 3;
    d.model.ssm_expand = d.model.ssm_dt_rank = 2;
  }
  if (name == "mixtral" || name == "jamba" || name == "gpt-oss" || name == "qwen2-moe" ||
      name.startsWith("deepseek")) {
    d.model.experts = 4;
    d.model.experts_per_token = 2;
    d.model.expert_ffn = 8;
  }
  if (name == "qwen2-moe" || name.startsWith("deepseek")) d.model.shared_experts = 2;
  if (name.startsWith("deepseek")) d.model.dense_layers = 1;
  if (name == "deepseek2" || name.startsWith("deepseek3")) {
    d.model.kv_heads = d.model.heads;
    d.model.q_rank = name == "deepseek2" ? 0 : 6;
    d.model.kv_rank = 5;
    d.model.rope_head_dim = 2;
    d.model.nope_head_dim = 4;
    d.model.value_head_dim = 3;
  }
  if (name == "deepseek3-shared-index") {
    d.model.layers = 4;
    set_value(d, "layer_pattern", "dense, moe_shared*2, moe");
  }
  return d;
}

struct Run {
  int tp;
  bool sp;
  int pp, dp, b, kv_heads;
  int cp = 1;
  const char* settings = "";
  int decode_cp = 1;  // divides the context of nine tokens
};

void row(const char* architecture, const Run& r) {
  QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 b%6 kv heads %7 cp%8 %9%10")
                               .arg(architecture)
                               .arg(r.tp)
                               .arg(r.sp ? "+sp" : "")
                               .arg(r.pp)
                               .arg(r.dp)
                               .arg(r.b)
                               .arg(r.kv_heads)
                               .arg(r.cp)
                               .arg(r.settings)
                               .arg(r.decode_cp > 1 ? QString("decode cp%1").arg(r.decode_cp) : QString())))
      << QString(architecture) << QList<int>{r.tp, r.sp, r.pp, r.dp, r.b, r.kv_heads, r.cp, r.decode_cp}
      << QString(r.settings);
}

// Contexts that the ranks of a tensor-parallel group share: all ranks of the group, some of them, with
// several KV heads for each rank, and together with cp.
void rows_of_split_contexts() {
  for (const char* architecture : {"llama", "gpt", "mistral", "qwen3", "gemma2", "mpt", "latent"}) {
    const QString name = architecture;
    const bool whole = name == "gpt" || name == "mpt" || name == "latent";  // keys for every head
    const char* one = whole ? "heads=12 kv_heads=12 ffn=24 vocab=24 dcp=3" : "heads=12 ffn=24 vocab=24 dcp=3";
    for (const Run& r : {Run{3, false, 1, 1, 1, 1, 1, one}, Run{3, false, 2, 1, 3, 3, 1, one, 3},
                         Run{6, true, 1, 2, 6, 2, 1, one}})
      row(architecture, r);
  }
}

// Experts on ranks of tp that have the same tokens (vLLM, SGLang): sent from the rank's part of the tokens,
// or gathered over dp x cp.
void rows_of_shared_tp(const char* architecture) {
  const Run sent[] = {{2, false, 1, 1, 4, 2, 1, "ep=2 etp=1"},
                      {2, false, 2, 2, 4, 2, 1, "ep=4 etp=1 kv_cache_dtype=fp8"},
                      {2, false, 1, 2, 4, 2, 1, "ep=2 etp=1"},
                      {4, false, 1, 1, 8, 1, 1, "ep=2 etp=2"},
                      {4, false, 1, 2, 4, 2, 1, "ep=4 etp=1 load_imbalance=1.5"},
                      {2, false, 1, 2, 8, 2, 1, "ep=4 etp=1 dispatcher=flex gpus_per_node=2"},
                      {2, false, 1, 2, 12, 2, 1, "ep=4 etp=1", 3}};
  const Run gathered[] = {{2, false, 1, 1, 2, 2, 1, "ep=2 etp=1 dispatcher=allgather"},
                          {2, false, 2, 2, 3, 2, 1, "ep=4 etp=1 dispatcher=allgather"},
                          {2, false, 1, 2, 2, 2, 1, "ep=2 etp=1 dispatcher=allgather kv_cache_dtype=fp8"},
                          {4, false, 1, 1, 2, 1, 1, "ep=2 etp=2 dispatcher=allgather"},
                          {4, false, 2, 2, 1, 2, 1, "ep=4 etp=2 dispatcher=allgather"},
                          {4, false, 1, 2, 1, 2, 1, "ep=4 etp=1 dispatcher=allgather load_imbalance=1.5"},
                          {2, false, 1, 2, 3, 2, 1, "ep=1 etp=4 dispatcher=allgather"},
                          {2, false, 1, 2, 6, 2, 1, "ep=2 etp=1 dispatcher=allgather", 3}};
  for (const Run& r : sent) row(architecture, r);
  for (const Run& r : gathered) row(architecture, r);
  if (QString(architecture) == "jamba") return;  // mixers scan whole sequences
  for (const char* settings :
       {"ep=2 etp=1 context=all-gather", "ep=2 etp=1 dispatcher=allgather context=all-gather"})
    row(architecture, {2, false, 1, 1, 4, 2, 2, settings});
}

// A layer reads the keys that an earlier layer picked, of this stage or of the stage before.
void rows_of_shared_indexers() {
  for (const Run& r : {Run{1, false, 1, 1, 2, 4}, Run{2, false, 2, 1, 2, 4}, Run{2, true, 2, 2, 4, 4},
                       Run{2, true, 4, 1, 4, 4}, Run{1, false, 2, 1, 2, 4, 2, "context=all-gather"},
                       Run{1, false, 1, 2, 2, 4, 1, "ep=2 kv_cache_dtype=fp8"}})
    row("deepseek3-shared-index", r);
}

}  // namespace

class InferenceExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void decodeAfterPrefill_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QList<int>>("mesh");
    QTest::addColumn<QString>("settings");
    const Run dense[] = {{1, false, 1, 1, 1, 2}, {2, false, 1, 1, 1, 2},
                         {2, true, 1, 1, 2, 2},  {4, true, 1, 1, 4, 2},
                         {4, false, 2, 1, 1, 1}, {1, false, 1, 2, 1, 2},
                         {2, true, 2, 2, 2, 2},  {1, false, 2, 1, 2, 2, 1, "kv_cache_dtype=fp8"}};
    for (const char* architecture : {"llama", "gpt", "mistral", "qwen2", "qwen3", "gemma2", "mpt"})
      for (const Run& r : dense) row(architecture, r);
    for (const char* context : {"context=all-gather", "context=ulysses", "context=ring", "context=zigzag"})
      row("llama", {1, false, 2, 1, 1, 2, 2, context});
    row("llama", {2, true, 1, 1, 2, 4, 2, "context=all-gather"});
    row("llama", {2, false, 2, 1, 1, 2, 1, "scatter_gather_pipeline=true"});
    row("llama", {2, false, 2, 1, 1, 2, 1,
                  "profile=megatron-2022 recompute=full dropout=true schedule=zb-h1 sync=fsdp2"});
    // The context over ranks: all sequences on each, or some; KV heads that tp copies, narrow caches.
    for (const char* architecture :
         {"llama", "gpt", "mistral", "qwen3", "gemma2", "mpt", "latent", "mamba2_hybrid"}) {
      const int kv = QString(architecture) == "latent" ? 4 : 2;
      for (const Run& r : {Run{1, false, 1, 1, 1, kv, 1, "", 3}, Run{1, false, 1, 2, 3, kv, 1, "", 3},
                           Run{2, true, 1, 1, 6, kv, 1, "", 3}, Run{2, true, 2, 1, 2, kv, 1, "", 9},
                           Run{4, false, 1, 2, 2, 1, 1, "kv_cache_dtype=fp8", 3},
                           Run{4, true, 1, 1, 12, kv, 1, "kv_cache_dtype=fp8", 3}})
        row(architecture, r);
    }
    row("llama", {2, true, 1, 1, 6, 2, 2, "context=all-gather", 3});
    for (const VariantModel& model : kVariantModels)
      for (const Run& r : {Run{1, false, 1, 1, 1, 2}, Run{2, true, 2, 1, 2, 2}, Run{4, false, 1, 2, 2, 2},
                           Run{4, true, 2, 1, 4, 1}, Run{1, false, 1, 2, 3, 2, 1, "", 3},
                           Run{4, true, 1, 1, 12, 2, 1, "kv_cache_dtype=fp8", 3}})
        row(model.name, r);
    rows_of_split_contexts();
    for (const char* architecture : {"llama", "mixtral", "deepseek3", "gpt-oss", "mamba2_hybrid"}) {
      constexpr const char* kFormats =
          "weight_formats=attention=fp8,mlp=int4-g32,experts=fp8,shared_experts=mxfp4,mixer=fp8,head=fp8";
      row(architecture, {2, true, 1, 2, 4, 2, 1, kFormats});
      row(architecture, {2, false, 2, 1, 2, 2, 1, kFormats, 3});
    }
    row("llama", {6, false, 1, 1, 2, 6, 1, "heads=12 ffn=24 vocab=24 dcp=3 kv_cache_dtype=fp8"});
    row("deepseek3",
        {6, false, 1, 2, 2, 2, 1, "heads=12 kv_heads=12 ffn=24 expert_ffn=12 vocab=24 dcp=3 ep=2"});
    row("llama", {1, false, 2, 1, 3, 2, 2, "context=zigzag", 9});
    for (const char* architecture : {"mixtral", "deepseek3", "gpt-oss", "jamba"})
      for (const Run& r : {Run{1, false, 1, 2, 2, 2, 1, "", 3}, Run{1, false, 1, 1, 6, 2, 1, "", 3},
                           Run{1, false, 1, 2, 6, 2, 1, "ep=2 kv_cache_dtype=fp8", 3},
                           Run{2, false, 2, 2, 6, 2, 1, "ep=2 dispatcher=allgather", 3},
                           Run{2, true, 1, 2, 12, 2, 1, "ep=4 etp=1", 3},
                           Run{2, true, 1, 2, 6, 2, 1, "ep=4 etp=1 load_imbalance=1.5", 3},
                           Run{2, false, 1, 2, 4, 2, 1, "load_imbalance=1.5", 3}})
        row(architecture, r);
    for (const Run& r : {Run{1, false, 1, 1, 1, 4}, Run{2, false, 2, 1, 1, 4}, Run{2, true, 1, 2, 2, 4},
                         Run{4, true, 1, 1, 4, 4}, Run{1, false, 1, 1, 1, 4, 2, "context=all-gather"}})
      row("latent", r);
    for (const char* architecture : {"sparse-latent", "block-sparse"})
      for (const Run& r : {Run{1, false, 1, 1, 1, 4}, Run{2, false, 2, 1, 1, 4}, Run{2, true, 1, 2, 2, 4},
                           Run{4, true, 1, 1, 4, 4}, Run{1, false, 1, 1, 1, 4, 2, "context=all-gather"},
                           Run{2, true, 1, 1, 2, 4, 1, "kv_cache_dtype=fp8"}})
        row(architecture, r);
    row("block-sparse", {4, false, 1, 1, 1, 2});
    row("deepseek3-sparse", {1, false, 1, 2, 2, 2, 1, "ep=2"});
    row("deepseek3-sparse", {2, true, 1, 2, 4, 2, 1, "ep=4 etp=1"});
    rows_of_shared_indexers();
    for (const Run& r : {Run{1, false, 1, 1, 1, 2}, Run{2, false, 2, 1, 1, 2}, Run{2, true, 1, 2, 2, 2},
                         Run{4, true, 2, 1, 4, 1}, Run{1, false, 2, 1, 1, 2, 2, "context=zigzag"},
                         Run{2, true, 1, 1, 6, 2, 1, "kv_cache_dtype=fp8", 3}})
      row("hyper", r);
    for (const Run& r : {Run{1, false, 1, 2, 2, 2, 1, "ep=2"}, Run{2, true, 1, 2, 4, 2, 1, "ep=4 etp=1"}})
      row("hyper-moe", r);
    for (const Run& r : {Run{1, false, 1, 1, 1, 2}, Run{2, false, 2, 1, 1, 2}, Run{2, true, 2, 1, 2, 2},
                         Run{2, false, 1, 1, 1, 2, 1, "residual_block_layers=1"}})
      row("attention-residual", r);
    for (const char* architecture : {"mamba", "mamba2", "mamba2_hybrid"})
      for (const Run& r : {Run{1, false, 1, 1, 1, 2}, Run{2, false, 2, 1, 1, 2}, Run{2, true, 1, 2, 2, 2}})
        row(architecture, r);
    for (const char* architecture : kLinearArchitectures)
      for (const Run& r :
           {Run{1, false, 1, 1, 2, 2}, Run{2, false, 2, 1, 2, 2}, Run{2, true, 1, 2, 4, 2},
            Run{4, true, 1, 1, 8, 4, 1, "ssm_state_dtype=bf16"},
            Run{2, false, 1, 1, 2, 4, 2, "context=all-gather"}, Run{1, false, 1, 1, 6, 4, 1, "", 3}})
        row(architecture, r);
    for (const char* architecture : {"mixtral", "deepseek-moe", "deepseek2", "deepseek3", "deepseek3-softmax",
                                     "gpt-oss", "qwen2-moe", "jamba"})
      rows_of_shared_tp(architecture);
    for (const char* architecture : {"mixtral", "deepseek-moe", "deepseek2", "deepseek3", "deepseek3-softmax",
                                     "gpt-oss", "qwen2-moe", "jamba"})
      for (const Run& r :
           {Run{1, false, 1, 1, 2, 2}, Run{1, false, 1, 2, 2, 2, 1, "ep=2"},
            Run{2, false, 1, 2, 2, 2, 1, "ep=2"}, Run{2, false, 2, 2, 2, 2, 1, "ep=2 dispatcher=allgather"},
            Run{2, true, 1, 2, 4, 2, 1, "ep=4 etp=1"}, Run{2, true, 1, 2, 4, 2, 1, "ep=2 kv_cache_dtype=fp8"},
            Run{1, false, 1, 4, 2, 2, 1, "ep=4"}})
        row(architecture, r);
  }

  void decodeAfterPrefill() {
    QFETCH(QString, architecture);
    QFETCH(QList<int>, mesh);
    QFETCH(QString, settings);
    Design d = served_design(qPrintable(architecture));
    set_mesh(d, mesh[0], mesh[1], mesh[2], mesh[3]);
    d.workload.microbatch = mesh[4];
    d.workload.batch = 2 * mesh[4] * mesh[3];
    if (d.model.kv_heads != d.model.heads) d.model.kv_heads = mesh[5];
    d.parallel.cp = mesh[6];
    set_knobs(d, settings.toStdString());
    QCOMPARE(QString::fromStdString(difference_from_longer(d, kPrompt, mesh[7])), QString());
  }
};

QTEST_APPLESS_MAIN(InferenceExecutionTest)
#include "inference_execution_test.moc"
