// Files of several models, unknown model types, what Python writes, and hf_quant_config.json.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "model/huggingface/families/registry.h"
#include "model/huggingface/hf_files.h"
#include "support/hf_configs.h"

using namespace shardscape;
using namespace shardscape::test;

class HfCheckpointTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The balance bias exists if and only if "topk_method" is "noaux_tc". "scoring_func" decides the scores.
  void routers_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QJsonValue>("scores");
    QTest::addColumn<QJsonValue>("method");  // undefined: removed
    QTest::addColumn<QString>("architecture");
    const QJsonValue removed(QJsonValue::Undefined);
    const auto row = [](const char* name, const char* file, QJsonValue scores, QJsonValue method,
                        const char* architecture) {
      QTest::newRow(name) << file << scores << method << architecture;
    };
    row("V3", "deepseek-v3", "sigmoid", "noaux_tc", "deepseek3");
    row("V3, silent", "deepseek-v3", removed, removed, "deepseek3");
    row("softmax with a bias", "deepseek-v3", "softmax", "noaux_tc", "deepseek3-softmax");
    row("softmax, method silent", "deepseek-v3", "softmax", removed, "deepseek3-softmax");
    row("softmax without a bias", "deepseek-v3", "softmax", "greedy", "deepseek2");
    row("no method", "deepseek-v3", "softmax", QJsonValue::Null, "deepseek2");
    row("V2", "deepseek-v2-lite", removed, removed, "deepseek2");
    row("first", "deepseek-moe-16b", removed, removed, "deepseek-moe");
    row("sigmoid without a bias", "deepseek-v3", "sigmoid", "greedy", "");
    row("other scores", "deepseek-v3", "sqrtsoftplus", "noaux_tc", "");
    row("bias without latent attention", "deepseek-moe-16b", "softmax", "noaux_tc", "");
  }
  void routers() {
    QFETCH(QString, file);
    QFETCH(QJsonValue, scores);
    QFETCH(QJsonValue, method);
    QFETCH(QString, architecture);
    QJsonObject object = config(file);
    for (const auto& [key, value] : {std::pair{"scoring_func", scores}, {"topk_method", method}}) {
      object.remove(key);
      if (!value.isUndefined()) object[key] = value;
    }
    const ImportResult result = imported(object);
    QCOMPARE(result.ok(), !architecture.isEmpty());
    if (result.ok()) QCOMPARE(QString::fromStdString(result.model.architecture), architecture);
    if (!result.ok()) QVERIFY(result.problems.front().code == ProblemCode::HfUnsupportedVariant);
    const bool silent = method.isUndefined();
    QCOMPARE(find(result.assumed, "topk_method") != nullptr, silent);
    QCOMPARE(find(result.recognised, "topk_method") != nullptr, !silent);
  }

  // A family without a reader is refused with the mechanisms that have no blocks.
  void missingMechanisms() {
    const ImportResult result = imported(config("olmoe-1b-7b"));
    QCOMPARE(result.problems.size(), size_t{1});
    QVERIFY(result.problems[0].code == ProblemCode::HfUnsupportedType);
    QCOMPARE(result.problems[0].what, std::string("\"olmoe\" is not supported, because no block implements "
                                                  "norms of queries and keys over all heads"));
    for (const hf::FamilyRow& row : hf::families()) {
      QVERIFY2((row.read == nullptr) != std::string(row.missing).empty(), row.type);
      QVERIFY2(hf::family_of_type(row.type) == &row, row.type);
      if (*row.model_class) QVERIFY2(hf::family_of_class(row.model_class) == &row, row.type);
    }
  }

  // An unknown model type: "architectures" decides, otherwise the nearest family is named with the
  // differences.
  void unknownTypes() {
    QJsonObject object = config("llama3-8b");
    object["model_type"] = "mine";
    ImportResult result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(result.model.architecture, std::string("llama"));
    QVERIFY(find(result.recognised, "architectures") && find(result.ignored, "model_type"));
    object["architectures"] = QJsonArray{"MineForCausalLM"};
    object["memory_slots"] = 4;
    object["gate_of_memory"] = true;
    object["hidden_act"] = "relu";
    result = imported(object);
    QCOMPARE(result.problems.size(), size_t{1});
    const Problem& problem = result.problems.front();
    QVERIFY(problem.code == ProblemCode::HfUnknownType);
    QVERIFY2(problem.what.find("no block supports \"gate_of_memory\", \"memory_slots\"") != std::string::npos,
             problem.what.c_str());
    QVERIFY2(problem.accepted.find("closest is \"llama\"") != std::string::npos, problem.accepted.c_str());
    QVERIFY2(problem.accepted.find("the file differs: \"hidden_act\" is \"relu\"") != std::string::npos,
             problem.accepted.c_str());
    object = config("qwen3-30b-a3b");
    object["model_type"] = "mine";
    object.remove("architectures");
    result = imported(object);
    QVERIFY(result.problems.front().accepted.find("closest is \"qwen3_moe\"") != std::string::npos);
  }

  // Bookkeeping and defaults of text generation are ignored. A key that may change the architecture is
  // unknown, also one whose name only resembles those, and one with another value than the harmless one.
  void bookkeepingIsNotUnknown() {
    QJsonObject object = config("llama3-8b");
    for (const char* key : {"id2label", "num_beams", "_attn_implementation_autoset", "image_token_index",
                            "output_scores", "use_cache", "chunk_size_feed_forward"})
      object[key] = 1;
    object["is_encoder_decoder"] = false;
    object["cross_attention_hidden_size"] = QJsonValue::Null;
    object["top_k"] = 50;
    ImportResult result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QVERIFY2(result.unknown.empty(), keys_of(result.unknown).c_str());
    QCOMPARE(find(result.ignored, "num_beams")->note, std::string("text generation only"));
    for (const char* key :
         {"memory_slots", "shared_cache_layers", "layer_scale_init_value", "qk_rope_head_dim"})
      object[key] = 4;
    object["is_encoder_decoder"] = true;
    object["cross_attention_hidden_size"] = 64;
    object["top_k"] = 8;
    result = imported(object);
    QCOMPARE(keys_of(result.unknown),
             std::string("cross_attention_hidden_size is_encoder_decoder layer_scale_init_value memory_slots "
                         "qk_rope_head_dim shared_cache_layers top_k "));
    for (const ImportField& field : result.unknown) QVERIFY2(!field.note.empty(), field.key.c_str());
  }

  // An unknown type is read as its nearest type on request. What this type has no blocks for is a difference.
  void importAsTheNearestType() {
    QJsonObject object = config("llama3-8b");
    object["model_type"] = "mine";
    object["architectures"] = QJsonArray{"MineForCausalLM"};
    object["memory_slots"] = 4;
    object["hidden_act"] = "relu";
    object["num_local_experts"] = 8;
    const std::string text = QJsonDocument(object).toJson().toStdString();
    const ImportResult refused = import_hf_config(text, "mine.json");
    QVERIFY(!refused.ok() && refused.as.empty() && refused.differences.empty());
    QVERIFY(!refused.nearest.empty());
    const ImportResult result = import_hf_config(text, "mine.json", "llama");
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(result.as, std::string("llama"));
    QCOMPARE(result.name, std::string("mine"));  // never that of a preset, which the file only resembles
    QCOMPARE(result.model.preset, std::string());
    QCOMPARE(result.model.architecture, std::string("llama"));
    QCOMPARE(result.model.layers, int64_t{32});
    const ImportField* activation = find(result.differences, "hidden_act");
    QVERIFY(activation && activation->value == "\"relu\"");
    QVERIFY(find(result.differences, "num_local_experts"));
    QVERIFY(find(result.unknown, "memory_slots") && find(result.assumed, "model_type"));
    QVERIFY(!find(result.recognised, "hidden_act"));

    object.remove("hidden_size");  // a size that is missing stays a problem
    QVERIFY(!import_hf_config(QJsonDocument(object).toJson().toStdString(), "mine.json", "llama").ok());
    const ImportResult absent = import_hf_config(text, "mine.json", "absent");
    QCOMPARE(absent.problems.size(), size_t{1});
    QVERIFY(absent.problems[0].accepted.find("llama") != std::string::npos);
  }

  // The family of text_config.model_type reads the language model. Entries have the path in the file.
  void severalModels() {
    QJsonObject language = config("qwen3-0.6b");
    language["model_type"] = "qwen3_vl_text";
    language.remove("architectures");
    language.remove("tie_word_embeddings");
    QJsonObject object{{"model_type", "qwen3_vl"},
                       {"hidden_size", 7},
                       {"tie_word_embeddings", true},
                       {"text_config", language}};
    ImportResult result = imported(object);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(result.model.hidden, int64_t{1024});
    QVERIFY(result.model.tied_embeddings);
    QVERIFY(find(result.recognised, "text_config.hidden_size"));
    QVERIFY(find(result.recognised, "tie_word_embeddings"));
    QVERIFY(find(result.unknown, "hidden_size") && !find(result.ignored, "text_config"));
    object["vision_config"] = QJsonObject{{"hidden_size", 8}};
    object["model_type"] = "other_vl";
    result = imported(object);
    QCOMPARE(result.problems.size(), size_t{1});
    QVERIFY(result.problems[0].code == ProblemCode::HfUnsupportedType);
    QCOMPARE(result.problems[0].what, std::string("this vision tower is not supported yet"));
    QVERIFY(find(result.recognised, "text_config.num_hidden_layers"));
    object.remove("vision_config");
    object["architectures"] = QJsonArray{"Qwen3VLForConditionalGeneration"};  // sizes by default
    QCOMPARE(imported(object).problems.at(0).what, std::string("this vision tower is not supported yet"));
  }

  // The tower of a known type becomes sizes, and an architecture with the language model's blocks.
  void visionTowers() {
    QJsonObject language = config("qwen3-0.6b");
    language["model_type"] = "qwen3_vl_text";
    language.remove("architectures");
    QJsonObject vision{{"depth", 24},
                       {"hidden_size", 1024},
                       {"num_heads", 16},
                       {"intermediate_size", 4096},
                       {"num_position_embeddings", 2304},
                       {"patch_size", 16},
                       {"out_hidden_size", 1024},
                       {"deepstack_visual_indexes", QJsonArray{5, 11, 17}}};
    const auto read = [&](const char* key, const QJsonValue& value) {
      QJsonObject changed = vision;
      changed[key] = value;
      return imported({{"model_type", "qwen3_vl"}, {"text_config", language}, {"vision_config", changed}});
    };
    const ImportResult result = read("depth", 24);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(result.model.architecture, std::string("qwen3-vl"));
    QCOMPARE(result.model.hidden, int64_t{1024});
    QCOMPARE(result.model.vision_layers, int64_t{24});
    QCOMPARE(result.model.vision_head_dim, int64_t{64});
    QCOMPARE(result.model.vision_merge, int64_t{4});
    QCOMPARE(result.model.vision_frames, int64_t{2});
    QVERIFY(find(result.recognised, "vision_config.depth"));
    QVERIFY(find(result.assumed, "vision_config.spatial_merge_size"));
    for (const auto& [key, value, said] :
         {std::tuple<const char*, QJsonValue, const char*>{"deepstack_visual_indexes", QJsonArray{5},
                                                           "three DeepStack mergers"},
          {"out_hidden_size", 512, "is 512, not 1024"},
          {"num_heads", 7, "does not split over 7 heads"},
          {"hidden_act", "relu", "the MLP of this family"},
          {"depth", 0, "layers of the vision tower"}}) {
      const ImportResult refused = read(key, value);
      QCOMPARE(refused.problems.size(), size_t{1});
      QVERIFY2(refused.problems[0].what.find(said) != std::string::npos, refused.problems[0].what.c_str());
    }
  }

  // A problem has the line of the key inside its object, also where another object has the same key.
  void lines() {
    const std::string text = R"({
  "vision_config": {"list": [{"hidden_size": 1}], "text_config": "text_config",
    "hidden_size": 2},
  "text_config": {
    "model_type": "llama",
    "note": "\"hidden_size\": {",
    "hidden_size": -1
  }
})";
    const ImportResult result = import_hf_config(text, "config.json");
    const auto at = [&](const char* line, const char* said) {
      return std::any_of(result.problems.begin(), result.problems.end(), [&](const Problem& p) {
        return p.where == line && p.what.find(said) != std::string::npos;
      });
    };
    QVERIFY2(at("config.json:7", "\"text_config.hidden_size\""), listing(result).c_str());
    QVERIFY2(at("config.json:4", "\"text_config.vocab_size\""), listing(result).c_str());
    QVERIFY2(at("config.json:2", "vision tower"), listing(result).c_str());
  }

  // Numbers that Python's json module writes are read; in texts the words stay text.
  void pythonNumbers() {
    std::string text = QJsonDocument(config("llama3-8b")).toJson().toStdString();
    const std::string added = R"("limit": [0.0, Infinity, -Infinity, NaN],
  "note": "Infinity, \"NaN\"",
  "hidden_size": )";
    text.replace(text.find("\"hidden_size\": "), 15, added);
    const ImportResult result = import_hf_config(text, "config.json");
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(find(result.unknown, "limit")->value, std::string("[0.0,Infinity,-Infinity,NaN]"));
    QCOMPARE(find(result.unknown, "note")->value, std::string(R"("Infinity, \"NaN\"")"));
    QVERIFY(looks_like_hf_file(text));
    const auto where = [](const std::string& json) {
      const Problem problem = import_hf_config(json, "c").problems.at(0);
      return problem.where + " " + problem.what;
    };
    QCOMPARE(where("{\"model_type\": \"llama\",\n\"a\": NaN,\n\"hidden_size\": Infinity}"),
             std::string("c:1 \"num_hidden_layers\", the layers (L), is missing"));
    const std::string broken = "{\"a\": NaN,\n\"b\": [Infinity],\n\"c\": x}";
    QVERIFY2(where(broken).starts_with("c:3:6 the file is not JSON from byte " +
                                       std::to_string(broken.find('x') + 1) + " on: "),
             where(broken).c_str());
  }

  // hf_quant_config.json and config.json are read together, whichever is named.
  void quantizedWeights() {
    QTemporaryDir folder;
    const auto write = [&](const char* name, const QByteArray& text) {
      QFile file(folder.filePath(name));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
    };
    const QByteArray model = QJsonDocument(config("llama3-8b")).toJson();
    write("a_config.json", model);
    write("a_hf_quant_config.json", R"({"producer": {"name": "modelopt"}, "quantization": {
      "quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
    write("config.json", model);
    write("other.json", model);
    write("hf_quant_config.json", R"({"quantization": {"quant_algo": "NVFP4"}})");
    write("b_hf_quant_config.json", R"({"quantization": {}})");
    const auto listed = [&](const char* name) {
      const auto files = read_hf_files(folder.filePath(name).toStdString());
      const ImportResult result = import_hf_files(std::get<HfFiles>(files));
      const ImportField* field = find(result.recognised, "hf_quant_config.quantization");
      return result.ok() ? field ? weight_formats_text(result.model.weight_formats) : "none"
                         : listing(result);
    };
    QCOMPARE(listed("a_config.json"), std::string("attention=fp8, mlp=fp8"));
    QCOMPARE(listed("a_hf_quant_config.json"), std::string("attention=fp8, mlp=fp8"));
    QCOMPARE(listed("config.json"), std::string("attention=nvfp4, mlp=nvfp4"));
    QCOMPARE(listed("hf_quant_config.json"), std::string("attention=nvfp4, mlp=nvfp4"));
    QCOMPARE(listed("other.json"), std::string("none"));
    const auto alone = read_hf_files(folder.filePath("b_hf_quant_config.json").toStdString());
    QVERIFY(std::get<Problem>(alone).code == ProblemCode::HfConfigMissing);
    write("a_hf_quant_config.json", "{");
    const auto files = read_hf_files(folder.filePath("a_config.json").toStdString());
    QVERIFY(import_hf_files(std::get<HfFiles>(files)).problems.at(0).code == ProblemCode::JsonSyntax);
  }

  void recognisesItsFiles() {
    QVERIFY(looks_like_hf_file(R"({"model_type": "llama"})"));
    QVERIFY(looks_like_hf_file(R"({"architectures": ["X"]})"));
    QVERIFY(looks_like_hf_file(R"({"quantization": {"quant_algo": "FP8"}})"));
    QVERIFY(!looks_like_hf_file(R"({"shardscape": 1, "model": {}})"));
    QVERIFY(!looks_like_hf_file("{}"));
    QVERIFY(!looks_like_hf_file("nonsense"));
  }
};

QTEST_APPLESS_MAIN(HfCheckpointTest)
#include "hf_checkpoint_test.moc"
