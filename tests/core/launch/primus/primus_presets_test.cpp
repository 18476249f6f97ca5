// Presets of Primus, and what replaces their values.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"
#include "launch/primus/primus_presets.h"

using namespace shardscape;

namespace {

std::string imported(const char* model, const char* overrides, const char* id) {
  LaunchRequest request;
  request.text = std::string("modules:\n  pre_trainer:\n    framework: megatron\n    model: ") + model +
                 "\n    overrides:\n      train_iters: 5\n" + overrides;
  request.where = "run.yaml";
  request.gpus = 8;
  request.shell.environment = {{"TP", "4"}};
  request.shell.source = [](const std::string& path) -> std::optional<std::string> {
    if (path == "own.yaml") return std::string("extends:\n  - llama3_8B.yaml\nnum_layers: 3\n");
    return std::nullopt;
  };
  const LaunchImport read = import_launch(request);
  if (!read.ok()) return to_string(read.problems[0]);
  return knob_text(read.design, *find_knob(id));
}

}  // namespace

class PrimusPresetsTest : public QObject {
  Q_OBJECT
 private slots:
  void presets_have_sizes() {
    const PrimusPresets& presets = primus_presets();
    QCOMPARE(presets.models.at("deepseek_v3").at("num_experts"), std::string("256"));
    QCOMPARE(presets.trainer.at("bf16"), std::string("true"));
  }
  void nearer_values_win() {
    QCOMPARE(imported("llama3_8B.yaml", "", "layers"), std::string("32"));
    QCOMPARE(imported("llama3_8B.yaml", "      num_layers: 7\n", "layers"), std::string("7"));
    QCOMPARE(imported("own.yaml", "", "layers"), std::string("3"));
    QCOMPARE(imported("own.yaml", "", "hidden"), std::string("4096"));
    const char* const size = "      tensor_model_parallel_size: ${TP:2}\n";
    QCOMPARE(imported("llama3_8B.yaml", size, "tp"), std::string("4"));
    QCOMPARE(imported("${M:llama3_8B}.yaml", "      sequence_parallel: false\n", "sequence_parallel"),
             imported("llama3_8B.yaml", "      sequence_parallel: 0\n", "sequence_parallel"));
  }
};

QTEST_APPLESS_MAIN(PrimusPresetsTest)
#include "primus_presets_test.moc"
