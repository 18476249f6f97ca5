// Imports of Kimi K3, MiniMax-M3, Llama 4 and Step 3.7 with their vision towers: layers, sizes that differ,
// and what they refuse. The objects are small models of the families.
#include <QJsonArray>
#include <QtTest>

#include "model/layer_variant.h"
#include "support/hf_configs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

QJsonObject kimi() {
  const QJsonObject linear{{"full_attn_layers", QJsonArray{3, 4}},
                           {"kda_layers", QJsonArray{1, 2}},
                           {"num_heads", 8},
                           {"head_dim", 16},
                           {"short_conv_kernel_size", 4},
                           {"use_full_rank_gate", true},
                           {"gate_lower_bound", -5.0}};
  const QJsonObject language{{"model_type", "kimi_linear"},
                             {"hidden_size", 64},
                             {"num_hidden_layers", 4},
                             {"num_attention_heads", 8},
                             {"q_lora_rank", 32},
                             {"kv_lora_rank", 16},
                             {"qk_nope_head_dim", 16},
                             {"qk_rope_head_dim", 8},
                             {"v_head_dim", 16},
                             {"intermediate_size", 128},
                             {"vocab_size", 1000},
                             {"hidden_act", "situ"},
                             {"mla_use_nope", true},
                             {"mla_use_output_gate", true},
                             {"num_experts", 16},
                             {"num_experts_per_token", 2},
                             {"moe_intermediate_size", 32},
                             {"num_shared_experts", 2},
                             {"first_k_dense_replace", 1},
                             {"moe_renormalize", true},
                             {"moe_router_activation_func", "sigmoid"},
                             {"routed_expert_hidden_size", 48},
                             {"latent_moe_use_norm", true},
                             {"attn_res_block_size", 2},
                             {"num_nextn_predict_layers", 0},
                             {"linear_attn_config", linear}};
  const QJsonObject vision{{"vt_num_hidden_layers", 3},
                           {"vt_hidden_size", 64},
                           {"vt_num_attention_heads", 4},
                           {"vt_intermediate_size", 96},
                           {"qkv_hidden_size", 128},
                           {"patch_size", 14},
                           {"init_pos_emb_height", 8},
                           {"init_pos_emb_width", 8},
                           {"merge_kernel_size", QJsonArray{2, 2}},
                           {"norm_type", "rmsnorm"},
                           {"attn_bias", false},
                           {"linear_bias", false},
                           {"patch_embed_proj_bias", false},
                           {"activation_func", "gelu_pytorch_tanh"},
                           {"projector_hidden_act", "gelu"}};
  return {{"model_type", "kimi_k3"}, {"text_config", language}, {"vision_config", vision}};
}

QJsonObject minimax() {
  const QJsonArray sparse{0, 1, 1};
  const QJsonObject attention{{"use_sparse_attention", true},    {"sparse_index_dim", 16},
                              {"sparse_num_index_heads", 2},     {"sparse_topk_blocks", 4},
                              {"sparse_block_size", 8},          {"sparse_score_type", "max"},
                              {"sparse_init_block", 0},          {"sparse_local_block", 1},
                              {"sparse_attention_freq", sparse}, {"sparse_disable_index_value", sparse}};
  const QJsonObject language{{"architectures", QJsonArray{"MiniMaxM3SparseForCausalLM"}},
                             {"hidden_size", 64},
                             {"intermediate_size", 32},
                             {"num_hidden_layers", 3},
                             {"num_attention_heads", 8},
                             {"num_key_value_heads", 2},
                             {"head_dim", 16},
                             {"vocab_size", 1000},
                             {"rotary_dim", 8},
                             {"hidden_act", "swigluoai"},
                             {"use_qk_norm", true},
                             {"qk_norm_type", "per_head"},
                             {"dense_intermediate_size", 128},
                             {"shared_intermediate_size", 32},
                             {"num_local_experts", 16},
                             {"num_experts_per_tok", 2},
                             {"n_shared_experts", 1},
                             {"use_routing_bias", true},
                             {"scoring_func", "sigmoid"},
                             {"moe_layer_freq", sparse},
                             {"num_mtp_modules", 1},
                             {"sparse_attention_config", attention}};
  const QJsonObject vision{
      {"model_type", "clip_vision_model"},
      {"hidden_size", 64},
      {"num_attention_heads", 4},
      {"num_hidden_layers", 2},
      {"intermediate_size", 96},
      {"patch_size", 14},
      {"projection_dim", 64},
      {"position_embedding_type", "rope"},
      {"hidden_act", "gelu"},
      {"img_token_compression_config", QJsonObject{{"image_token_compression_method", "patch_merge"},
                                                   {"spatial_merge_size", 2},
                                                   {"temporal_patch_size", 2}}}};
  return {{"model_type", "minimax_m3_vl"},
          {"text_config", language},
          {"vision_config", vision},
          {"projector_hidden_size", 80}};
}

QJsonObject llama4() {
  const QJsonObject language{{"model_type", "llama4_text"},   {"hidden_size", 64},
                             {"num_hidden_layers", 4},        {"num_attention_heads", 4},
                             {"num_key_value_heads", 2},      {"intermediate_size", 96},
                             {"intermediate_size_mlp", 128},  {"vocab_size", 1000},
                             {"num_local_experts", 4},        {"num_experts_per_tok", 1},
                             {"interleave_moe_layer_step", 1}};
  return {{"model_type", "llama4"},
          {"architectures", QJsonArray{"Llama4ForConditionalGeneration"}},
          {"text_config", language}};
}

QJsonObject base(const QString& family) {
  return family == "kimi"      ? kimi()
         : family == "minimax" ? minimax()
         : family == "llama4"  ? llama4()
                               : config("../hf26/stepfun-ai--Step-3.7-Flash__reconstructed");
}

// The object with a value at a path of keys between dots; an undefined value removes the key.
QJsonObject with(QJsonObject object, const QString& path, const QJsonValue& value) {
  const QString key = path.section('.', 0, 0), rest = path.section('.', 1);
  if (rest.isEmpty() && value.isUndefined())
    object.remove(key);
  else
    object[key] = rest.isEmpty() ? value : QJsonValue(with(object[key].toObject(), rest, value));
  return object;
}

}  // namespace

class HfTowersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void models() {
    const ModelSpec k3 = imported(kimi()).model, m3 = imported(minimax()).model,
                    scout = imported(llama4()).model, step = imported(base("step")).model;
    QCOMPARE(k3.architecture, std::string("kimi-k3"));
    QCOMPARE(k3.layer_pattern, std::string("linear_dense, linear, full*"));
    QCOMPARE(k3.block_layers, int64_t{2});
    QCOMPARE(k3.latent_ffn, int64_t{48});
    QCOMPARE(k3.vision_head_dim, int64_t{32});
    QCOMPARE(m3.architecture, std::string("minimax-m3"));
    QCOMPARE(m3.dense_layers, int64_t{1});
    QCOMPARE(m3.vision_positions, int64_t{0});
    QCOMPARE(m3.vision_projector, int64_t{80});
    QCOMPARE(m3.mtp_layers, int64_t{1});
    QCOMPARE(scout.architecture, std::string("llama4-vision"));
    QCOMPARE(scout.vision_positions, int64_t{577});
    QCOMPARE(scout.vision_projector, int64_t{4096});
    QCOMPARE(step.architecture, std::string("step3.7"));
    QCOMPARE(step.vision_ffn, int64_t{8960});
    QCOMPARE(layer_variants_text(step.variants),
             std::string("sliding: sliding heads=96; sliding_dense: sliding_dense heads=96"));
  }

  // A language model alone has no tower.
  void languageAlone() {
    for (const char* family : {"kimi", "minimax"}) {
      const ImportResult result = imported(with(base(family), "vision_config", QJsonValue::Undefined));
      QVERIFY2(result.ok(), listing(result).c_str());
      QCOMPARE(result.model.vision_layers, int64_t{0});
      QVERIFY(QString::fromStdString(result.model.architecture).endsWith("-text"));
    }
    const ImportResult text = imported(llama4()["text_config"].toObject());
    QVERIFY2(text.ok(), listing(text).c_str());
    QCOMPARE(text.model.architecture, std::string("llama4"));
  }

  // Layers with experts behind others have a pattern.
  void layersInAnyOrder() {
    QJsonObject object = minimax();
    for (const char* key : {"moe_layer_freq", "sparse_attention_config.sparse_attention_freq",
                            "sparse_attention_config.sparse_disable_index_value"})
      object = with(object, QString("text_config.") + key, QJsonArray{1, 0, 1});
    const ImportResult result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QVERIFY2(result.model.layer_pattern == "sparse, dense, sparse", result.model.layer_pattern.c_str());
  }

  void refused_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QJsonValue>("value");
    QTest::addColumn<QString>("accepted");
    const auto row = [](const char* family, const char* path, const QJsonValue& value, const char* accepted) {
      QTest::addRow("%s %s", family, path) << QString(family) << QString(path) << value << QString(accepted);
    };
    const QJsonValue none = QJsonValue::Undefined;
    row("kimi", "text_config.mla_use_output_gate", false, "true");
    row("kimi", "text_config.latent_moe_use_norm", false, "true");
    row("kimi", "text_config.hidden_act", "silu", "situ");
    row("kimi", "text_config.num_nextn_predict_layers", 1, "0");
    row("kimi", "text_config.attn_res_block_size", none, "a whole number from 1 to 16,384");
    row("kimi", "text_config.linear_attn_config.use_full_rank_gate", false, "true");
    row("kimi", "text_config.linear_attn_config.gate_lower_bound", none, "a number, such as -5.0");
    row("kimi", "vision_config.qkv_hidden_size", 130, "a multiple of the heads");
    row("kimi", "vision_config.norm_type", "layernorm", "rmsnorm");
    row("kimi", "vision_config.attn_bias", true, "false");
    row("minimax", "text_config.qk_norm_type", "per_layer", "per_head");
    row("minimax", "text_config.sparse_attention_config.sparse_num_index_heads", 4, "2");
    row("minimax", "text_config.sparse_attention_config.sparse_local_block", 2, "1");
    row("minimax", "text_config.sparse_attention_config.sparse_score_type", "mean", "max");
    row("minimax", "text_config.sparse_attention_config.sparse_attention_freq", QJsonArray{1, 1, 1},
        "the same list as in \"moe_layer_freq\"");
    row("minimax", "text_config.moe_layer_freq", QJsonArray{0, 1}, "a list of 3 numbers, 0 or 1");
    row("minimax", "vision_config.position_embedding_type", "learned", "rope");
    row("minimax", "vision_config.projection_dim", 32, "64");
    row("minimax", "multimodal_projector_bias", false, "true");
    row("llama4", "vision_config", QJsonObject{{"pixel_shuffle_ratio", 0.25}}, "0.5");
    row("llama4", "vision_config", QJsonObject{{"projector_output_dim", 128}}, "4096");
    row("step", "text_config.moe_layers_enum", "3,x", "numbers from 0 to 44, such as \"3,4,5\"");
    row("step", "text_config.moe_layers_enum", "3,45", "numbers from 0 to 44, such as \"3,4,5\"");
    row("step", "text_config.use_head_wise_attn_gate", false, "true");
    row("step", "understand_projector_stride", 4, "2");
    row("step", "vision_config.mlp_ratio", "wide", "a number such as 4.0");
    row("step", "vision_config.ls_init_value", none, "a number, such as 0.1");
  }
  void refused() {
    QFETCH(QString, family);
    QFETCH(QString, path);
    QFETCH(QJsonValue, value);
    QFETCH(QString, accepted);
    QVERIFY2(imported(base(family)).ok(), listing(imported(base(family))).c_str());
    const ImportResult result = imported(with(base(family), path, value));
    QVERIFY2(!result.problems.empty(), qPrintable(path));
    QCOMPARE(QString::fromStdString(result.problems.front().accepted), accepted);
  }
};

QTEST_APPLESS_MAIN(HfTowersTest)
#include "hf_towers_test.moc"
