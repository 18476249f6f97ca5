// A dense layer with latent attention against the recording of DeepSeek-V3: its second layer, before the
// experts begin.
#include <QtTest>

#include "plan/report.h"
#include "validation/recording.h"
#include "validation/stage_parts.h"

using namespace shardscape;

namespace {

Design dense_deepseek() {
  Design d;
  d.model.preset.clear();
  d.model.architecture = "latent";
  d.model.layers = 2;
  d.model.hidden = 7168;
  d.model.heads = d.model.kv_heads = 128;
  d.model.head_dim = 192;
  d.model.ffn = 18432;
  d.model.vocab = 129280;
  d.model.q_rank = 1536;
  d.model.kv_rank = 512;
  d.model.nope_head_dim = 128;
  d.model.rope_head_dim = 64;
  d.model.value_head_dim = 128;
  d.workload.seq = 4096;
  d.workload.batch = d.workload.microbatch = 1;
  d.workload.vocab_multiple = 1;
  d.workload.profile = "litgpt";
  return d;
}

}  // namespace

class LatentLayerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equals_the_recorded_layer() {
    const auto file = read_recording(SHARDSCAPE_SOURCE_DIR
                                     "/tests/fidelity/recordings/C_litgpt_DeepSeek-V3.json");
    QVERIFY(std::holds_alternative<Recording>(file));
    const Recording& r = std::get<Recording>(file);
    const auto report = make_report(dense_deepseek());
    QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
    const SegmentNumbers ours = segment_numbers(report->graph().segments[1], CheckpointPolicy::Activations,
                                                report->stages[0].binding);
    const auto recorded = [](const RecordedParts& parts) { return Wide(parts.at("layer1")); };
    QCOMPARE(to_string(ours.parameters).c_str(), to_string(recorded(r.part_parameters)).c_str());
    QCOMPARE(to_string(ours.forward_flops).c_str(), to_string(recorded(r.part_forward_flops)).c_str());
    QCOMPARE(to_string(ours.backward_flops).c_str(), to_string(recorded(r.part_backward_flops)).c_str());
    QCOMPARE(to_string(ours.saved).c_str(), to_string(recorded(r.part_saved)).c_str());
    // Scores over keys of 192, context over values of 128.
    const Wide pairs = Wide(128) * 4096 * 4096;
    for (const FlopsValue& f : report->stages[0].flops)
      if (f.kind == OpKind::Attention)
        QVERIFY(f.counted.value ==
                2 * pairs * (f.phase == Phase::Forward ? 2 * 192 + 2 * 128 : 6 * 192 + 4 * 128));
  }
};

QTEST_APPLESS_MAIN(LatentLayerTest)
#include "latent_layer_test.moc"
