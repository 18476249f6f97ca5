// Names of models in launch files, logs and measured sets stand for presets.
#include <QtTest>

#include <map>

#include "model/preset_names.h"

using namespace shardscape;

class PresetNamesTest : public QObject {
  Q_OBJECT
 private slots:
  void names_of_models_data() {
    QTest::addColumn<QString>("preset");
    const auto row = [](const char* name, const char* preset) { QTest::newRow(name) << QString(preset); };
    row("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama3-8b");
    row("meta-llama/Llama-3.3-70B-Instruct", "llama3-70b");
    row("/models/Meta-Llama-3-70B/", "llama3-70b");
    row("Qwen/Qwen3-4B-Instruct-2507", "qwen3-4b");
    row("Qwen3_30B_a3B", "qwen3-30b-a3b");
    row("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b");
    row("deepseek-ai/DeepSeek-R1-0528", "deepseek-v3");
    row("nvidia/DeepSeek-R1-0528-FP4-v2", "deepseek-v3");
    row("deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-v3");
    row("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3");
    row("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "");
    row("deepseek-v2", "deepseek-v2");
    row("axolotl-ai-co/gpt-oss-120b-dequantized", "gpt-oss-120b");
    row("llama3-8b", "llama3-8b");
    row("llama2-70b-99.9", "llama2-70b");
    row("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3");
    row("mistralai/Mistral-7B-Instruct-v0.2", "");
    row("bigscience/bloom", "bloom-176b");
    row("Qwen/Qwen-9000B", "");
    row("", "");
    row("-instruct", "");
    row("instruct-instruct", "");
  }
  void names_of_models() {
    QFETCH(QString, preset);
    QCOMPARE(QString::fromStdString(preset_id_of_name(QTest::currentDataTag())), preset);
  }

  // No name of a preset stands for another one.
  void presets_have_different_names() {
    std::map<std::string, std::string> known;
    for (const Preset& preset : ModelLibrary::instance().presets())
      for (const std::string& name : {preset.id, preset.name}) {
        const auto [at, added] = known.emplace(plain_name(name), preset.id);
        QVERIFY2(added || at->second == preset.id, name.c_str());
        QCOMPARE(preset_id_of_name(name), preset.id);
      }
  }

  void long_names_end() { QVERIFY(!preset_of_name(std::string(1 << 20, 'a'))); }
};

QTEST_APPLESS_MAIN(PresetNamesTest)
#include "preset_names_test.moc"
