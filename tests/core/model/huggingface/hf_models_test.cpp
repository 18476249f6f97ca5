// The models of 2025 and 2026: each config.json gives the published counts to the unit, or is refused with
// the mechanism that has no blocks. tests/data/hf26/README.md describes the data.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "model/huggingface/hf_files.h"
#include "plan/report.h"
#include "support/designs.h"
#include "support/hf_configs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr const char* kData = SHARDSCAPE_TEST_DATA "/hf26/";

QJsonArray models() {
  QFile file(QString(kData) + "models.json");
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).array() : QJsonArray();
}

// The file in the repository, or in the folder that the environment names; empty where it is in neither.
QString path_of(const QString& name) {
  for (const QString& folder : {QString(kData), qEnvironmentVariable("SHARDSCAPE_HF_CONFIGS")})
    if (!folder.isEmpty() && QFile::exists(QDir(folder).filePath(name))) return QDir(folder).filePath(name);
  return {};
}

}  // namespace

class HfModelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyFileHasARow() {
    QStringList names;
    for (const QJsonValue& model : models()) names << model["file"].toString();
    QCOMPARE(names.size(), 75);
    for (const QString& name : QDir(kData).entryList({"*_config.json", "*__reconstructed.json"}))
      QVERIFY2(names.contains(name), qPrintable(name));
  }

  void counts_data() {
    QTest::addColumn<QJsonObject>("model");
    for (const QJsonValue& model : models())
      if (!path_of(model["file"].toString()).isEmpty())
        QTest::newRow(qPrintable(model["file"].toString())) << model.toObject();
  }
  void counts() {
    QFETCH(QJsonObject, model);
    const auto files = read_hf_files(path_of(model["file"].toString()).toStdString());
    QVERIFY(std::holds_alternative<HfFiles>(files));
    const ImportResult result = import_hf_files(std::get<HfFiles>(files));
    const QJsonArray refused = model["refused"].toArray();
    QStringList said;
    for (const Problem& p : result.problems)
      said << QString::fromStdString(std::string(code_text(p.code)) + ": " + p.what);
    QVERIFY2(result.problems.size() == static_cast<size_t>(refused.size()), qPrintable(said.join('\n')));
    for (qsizetype i = 0; i < refused.size(); ++i) {
      QVERIFY2(said[i].startsWith(refused[i]["code"].toString() + ":"), qPrintable(said[i]));
      QVERIFY2(said[i].contains(refused[i]["reason"].toString()), qPrintable(said[i]));
    }
    if (!refused.isEmpty()) return;
    Design design = preset_design("llama3-8b", 1, 1, 1);
    apply_model(design, result.model, result.name);
    const auto report = make_report(design);
    QVERIFY(report->valid());
    const ModelCounts counts = model_counts(*report);
    qint64 sum = 0;
    for (int i = 0; i < kModelPartCount; ++i) {
      const std::string name(model_part_name(static_cast<ModelPart>(i)));
      const qint64 part = static_cast<qint64>(counts.parts[static_cast<size_t>(i)]);
      QVERIFY2(part == model[name.c_str()].toInteger(), (name + " " + std::to_string(part)).c_str());
      sum += part;
    }
    QCOMPARE(static_cast<qint64>(counts.parameters.value), sum - model["mtp"].toInteger());
    QCOMPARE(static_cast<qint64>(counts.active.value), model["active"].toInteger());
    QCOMPARE(static_cast<qint64>(report->model_parameters.value), sum);
  }

  // The language models of Gemma 4, without their towers: layers that share keys and per-layer inputs (E2B),
  // keys as values and experts next to MLPs (26B-A4B; its sizes are facts of the published file).
  void gemma4Languages() {
    QFile file(QString(kData) + "google--gemma-4-E2B__reconstructed.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject small = QJsonDocument::fromJson(file.readAll())["text_config"].toObject();
    const QJsonObject large{{"model_type", "gemma4_text"},
                            {"attention_k_eq_v", true},
                            {"enable_moe_block", true},
                            {"global_head_dim", 512},
                            {"head_dim", 256},
                            {"hidden_size", 2816},
                            {"hidden_size_per_layer_input", 0},
                            {"intermediate_size", 2112},
                            {"moe_intermediate_size", 704},
                            {"num_attention_heads", 16},
                            {"num_experts", 128},
                            {"num_global_key_value_heads", 2},
                            {"num_hidden_layers", 30},
                            {"num_key_value_heads", 8},
                            {"num_kv_shared_layers", 0},
                            {"sliding_window", 1024},
                            {"tie_word_embeddings", true},
                            {"top_k_experts", 8},
                            {"vocab_size", 262144}};
    // Parameters, active parameters, cache bytes per token: 12 + 3 and 25 + 5 layers own a cache.
    const std::tuple<QJsonObject, qint64, qint64, qint64> models[] = {
        {small, 4628569379, 4628569379, 2 * 2 * (12 * 256 + 3 * 512)},
        {large, 25233141790, 3822530590, 2 * 2 * (25 * 8 * 256 + 5 * 2 * 512)}};
    for (const auto& [config, parameters, active, cache] : models) {
      const ImportResult result = imported(config);
      QVERIFY2(result.ok(), listing(result).c_str());
      Design design = preset_design("llama3-8b", 1, 1, 1);
      apply_model(design, result.model, result.name);
      design.workload.mode = Mode::Decode;
      const auto report = make_report(design);
      QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems[0]).c_str());
      QCOMPARE(static_cast<qint64>(report->model_parameters.value), parameters);
      QCOMPARE(static_cast<qint64>(model_counts(*report).active.value), active);
      QCOMPARE(static_cast<qint64>(report->kv_cache_bytes.value), cache);
    }
  }
};

QTEST_APPLESS_MAIN(HfModelsTest)
#include "hf_models_test.moc"
