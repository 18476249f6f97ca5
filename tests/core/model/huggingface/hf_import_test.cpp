// config.json of every family becomes the right model. Missing, odd and unknown fields are reported.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <set>

#include "model/huggingface/hf_files.h"
#include "model/layer_variant.h"
#include "model/library.h"
#include "plan/report.h"
#include "support/designs.h"
#include "support/hf_configs.h"

using namespace shardscape;
using namespace shardscape::test;

class HfImportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void families_data() {
    QTest::addColumn<QString>("preset");  // of the same sizes; empty: there is none
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("gpt2-xl") << "gpt2-xl"
                             << "gpt" << qint64(1557611200);
    QTest::newRow("llama2-7b") << "llama2-7b"
                               << "llama" << qint64(6738415616);
    QTest::newRow("llama3-8b") << "llama3-8b"
                               << "llama" << qint64(8030261248);
    QTest::newRow("llama3.2-1b") << "llama3.2-1b"
                                 << "llama" << qint64(1235814400);
    QTest::newRow("mistral-7b-v0.1") << "mistral-7b-v0.1"
                                     << "mistral" << qint64(7241732096);
    QTest::newRow("mistral-7b-v0.3") << "mistral-7b-v0.3"
                                     << "llama" << qint64(7248023552);
    QTest::newRow("qwen2.5-7b") << "qwen2.5-7b"
                                << "qwen2" << qint64(7615616512);
    QTest::newRow("qwen3-0.6b") << "qwen3-0.6b"
                                << "qwen3" << qint64(596049920);
    QTest::newRow("gemma-2b") << "gemma-2b"
                              << "gemma" << qint64(2506172416);
    QTest::newRow("gemma2-9b") << "gemma2-9b"
                               << "gemma2" << qint64(9241705984);
    // 61 layers as wide as the three dense ones of DeepSeek-V3, and its module of multi-token prediction with
    // such a layer.
    QTest::newRow("deepseek-v3-dense")
        << ""
        << "latent" << qint64(62 * 583483392LL + 2 * 129280LL * 7168 + 7168 + (2 * 7168LL * 7168 + 3 * 7168));
    QTest::newRow("jamba-v0.1") << "jamba-v0.1"
                                << "jamba" << qint64(51570323328);
    QTest::newRow("mamba-130m") << "mamba-130m"
                                << "mamba" << qint64(129135360);
    QTest::newRow("mamba-2.8b") << "mamba-2.8b"
                                << "mamba" << qint64(2768345600);  // as its authors' code writes it
    QTest::newRow("mamba2-130m") << "mamba2-130m"
                                 << "mamba2" << qint64(128989632);
    QTest::newRow("mamba2-2.7b") << "mamba2-2.7b"
                                 << "mamba2" << qint64(2702599680);
    // The file brings the module of multi-token prediction, which the published count is without.
    QTest::newRow("deepseek-v3") << ""
                                 << "deepseek3"
                                 << qint64(671026419200 + 11507286272 + 2 * 7168LL * 7168 + 3 * 7168);
    QTest::newRow("deepseek-v2-lite") << "deepseek-v2-lite"
                                      << "deepseek2" << qint64(15706484224);
    QTest::newRow("deepseek-moe-16b") << "deepseek-moe-16b"
                                      << "deepseek-moe" << qint64(16375728128);
    QTest::newRow("kimi-k2") << "kimi-k2"
                             << "deepseek3" << qint64(1026408232448);
    QTest::newRow("mixtral-8x7b") << "mixtral-8x7b"
                                  << "mixtral" << qint64(46702792704);
    QTest::newRow("mixtral-8x22b") << "mixtral-8x22b"
                                   << "mixtral" << qint64(140620634112);
    QTest::newRow("qwen2-57b-a14b") << "qwen2-57b-a14b"
                                    << "qwen2-moe" << qint64(57408658944);
    QTest::newRow("qwen3-30b-a3b") << "qwen3-30b-a3b"
                                   << "qwen3-moe" << qint64(30532122624);
    QTest::newRow("qwen3-235b-a22b") << "qwen3-235b-a22b"
                                     << "qwen3-moe" << qint64(235093634560);
    QTest::newRow("gpt-oss-20b") << "gpt-oss-20b"
                                 << "gpt-oss" << qint64(20914757184);
    QTest::newRow("gpt-oss-120b") << "gpt-oss-120b"
                                  << "gpt-oss" << qint64(116829156672);
    QTest::newRow("mpt-7b") << ""
                            << "mpt" << qint64(6649286656);  // safetensors total of mosaicml/mpt-7b
  }
  void families() {
    QFETCH(QString, preset);
    QFETCH(QString, architecture);
    QFETCH(qint64, parameters);
    const QJsonObject file = config(QTest::currentDataTag());
    QVERIFY(!file.isEmpty());
    const ImportResult result = imported(file);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(QString::fromStdString(result.model.architecture), architecture);
    QCOMPARE(QString::fromStdString(result.model.preset), preset);
    ModelSpec plain = result.model;  // presets say nothing of the formats of a checkpoint
    plain.weight_formats.clear();
    if (const Preset* same = ModelLibrary::instance().preset(result.model.preset))
      QVERIFY(same->model == plain);
    Design design = preset_design("llama3-8b", 1, 1, 1);
    apply_model(design, result.model, result.name);
    const auto report = make_report(design);
    QVERIFY(report->valid());
    QCOMPARE(static_cast<qint64>(report->model_parameters.value), parameters);
    // Every member of the file is accounted for, once, and every entry says why.
    std::multiset<std::string> keys;
    for (const auto* list : {&result.recognised, &result.assumed, &result.unknown, &result.ignored})
      for (const ImportField& field : *list) {
        QVERIFY2(!field.note.empty(), field.key.c_str());
        keys.insert(field.key);
      }
    for (const std::string& key : keys) QVERIFY2(keys.count(key) == 1, key.c_str());
    for (const QString& key : file.keys()) {
      const std::string name = key.toStdString();
      const auto at = keys.lower_bound(name);
      QVERIFY2(at != keys.end() && (*at == name || at->rfind(name + ".", 0) == 0), name.c_str());
    }
  }

  // An indexer in every layer, or shared by layers; the defaults of the two families.
  void indexers() {
    QJsonObject object = config("deepseek-v3");
    for (const auto& [type, heads] : {std::pair{"deepseek_v32", 64}, {"glm_moe_dsa", 32}}) {
      object["model_type"] = type;
      const ImportResult result = imported(object);
      QVERIFY2(result.ok(), listing(result).c_str());
      QCOMPARE(result.model.architecture, std::string("deepseek3-sparse"));
      QCOMPARE(result.model.index_heads, int64_t{heads});
      QCOMPARE(result.model.index_dim, int64_t{128});
      QCOMPARE(result.model.index_top_k, int64_t{2048});
    }
    QJsonObject shared = object;
    shared["num_hidden_layers"] = 11;
    shared["index_topk_freq"] = 4;
    shared["index_skip_topk_offset"] = 3;
    const ImportResult periodic = imported(shared);
    QVERIFY2(periodic.ok(), listing(periodic).c_str());
    QCOMPARE(periodic.model.architecture, std::string("deepseek3-shared-index"));
    QCOMPARE(periodic.model.layer_pattern, std::string("dense*3, (moe_shared*3, moe)*"));
    QJsonArray types;
    for (int i = 0; i < 11; ++i) types.append(i == 0 || i == 4 ? "full" : "shared");
    shared["indexer_types"] = types;
    QCOMPARE(imported(shared).model.layer_pattern,
             std::string("dense, dense_shared*, moe_shared, moe, moe_shared*6"));
    for (const char* wrong : {"all", "shared"}) {  // of the first layer
      types[0] = wrong;
      shared["indexer_types"] = types;
      const ImportResult refused = imported(shared);
      QVERIFY2(refused.problems.size() == 1, listing(refused).c_str());
      QVERIFY(refused.problems[0].code == ProblemCode::HfUnsupportedVariant);
    }
    shared["indexer_types"] = QJsonArray{"full", "full"};
    QVERIFY(!imported(shared).ok());  // two entries for eleven layers
    object["scoring_func"] = "softmax";
    QVERIFY(!imported(object).ok());
  }

  // Where a file is silent, what is assumed is listed with its value.
  void silence_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::newRow("KV heads") << "llama3-8b"
                              << "num_key_value_heads"
                              << "32";
    QTest::newRow("head size") << "llama3.2-1b"
                               << "head_dim"
                               << "64";
    QTest::newRow("head size of gemma") << "gemma2-9b"
                                        << "head_dim"
                                        << "256";
    QTest::newRow("head size of qwen3") << "qwen3-0.6b"
                                        << "head_dim"
                                        << "128";
    QTest::newRow("window") << "mistral-7b-v0.1"
                            << "sliding_window"
                            << "4096";
    QTest::newRow("ties of llama") << "llama3-8b"
                                   << "tie_word_embeddings"
                                   << "false";
    QTest::newRow("ties of gemma") << "gemma-2b"
                                   << "tie_word_embeddings"
                                   << "true";
    QTest::newRow("activation") << "llama3-8b"
                                << "hidden_act"
                                << "silu";
    QTest::newRow("rank of keys and values") << "deepseek-v3-dense"
                                             << "kv_lora_rank"
                                             << "512";
    QTest::newRow("inner size") << "gpt2-xl"
                                << "n_inner"
                                << "6400";
    QTest::newRow("state") << "mamba-130m"
                           << "state_size"
                           << "16";
    QTest::newRow("step rank") << "mamba-130m"
                               << "time_step_rank"
                               << "48";
    QTest::newRow("heads of mamba 2") << "mamba2-130m"
                                      << "num_heads"
                                      << "24";
    QTest::newRow("experts of mixtral") << "mixtral-8x7b"
                                        << "num_local_experts"
                                        << "8";
    QTest::newRow("experts of qwen2") << "qwen2-57b-a14b"
                                      << "num_experts"
                                      << "60";
    QTest::newRow("experts per token of qwen3") << "qwen3-30b-a3b"
                                                << "num_experts_per_tok"
                                                << "8";
    QTest::newRow("width of experts") << "qwen3-30b-a3b"
                                      << "moe_intermediate_size"
                                      << "768";
    QTest::newRow("head size of qwen3 with experts") << "qwen3-30b-a3b"
                                                     << "head_dim"
                                                     << "64";
    QTest::newRow("experts of gpt-oss") << "gpt-oss-20b"
                                        << "num_local_experts"
                                        << "128";
    QTest::newRow("head size of gpt-oss") << "gpt-oss-20b"
                                          << "head_dim"
                                          << "64";
    QTest::newRow("window of gpt-oss") << "gpt-oss-20b"
                                       << "sliding_window"
                                       << "128";
    QTest::newRow("expansion") << "mpt-7b"
                               << "expansion_ratio"
                               << "4";
  }
  void silence() {
    QFETCH(QString, file);
    QFETCH(QString, key);
    QFETCH(QString, value);
    QJsonObject object = config(file);
    for (const bool null : {false, true}) {
      if (null && key == "sliding_window") continue;  // null means that there is none
      object.remove(key);
      if (null) object[key] = QJsonValue::Null;
      const ImportResult result = imported(object);
      QVERIFY2(result.ok(), listing(result).c_str());
      const ImportField* field = find(result.assumed, qPrintable(key));
      QVERIFY(field);
      QCOMPARE(QString::fromStdString(field->value), value);
    }
  }

  // Either name of the number of experts, and a file that says nothing of layers with dense MLPs.
  void experts() {
    QJsonObject object = config("qwen3-30b-a3b");
    for (const char* key : {"num_experts", "decoder_sparse_step", "mlp_only_layers", "intermediate_size"})
      object.remove(key);
    object["num_local_experts"] = 64;
    ImportResult result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(result.model.experts, int64_t{64});
    QCOMPARE(result.model.ffn, int64_t{0});
    object = config("gpt-oss-20b");
    object["sliding_window"] = QJsonValue::Null;
    result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(result.model.window, int64_t{0});
    QCOMPARE(result.model.expert_ffn, int64_t{2880});
  }

  void latentAttention() {
    QJsonObject object = config("deepseek-v3-dense");
    ModelSpec model = imported(object).model;
    QCOMPARE(model.q_rank, int64_t{1536});
    QCOMPARE(model.kv_rank, int64_t{512});
    QCOMPARE(model.nope_head_dim, int64_t{128});
    QCOMPARE(model.rope_head_dim, int64_t{64});
    QCOMPARE(model.value_head_dim, int64_t{128});
    QCOMPARE(model.mtp_layers, int64_t{1});
    object["q_lora_rank"] = QJsonValue::Null;
    object["num_nextn_predict_layers"] = 0;
    object["num_key_value_heads"] = 64;
    object["model_type"] = "deepseek_v2";
    model = imported(object).model;
    QCOMPARE(model.q_rank, int64_t{0});
    QCOMPARE(model.mtp_layers, int64_t{0});
    QCOMPARE(imported(config("deepseek-v3")).name, std::string("DeepSeek-V3"));
    QCOMPARE(model.kv_heads, int64_t{128});
  }

  // Groups of layers with lightning attention and one softmax attention.
  void lightningAttention() {
    const auto file = [](const char* name) {
      QFile file(QString(SHARDSCAPE_TEST_DATA "/hf26/") + name + "__reconstructed.json");
      return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                            : QJsonObject();
    };
    const auto kinds = [](const QJsonObject& object) {
      const ModelSpec model = imported(object).model;
      const ModelLayers layers = layers_of(model, *ModelLibrary::instance().architecture(model.architecture));
      std::string out;
      for (int64_t i = 0; i < 12; ++i) {
        const std::string& kind = layers.kinds.at(static_cast<size_t>(layers.pattern.at(i, 12))).name;
        out += kind == "linear_dense" ? 'd' : kind.front();
      }
      return out;
    };
    QJsonObject ring = file("inclusionAI--Ring-flash-linear-2.0");
    ring["num_hidden_layers"] = 12;
    QCOMPARE(kinds(ring), std::string("dllllllfffff"));  // four layers behind the only group
    ring["layer_group_size"] = 5;
    QCOMPARE(kinds(ring), std::string("dlllfllllfff"));
    ring["first_k_dense_replace"] = 0;
    QCOMPARE(kinds(ring), std::string("llllfllllfff"));
    ring["layer_group_size"] = 1;
    QCOMPARE(kinds(ring), std::string("ffffffffffff"));
    ring["first_k_dense_replace"] = 1;
    QVERIFY(!imported(ring).ok());
    QCOMPARE(imported(ring).problems.front().accepted, std::string("fewer than \"layer_group_size\""));
    QJsonObject minimax = file("MiniMaxAI--MiniMax-M1-80k");
    QCOMPARE(kinds(minimax), std::string("lllllllfllll"));
    QJsonArray types = minimax["attn_type_list"].toArray();
    types[20] = 2;
    minimax["attn_type_list"] = types;
    QCOMPARE(imported(minimax).problems.front().code, ProblemCode::HfUnsupportedVariant);
  }

  // GLM-4.5 and MiMo-7B: options of attention, assumed modules of multi-token prediction, refused settings.
  void glmAndMimo() {
    const auto file = [](const char* name) {
      QFile file(QString(SHARDSCAPE_TEST_DATA "/hf26/") + name + ".json");
      return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                            : QJsonObject();
    };
    QJsonObject glm = file("zai-org--GLM-4.5__reconstructed");
    const ImportResult large = imported(glm);
    QVERIFY2(large.ok(), listing(large).c_str());
    QCOMPARE(large.model.architecture, std::string("glm4-moe; qkv_bias, qk_norm, part_rope"));
    QCOMPARE(large.model.rope_head_dim, int64_t{64});
    QCOMPARE(large.model.dense_layers, int64_t{3});
    QCOMPARE(large.model.mtp_layers, int64_t{1});  // assumed
    glm["use_qk_norm"] = false;                    // GLM-4.5-Air
    QCOMPARE(imported(glm).model.architecture, std::string("glm4-moe; qkv_bias, part_rope"));
    glm["num_nextn_predict_layers"] = 0;
    QCOMPARE(imported(glm).model.mtp_layers, int64_t{0});
    glm.remove("n_routed_experts");
    QCOMPARE(imported(glm).problems.front().code, ProblemCode::HfSizeMissing);
    for (const auto& [key, value] : {std::pair{"attention_bias", false}, {"use_mrope", true}}) {
      QJsonObject mimo = file("XiaomiMiMo--MiMo-7B-Base_config");
      QCOMPARE(imported(mimo).model.mtp_layers, int64_t{1});
      mimo[key] = value;
      const Problem refused = imported(mimo).problems.front();
      QCOMPARE(refused.code, ProblemCode::HfUnsupportedVariant);
      QVERIFY2(refused.what.find(key) != std::string::npos, refused.what.c_str());
      QCOMPARE(refused.accepted, std::string(value ? "false" : "true"));
    }
  }

  void problems_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QJsonValue>("value");  // undefined: removed
    QTest::addColumn<ProblemCode>("code");
    QTest::addColumn<QString>("accepted");
    const auto row = [](const char* name, const char* file, const char* key, QJsonValue value,
                        ProblemCode code, const char* accepted) {
      QTest::newRow(name) << file << key << value << code << accepted;
    };
    const QJsonValue removed(QJsonValue::Undefined);
    row("no type", "llama3-8b", "model_type", removed, ProblemCode::HfUnknownType,
        "one of bailing_moe_linear");
    row("type is a number", "llama3-8b", "model_type", 7, ProblemCode::HfUnknownType,
        "one of bailing_moe_linear");
    row("mixer", "mamba2-2.7b", "ssm_cfg", QJsonObject{{"layer", "Mamba3"}},
        ProblemCode::HfUnsupportedVariant, "Mamba1 or Mamba2");
    row("attention among mixers", "mamba2-2.7b", "attn_layer_idx", QJsonArray{9},
        ProblemCode::HfUnsupportedVariant, "an empty list");
    row("channels", "mamba-130m", "intermediate_size", 1000, ProblemCode::HfSizesContradict, "1536");
    row("heads of a mixer", "mamba2-130m", "num_heads", 25, ProblemCode::HfSizesContradict, "= 1536");
    row("bias of a mixer", "mamba-130m", "use_bias", true, ProblemCode::HfUnsupportedVariant, "false");
    row("unknown type", "llama3-8b", "model_type", "rwkv", ProblemCode::HfUnknownType, "qwen3");
    row("several models", "llama3-8b", "model_type", "mllama", ProblemCode::HfUnknownType,
        "closest is \"llama\", architecture llama");
    row("mixture of experts", "olmoe-1b-7b", "vocab_size", 50304, ProblemCode::HfUnsupportedType, "llama");
    row("experts in a known type", "llama3-8b", "num_local_experts", 8, ProblemCode::HfUnsupportedType,
        "a family with experts: one of bailing_moe_linear");
    row("layers missing", "llama3-8b", "num_hidden_layers", removed, ProblemCode::HfSizeMissing,
        "a whole number");
    row("hidden null", "llama3-8b", "hidden_size", QJsonValue::Null, ProblemCode::HfSizeMissing,
        "a whole number");
    row("text", "llama3-8b", "vocab_size", "many", ProblemCode::HfSizeInvalid, "a whole number from 1 to");
    row("fraction", "llama3-8b", "num_attention_heads", 32.5, ProblemCode::HfSizeInvalid, "a whole number");
    row("zero", "llama3-8b", "intermediate_size", 0, ProblemCode::HfSizeInvalid, "from 1 to");
    row("negative", "llama3-8b", "num_key_value_heads", -8, ProblemCode::HfSizeInvalid, "from 1 to");
    row("absurd", "llama3-8b", "hidden_size", 1e15, ProblemCode::HfSizeInvalid, "from 1 to");
    row("list", "gpt2-xl", "n_layer", QJsonArray{1, 2}, ProblemCode::HfSizeInvalid, "a whole number");
    row("heads do not divide", "llama3-8b", "num_attention_heads", 33, ProblemCode::HfSizesContradict,
        "head_dim");
    row("activation", "llama3-8b", "hidden_act", "relu", ProblemCode::HfUnsupportedVariant, "silu");
    row("biases", "llama3-8b", "attention_bias", true, ProblemCode::HfUnsupportedVariant, "false");
    row("flag is a number", "llama3-8b", "tie_word_embeddings", 1, ProblemCode::HfFlagInvalid,
        "true or false");
    row("layer types", "gemma2-9b", "layer_types", QJsonArray{"full_attention"},
        ProblemCode::HfUnsupportedVariant, "sliding_attention, full_attention");
    row("experts every other layer", "deepseek-v3", "moe_layer_freq", 2, ProblemCode::HfUnsupportedVariant,
        "1");
    row("experts per token missing", "deepseek-v3", "num_experts_per_tok", removed,
        ProblemCode::HfSizeMissing, "a whole number");
    row("a window of mixtral", "mixtral-8x7b", "sliding_window", 4096, ProblemCode::HfUnsupportedVariant,
        "null");
    row("no experts", "mixtral-8x7b", "num_local_experts", 0, ProblemCode::HfSizeInvalid, "from 1 to");
    row("dense layers between", "qwen2-57b-a14b", "decoder_sparse_step", 2, ProblemCode::HfUnsupportedVariant,
        "1");
    row("dense layers", "qwen3-30b-a3b", "mlp_only_layers", QJsonArray{0, 3},
        ProblemCode::HfUnsupportedVariant, "an empty list");
    row("width of shared experts", "qwen2-57b-a14b", "shared_expert_intermediate_size", 5632,
        ProblemCode::HfSizesContradict, "such as 5120");
    row("no shared experts", "qwen2-57b-a14b", "shared_expert_intermediate_size", 0,
        ProblemCode::HfSizeInvalid, "from 1 to");
    row("no biases of q, k and v", "qwen2-57b-a14b", "qkv_bias", false, ProblemCode::HfUnsupportedVariant,
        "true");
    row("biases of qwen3", "qwen3-30b-a3b", "attention_bias", true, ProblemCode::HfUnsupportedVariant,
        "false");
    row("no biases of gpt-oss", "gpt-oss-20b", "attention_bias", false, ProblemCode::HfUnsupportedVariant,
        "true");
    row("activation of gpt-oss", "gpt-oss-20b", "hidden_act", "gelu", ProblemCode::HfUnsupportedVariant,
        "silu");
    row("experts per token said twice", "gpt-oss-20b", "experts_per_token", 8, ProblemCode::HfSizesContradict,
        "4");
    row("windows of gpt-oss", "gpt-oss-20b", "layer_types", QJsonArray{"full_attention", "sliding_attention"},
        ProblemCode::HfUnsupportedVariant, "sliding_attention, full_attention");
    row("mpt with biases", "mpt-7b", "no_bias", false, ProblemCode::HfUnsupportedVariant,
        "ALiBi without biases");
    row("cross attention", "gpt2-xl", "add_cross_attention", true, ProblemCode::HfUnsupportedVariant,
        "false");
  }
  void problems() {
    QFETCH(QString, file);
    QFETCH(QString, key);
    QFETCH(QJsonValue, value);
    QFETCH(ProblemCode, code);
    QFETCH(QString, accepted);
    QJsonObject object = config(file);
    if (key == "model_type") object.remove("architectures");  // these would decide
    if (value.isUndefined())
      object.remove(key);
    else
      object[key] = value;
    const ImportResult result = imported(object);
    QVERIFY(!result.ok());
    const auto meant = [&](const Problem& p) {
      return p.code == code && QString::fromStdString(p.accepted).contains(accepted);
    };
    QVERIFY2(std::any_of(result.problems.begin(), result.problems.end(), meant), listing(result).c_str());
    for (const Problem& p : result.problems) QVERIFY2(p.where.rfind("config.json:", 0) == 0, p.where.c_str());
  }

  void everyMistakeIsSaidAtOnce() {
    const ImportResult result = imported({{"model_type", "llama"}});
    QVERIFY(result.problems.size() >= 5);
  }

  void notJson_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("truncated") << QByteArray("{\"model_type\": \"llama\",");
    QTest::newRow("list") << QByteArray("[1]");
    QTest::newRow("huge number") << QByteArray("{\"model_type\": \"llama\", \"x\": 1e999999}");
    QTest::newRow("not UTF-8") << QByteArray("{\"model_type\": \"ll\xff\"}");
    QTest::newRow("binary") << QByteArray("\x00\x01\x02", 3);
  }
  void notJson() {
    QFETCH(QByteArray, text);
    const ImportResult result = import_hf_config(text.toStdString(), "config.json");
    QVERIFY(!result.ok());
    QVERIFY(!result.problems.front().accepted.empty());
    QVERIFY(!looks_like_hf_file(text.toStdString()) || text.contains("model_type"));
  }

  // Whatever stands in a member, the answer is a result or a Problem.
  void anyMemberMayBeAnything() {
    const QJsonValue values[] = {QJsonValue::Null,         true, -1, 0, 3, 1e300, "x", QJsonArray{1},
                                 QJsonObject{{"alibi", 3}}};
    for (const QString& name : QDir(SHARDSCAPE_TEST_DATA "/hf").entryList({"*.json"})) {
      const QJsonObject object = config(name.chopped(5));
      for (const QString& key : object.keys())
        for (const QJsonValue& value : values) {
          QJsonObject changed = object;
          changed[key] = value;
          const ImportResult result = imported(changed);
          if (!result.ok()) continue;
          Design design = preset_design("llama3-8b", 1, 1, 1);
          apply_model(design, result.model, result.name);
          const auto report = make_report(design);
          QVERIFY(report->valid() || has_errors(report->problems));
        }
    }
  }

  void names() {
    QJsonObject object = config("llama3-8b");
    object["num_hidden_layers"] = 30;
    QCOMPARE(imported(object).name, std::string("llama"));
    const auto name_in = [&](const char* file) {
      return import_hf_config(QJsonDocument(object).toJson().toStdString(), file).name;
    };
    QCOMPARE(name_in("/models/wide-llama.json"), std::string("wide-llama"));
    QCOMPARE(name_in("wide-llama_config.json"), std::string("wide-llama"));
    object["_name_or_path"] = "someone/my-model/";
    QCOMPARE(imported(object).name, std::string("my-model"));
    QVERIFY(imported(object).model.preset.empty());
  }
};

QTEST_APPLESS_MAIN(HfImportTest)
#include "hf_import_test.moc"
