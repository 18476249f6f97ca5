// Properties of random architectures, composed from all blocks: what all designs have, memory that comes and
// goes, traces without a finding.
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>

#include "bundle/bundle.h"
#include "bundle/checker.h"
#include "memory/estimate.h"
#include "memory/memory_timeline.h"
#include "model/library.h"
#include "support/design_examination.h"
#include "support/execution_runs.h"
#include "support/random_architectures.h"
#include "support/test_share.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const int kArchitectures = cases(160);
constexpr const char* kSettings[] = {"tp=2 sp dp=2 pp=2",
                                     "tp=4 dp=2 recompute=full",
                                     "dp=4 sync=fsdp2",
                                     "cp=2 dp=2 context=all-gather recompute=selective",
                                     "cp=2 tp=2 context=ulysses kv_heads=4",
                                     "pp=2 schedule=zb-h1 dp=2",
                                     "tp=2 dp=2 mode=prefill",
                                     "tp=2 dp=2 mode=decode batch=8 context_length=16"};

int64_t activations(const CategoryBytes& bytes) {
  return bytes[static_cast<size_t>(MemoryCategory::Activations)];
}

}  // namespace

class ComposedPropertiesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { composed_ = compose_architectures(home_.path().toStdString(), kArchitectures, 2); }

  // Otherwise the properties would be tested on few blocks.
  void allBlocksAndOptionsAreComposed() {
    if (test_share() > 1) QSKIP("only a part of the architectures is composed");
    // Blocks of towers, and those that stand for others in decode or without ranks of queries.
    const std::set<std::string> others{
        "absorbed_direct_query_latent_attention", "absorbed_latent_attention", "channel_projection",
        "class_patch_embedding", "clipped_geglu_mlp", "deepstack_merger", "downsampler", "grid_positions",
        "layer_scale", "merging_projector", "normed_projection", "normed_vision_attention", "patch_embedding",
        "patch_merger", "pooled_patches", "pooled_projection", "shuffled_projector",
        "unrotated_vision_attention", "vision_attention", "vision_norm",
        // Composed as moe, sigmoid_moe and bias_moe.
        "routed_experts; top_k_softmax", "routed_experts; top_k_sigmoid", "routed_experts; bias",
        // These read or make carried tensors (carried_execution_test).
        "per_layer_input", "per_layer_inputs", "self_attention; shared_kv",
        "sparse_latent_attention; shared_index"};
    QStringList missing;
    for (const auto& entry : std::filesystem::directory_iterator(SHARDSCAPE_SOURCE_DIR "/models/blocks")) {
      const std::string block = entry.path().stem().string();
      if (!composed_.calls.contains(block) && !others.contains(block))
        missing << QString::fromStdString(block);
      if (const BlockTemplate* known = ModelLibrary::instance().block(block))
        for (const auto& [option, help] : known->options)
          if (composed_.calls.contains(block) && !composed_.calls.contains(block + "; " + option) &&
              !others.contains(block + "; " + option))
            missing << QString::fromStdString(block + "; " + option);
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join(", ")));
  }

  void propertiesHold() {
    std::vector<QStringList> failures(kPropertyCount);
    int examined = 0;
    for (size_t i = 0; i < composed_.ids.size(); ++i)
      for (size_t k = 0; k < 4; ++k) {
        Design d = composed_design(composed_.ids[i]);
        set_knobs(d, kSettings[(i + 3 * k) % std::size(kSettings)]);
        if (refused(d)) continue;
        QVERIFY2(examine(d, failures), composed_.ids[i].c_str());
        ++examined;
      }
    QVERIFY(examined > 3 * kArchitectures);
    for (const QStringList& of_property : failures) QCOMPARE(of_property.join("\n"), QString());
  }

  // Activations that a step allocates are free at its end.
  void activationsComeAndGo() {
    for (size_t i = 0; i < composed_.ids.size(); i += 4) {
      Design d = composed_design(composed_.ids[i]);
      set_knobs(d, kSettings[i / 4 % 2]);
      const auto report = estimate(d);
      QVERIFY2(report->valid(), composed_.ids[i].c_str());
      for (size_t stage = 0; stage < report->stages.size(); ++stage) {
        const std::vector<ActionMemory> actions = stage_timeline(*report, static_cast<int>(stage));
        QCOMPARE(activations(actions.back().end), activations(actions.front().begin));
        QVERIFY(std::any_of(actions.begin(), actions.end(), [&](const ActionMemory& action) {
          return activations(action.peak) > activations(actions.front().begin);
        }));
      }
    }
  }

  void tracesAreGood() {
    QTemporaryDir folder;
    for (size_t i = 0; i < composed_.ids.size(); i += 8) {
      Design d = composed_design(composed_.ids[i]);
      set_knobs(d, kSettings[i / 8 % 2]);
      const auto target = std::filesystem::path(folder.path().toStdString()) / composed_.ids[i];
      const auto result = export_bundle(*make_report(d), {.target = target});
      if (const auto* problem = std::get_if<Problem>(&result))
        QFAIL((composed_.ids[i] + ": " + to_string(*problem)).c_str());
      // Ops of tiny models may be too short for the clock of the simulator.
      const CheckReport check = check_bundle(target);
      QVERIFY2(check.finished && std::all_of(check.findings.begin(), check.findings.end(),
                                             [](const Finding& f) { return f.code == "ROOT_TOO_SHORT"; }),
               (composed_.ids[i] + "\n" + check_text(check)).c_str());
    }
  }

 private:
  QTemporaryDir home_;
  ComposedArchitectures composed_;
};

QTEST_GUILESS_MAIN(ComposedPropertiesTest)
#include "composed_properties_test.moc"
