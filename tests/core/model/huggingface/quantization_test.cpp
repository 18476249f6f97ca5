// How files say which modules are quantized, and what becomes of it.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "model/huggingface/quantization.h"
#include "model/layer_variant.h"
#include "support/hf_configs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using json = nlohmann::ordered_json;

// A file in the repository, or in the folder that the environment names; empty where it is in neither.
std::string text_of(const QString& name) {
  for (const QString& folder :
       {QString(SHARDSCAPE_TEST_DATA "/hf26/"), qEnvironmentVariable("SHARDSCAPE_HF_CONFIGS")}) {
    QFile file(QDir(folder).filePath(name));
    if (!folder.isEmpty() && file.open(QIODevice::ReadOnly)) return file.readAll().toStdString();
  }
  return {};
}

hf::QuantizationRules rules_of(const char* text) { return hf::read_quantization(json::parse(text), ""); }

const char* kRoleOrder = "q o q_b kv_b index_q index_weights down expert_up shared_up router mixer_in head";

// Formats of the roles in kRoleOrder in one layer.
QString formats(const hf::QuantizationRules& rules, const std::string& type, int layer) {
  QStringList out;
  for (const QString& name : QString(kRoleOrder).split(' ')) {
    const WeightRole role = *weight_role_from_name(name.toStdString());
    const WeightFormat format = hf::format_of(rules, type, role, role == WeightRole::Head ? -1 : layer);
    out << (format == WeightFormat::Plain ? "-" : QString::fromUtf8(weight_format_name(format)));
  }
  return out.join(' ');
}

}  // namespace

class QuantizationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void patterns_data() {
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("module");
    QTest::addColumn<bool>("fits");
    const auto row = [](const char* pattern, const char* module, bool fits) {
      QTest::addRow("%s, %s", pattern, module) << pattern << module << fits;
    };
    row("model.layers.3.mlp.gate", "layers.3.mlp.gate", true);
    row("model.layers.3.mlp.gate", "layers.3.mlp.gate_proj", false);
    row("model.layers.3.mlp.gate", "layers.30.mlp.gate", false);
    row("language_model.model.layers.3.self_attn", "layers.3.self_attn.q_proj", true);
    row("lm_head", "lm_head", true);
    row("language_model.lm_head", "lm_head", true);
    row("gate", "layers.3.block_sparse_moe.gate", true);
    row("gate", "layers.3.mlp.gate_proj", false);
    row("model.layers.*.self_attn", "layers.11.self_attn.q_proj", true);
    row("model.layers.*.self_attn", "layers.11.mlp.up_proj", false);
    row("model.layers.0*", "layers.0.mlp.up_proj", true);
    row("model.layers.0*", "layers.10.mlp.up_proj", false);
    row("model.layers.1.*", "layers.1.mlp.up_proj", true);
    row("model.layers.1.*", "layers.11.mlp.up_proj", false);
    row("*.attn.*", "layers.2.attn.wq_a", true);
    row("mtp*", "layers.2.mlp.up_proj", false);
    row("mtp.layers.0*", "layers.0.mlp.up_proj", false);
    row("re:.*self_attn.*", "layers.2.self_attn.o_proj", true);
    row("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "layers.0.mlp.up_proj", true);
    row("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "layers.1.mlp.experts.0.up_proj", false);
    row("re:.*lm_head.*", "lm_head", true);
    row("re:model\\.layers\\.2\\.", "layers.2.mlp.up_proj", true);
    row("re:self_attn", "layers.2.self_attn.o_proj", false);  // from the beginning of the name
  }
  void patterns() {
    QFETCH(QString, pattern);
    QFETCH(QString, module);
    QFETCH(bool, fits);
    hf::ModulePatterns patterns;
    QCOMPARE(patterns.add(pattern.toStdString()), std::string());
    QCOMPARE(patterns.fits(module.toStdString()), fits);
  }

  void unreadableExpressions() {
    const auto rules = rules_of("{\"quant_method\": \"fp8\", \"ignore\": [\"re:(\", \"lm_head\"]}");
    QCOMPARE(rules.problems.size(), size_t{1});
    QJsonObject object = config("llama3-8b");
    object["quantization_config"] = QJsonObject{{"quant_method", "fp8"}, {"ignore", QJsonArray{"re:["}}};
    const ImportResult result = imported(object);
    QCOMPARE(result.problems.size(), size_t{1});
    QVERIFY(result.problems[0].code == ProblemCode::HfQuantizationUnreadable);
  }

  // Too many patterns are a reason of their own.
  void tooManyPatterns_data() {
    QTest::addColumn<QString>("pattern");  // %1: a number
    QTest::addColumn<int>("count");
    QTest::addColumn<QString>("what");
    QTest::newRow("expressions") << "re:a%1" << 65 << "is one of more than 64 regular expressions";
    QTest::newRow("globs") << "a%1*" << 513 << "is one of more than 512 globs";
    QTest::newRow("a counted repetition") << "re:(a?){%1}" << 1 << "has a counted repetition, such as {2}";
    QTest::newRow("a long glob") << QString(400, 'a') + "%1*" << 1 << "is longer than 400 characters";
    QTest::newRow("a long expression")
        << "re:" + QString(400, 'a') + "%1" << 1 << "is longer than 400 characters";
  }
  void tooManyPatterns() {
    QFETCH(QString, pattern);
    QFETCH(int, count);
    hf::ModulePatterns patterns;
    for (int i = 1; i < count; ++i) QCOMPARE(patterns.add(pattern.arg(i).toStdString()), std::string());
    QTEST(QString::fromStdString(patterns.add(pattern.arg(count).toStdString())), "what");
  }

  // Each layer has other modules in the data type: layer 5 = 101b the first and the third.
  void moreFormatsThanVariants() {
    const QStringList modules{
        "self_attn.q_a_proj",    "self_attn.q_b_proj",      "self_attn.kv_a_proj_with_mqa",
        "self_attn.kv_b_proj",   "self_attn.o_proj",        "mlp.shared_experts.up_proj",
        "mlp.experts.0.up_proj", "mlp.experts.0.gate_proj", "mlp.experts.0.down_proj"};
    QJsonArray plain;
    for (int layer = 0; layer < 500; ++layer)
      for (int i = 0; i < modules.size(); ++i)
        if (layer >> i & 1) plain.append(QString("model.layers.%1.%2").arg(layer).arg(modules[i]));
    QJsonObject object = config("deepseek-v3");
    object["num_hidden_layers"] = 500;
    object["first_k_dense_replace"] = 0;
    object["quantization_config"] = QJsonObject{{"quant_method", "fp8"}, {"ignore", plain}};
    const ImportResult result = imported(object);
    QCOMPARE(result.problems.size(), size_t{1});
    QVERIFY(result.problems[0].code == ProblemCode::HfQuantizationUnreadable);
    QVERIFY(result.problems[0].what.find("more than 256 sets of formats") != std::string::npos);
  }

  void methods_data() {
    QTest::addColumn<QString>("object");
    QTest::addColumn<QString>("format");  // of an up projection
    const auto group = [](const char* weights, const char* inputs) {
      return QString(
                 "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"targets\": "
                 "[\"Linear\"], \"weights\": {%1}, \"input_activations\": %2}}}")
          .arg(weights, inputs);
    };
    QTest::newRow("fp8") << "{\"quant_method\": \"fp8\"}"
                         << "fp8";
    QTest::newRow("blocks") << "{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}"
                            << "fp8-block";
    QTest::newRow("e8m0")
        << "{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], \"scale_fmt\": \"ue8m0\"}"
        << "fp8-block-e8m0";
    QTest::newRow("mxfp4") << "{\"quant_method\": \"mxfp4\"}"
                           << "mxfp4";
    QTest::newRow("modelopt") << "{\"quant_algo\": \"NVFP4\", \"group_size\": 16}"
                              << "nvfp4";
    QTest::newRow("weights only") << "{\"quant_algo\": \"W4A16_NVFP4\"}"
                                  << "nvfp4-a16";
    QTest::newRow("int4") << group("\"type\": \"int\", \"num_bits\": 4, \"group_size\": 32", "null")
                          << "int4-g32";
    QTest::newRow("int4 of 128") << group("\"type\": \"int\", \"num_bits\": 4, \"group_size\": 128", "null")
                                 << "int4-g128";
    QTest::newRow("float 4 of 32") << group("\"type\": \"float\", \"num_bits\": 4, \"group_size\": 32",
                                            "null")
                                   << "mxfp4";
    QTest::newRow("float 4 of 16") << group("\"type\": \"float\", \"num_bits\": 4, \"group_size\": 16", "{}")
                                   << "nvfp4";
    QTest::newRow("float 8") << group("\"type\": \"float\", \"num_bits\": 8", "{}") << "fp8";
    QTest::newRow("float 8, weights") << group("\"type\": \"float\", \"num_bits\": 8", "null") << "fp8-a16";
    QTest::newRow("int8") << group("\"type\": \"int\", \"num_bits\": 8", "null") << "bf16";
    QTest::newRow("unknown") << "{\"quant_method\": \"hqq\"}"
                             << "bf16";
  }
  void methods() {
    QFETCH(QString, object);
    QFETCH(QString, format);
    const auto rules = rules_of(object.toUtf8().constData());
    QCOMPARE(QString::fromUtf8(weight_format_name(hf::format_of(rules, "llama", WeightRole::Up, 0))), format);
    QCOMPARE(hf::format_of(rules, "llama", WeightRole::Head, -1), WeightFormat::Plain);
    QCOMPARE(rules.notes.empty(), format != "bf16");
  }

  // Published files, also of models whose mechanisms have no blocks. Columns as in kRoleOrder.
  void publishedFiles_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("layer");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* file, int layer, const char* expected) {
      if (!text_of(file).empty()) QTest::addRow("%s, %d", file, layer) << file << layer << expected;
    };
    const QByteArray all(
        "fp8-block fp8-block fp8-block fp8-block fp8-block - fp8-block fp8-block fp8-block - fp8-block -");
    row("deepseek-ai--DeepSeek-R1_config.json", 3, all);
    row("XiaomiMiMo--MiMo-V2-Flash_config.json", 1, all);
    row("MiniMaxAI--MiniMax-M2.5_config.json", 1, all);
    row("moonshotai--Kimi-K2-Instruct_config.json", 1, all);
    row("zai-org--GLM-5-FP8_config.json", 3, all);
    row("Qwen--Qwen3-235B-A22B-FP8_config.json", 3, all);
    const QByteArray e8m0 = QByteArray(all).replace("fp8-block", "fp8-block-e8m0");
    row("deepseek-ai--DeepSeek-V3.2_config.json", 3, e8m0);
    row("sgl-project--DeepSeek-V4-Flash-FP8_config.json", 3, e8m0);
    row("deepseek-ai--DeepSeek-V4-Flash_config.json", 3,
        "fp8-block-e8m0 fp8-block-e8m0 fp8-block-e8m0 fp8-block-e8m0 fp8-block-e8m0 - fp8-block-e8m0 "
        "mxfp4-a8 fp8-block-e8m0 - fp8-block-e8m0 -");
    row("nvidia--DeepSeek-V4-Flash-NVFP4_config.json", 3,
        "fp8-block-e8m0 fp8-block-e8m0 fp8-block-e8m0 fp8-block-e8m0 fp8-block-e8m0 - fp8-block-e8m0 nvfp4 "
        "fp8-block-e8m0 - fp8-block-e8m0 -");
    row("openai--gpt-oss-20b_config.json", 3, "- - - - - - mxfp4 mxfp4 mxfp4 - mxfp4 -");
    row("moonshotai--Kimi-K2.5_config.json", 3, "- - - - - - - int4-g32 - - int4-g32 -");
    row("moonshotai--Kimi-K3_config.json", 3, "- - - - - - - mxfp4 - - mxfp4 -");
    row("nvidia--DeepSeek-V3.1-NVFP4_hf_quant_config.json", 3,
        "nvfp4 nvfp4 - - nvfp4 - nvfp4 nvfp4 nvfp4 - nvfp4 -");
    row("nvidia--GLM-5-NVFP4_hf_quant_config.json", 3, "nvfp4 - - - - - nvfp4 nvfp4 nvfp4 - nvfp4 -");
    row("nvidia--GLM-5.2-NVFP4_config.json", 0, "- - - - - - - - - - - -");
    row("nvidia--GLM-5.2-NVFP4_config.json", 10, "- - - - - - nvfp4 nvfp4 - - nvfp4 -");
    row("nvidia--Gemma-4-26B-A4B-NVFP4_config.json", 7, "- - - - - - - nvfp4 - - nvfp4 -");
    row("nvidia--Kimi-K2.5-NVFP4_config.json", 7, "- - - - - - nvfp4 nvfp4 nvfp4 - nvfp4 -");
    row("nvidia--Llama-3.1-70B-Instruct-FP8_hf_quant_config.json", 7,
        "fp8 fp8 fp8 fp8 fp8 - fp8 fp8 fp8 - fp8 -");
    row("nvidia--MiniMax-M2.5-NVFP4_config.json", 7, "- - - - - - nvfp4 nvfp4 nvfp4 - nvfp4 -");
    row("nvidia--MiniMax-M3-NVFP4_config.json", 1, "mxfp8 mxfp8 - - - - mxfp8 - - - - -");
    row("nvidia--MiniMax-M3-NVFP4_config.json", 30, "mxfp8 mxfp8 - - mxfp8 - - nvfp4 mxfp8 - - -");
    row("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4_hf_quant_config.json", 4,
        "nvfp4 nvfp4 nvfp4 nvfp4 nvfp4 - nvfp4 nvfp4 nvfp4 - - -");
    row("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4_hf_quant_config.json", 5,
        "- - nvfp4 nvfp4 nvfp4 - nvfp4 nvfp4 nvfp4 - nvfp4 -");
    row("nvidia--NVIDIA-Nemotron-3-Ultra-550B-A55B-FP8_hf_quant_config.json", 5,
        "fp8 fp8 fp8 fp8 fp8 - fp8 fp8 fp8 - fp8 -");
    row("nvidia--Qwen3-235B-A22B-NVFP4_hf_quant_config.json", 5,
        "nvfp4 nvfp4 nvfp4 nvfp4 nvfp4 - nvfp4 nvfp4 nvfp4 - nvfp4 -");
    row("nvidia--Qwen3.6-27B-NVFP4_config.json", 0, "- - - - - - nvfp4-a16 - - - fp8 nvfp4-a16");
    row("nvidia--Qwen3.6-27B-NVFP4_config.json", 3, "fp8 fp8 - - - - nvfp4-a16 - - - - nvfp4-a16");
  }
  void publishedFiles() {
    QFETCH(QString, file);
    QFETCH(int, layer);
    QFETCH(QString, expected);
    const json root = json::parse(text_of(file));
    const json& language = root.contains("text_config") ? root["text_config"] : root;
    const bool inside = language.contains("quantization_config");
    const json& object = root.contains("quantization") ? root["quantization"]
                                                       : (inside ? language : root)["quantization_config"];
    std::string type = root.value("model_type", "");
    if (root.contains("quantization")) {
      const json model = json::parse(text_of(QString(file).replace("hf_quant_config", "config")));
      type = model.value("model_type", "");
    }
    QElapsedTimer timer;
    timer.start();
    const auto rules = hf::read_quantization(object, root.value("expert_dtype", ""));
    QVERIFY(rules.problems.empty() && rules.notes.empty());
    QCOMPARE(formats(rules, type, layer), expected);
    for (int i = 0; i < 100; ++i) (void)formats(rules, type, i);
    QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
  }

  // Lists of every module of a model: the time grows with the list, not with its square.
  void longLists() {
    const auto seconds = [](int layers) {
      json names = json::array();
      for (int layer = 0; layer < layers; ++layer)
        for (int i = 0; i < 400; ++i)
          names.push_back("model.layers." + std::to_string(layer) + ".mlp.experts." + std::to_string(i) +
                          (i % 2 ? ".up_proj" : ".down_*"));
      const json object{{"quant_algo", "NVFP4"}, {"exclude_modules", names}};
      QElapsedTimer timer;
      timer.start();
      const auto rules = hf::read_quantization(object, "");
      for (int layer = 0; layer < layers; ++layer) (void)formats(rules, "deepseek_v3", layer);
      return static_cast<double>(timer.nsecsElapsed()) * 1e-9;
    };
    (void)seconds(10);
    const double few = seconds(10), many = seconds(80);
    QVERIFY2(many < 30 * few + 0.5, qPrintable(QString("%1 s, %2 s").arg(few).arg(many)));
  }

  // Layers in other formats become variants, and a pattern places them.
  void variantsOfLayers() {
    QJsonObject object = config("deepseek-v3");
    object["num_hidden_layers"] = 8;
    object["quantization_config"] = QJsonObject{
        {"quant_method", "modelopt"},
        {"quant_algo", "NVFP4"},
        {"ignore", QJsonArray{"lm_head", "model.layers.0*", "model.layers.*.self_attn*",
                              "model.layers.5.mlp.shared_experts*"}}};
    const ImportResult result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(weight_formats_text(result.model.weight_formats),
             std::string("mlp=nvfp4, experts=nvfp4, shared_experts=nvfp4"));
    QCOMPARE(result.model.layer_pattern, std::string("dense_w1, dense*2, moe*2, moe_w1, moe*2"));
    QCOMPARE(layer_variants_text(result.model.variants),
             std::string("dense_w1: dense mlp_weights=bf16; moe_w1: moe shared_experts_weights=bf16"));
    const ImportField* field = find(result.recognised, "quantization_config");
    QVERIFY(field && field->note.find("variant moe_w1") != std::string::npos);
    QCOMPARE(field->value, std::string("modelopt NVFP4"));
  }

  // The preview says what the file means for the cache.
  void caches() {
    QJsonObject object = config("llama3-8b");
    object["quantization_config"] = QJsonObject{{"quant_algo", "FP8"},
                                                {"kv_cache_scheme", QJsonObject{{"num_bits", 8}}}};
    const ImportResult result = imported(object);
    const ImportField* field = find(result.recognised, "quantization_config");
    QVERIFY(field && field->note.find("KV cache type") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(QuantizationTest)
#include "quantization_test.moc"
