// Vision towers in reports: parameters, FLOPs, memory, seconds, and the fast evaluation of a search.
#include <QtTest>
#include <cmath>

#include "explore/evaluation.h"
#include "memory/estimate.h"
#include "support/designs.h"
#include "support/trace_designs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design named(const char* name) {
  for (const NamedDesign& d : trace_designs())
    if (QString(d.name) == name) return d.design;
  qFatal("no design %s", name);
  return {};
}

Wide flops(const Report& report, OpKind kind, Phase phase) {
  Wide out = 0;
  for (const FlopsValue& f : report.stages.front().flops)
    if (f.kind == kind && f.phase == phase) out += f.counted.value;
  return out;
}

Wide memory(const Report& report, MemoryCategory category) {
  return report.stages.front().memory[static_cast<size_t>(category)].value;
}

// Bytes of the messages of a stage, sent and received.
std::pair<qint64, qint64> message_bytes(const StageReport& stage) {
  std::pair<qint64, qint64> out;
  for (const CollectiveValue& c : stage.collectives)
    if (c.phase == Phase::Pipeline)
      (c.op.part() == CommPart::Receive ? out.second : out.first) += static_cast<qint64>(c.bytes.value);
  return out;
}

}  // namespace

class VisionReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A tower on a stage of its own: the first stage holds its parameters and FLOPs, the second the embedding.
  // The message between them has the tokens of images and three results of DeepStack mergers, each 64 vectors
  // of 4,096 numbers for each of two images. The third is added behind the third layer, which is on the last
  // stage.
  void ownStage() {
    Design d = named("tower, own stage pp 3");
    const auto own = trace_report(d);
    d.workload.vision_stage = VisionStage::First;
    d.parallel.pp = 2;
    const auto with = trace_report(d);
    QCOMPARE(own->stages[0].layers + own->stages[1].layers, with->stages[0].layers);
    QVERIFY(own->stages[0].first.tower_alone() && own->stages[1].first.embedding_alone());
    QVERIFY(!own->stages[2].first && own->stages[2].last);
    QCOMPARE(static_cast<qint64>(own->stages[0].parameters.value + own->stages[1].parameters.value),
             static_cast<qint64>(with->stages[0].parameters.value));
    QCOMPARE(static_cast<qint64>(own->stages[0].flops_total + own->stages[1].flops_total),
             static_cast<qint64>(with->stages[0].flops_total));
    const qint64 images = own->microbatches * int64_t{2} * 4 * 64 * 4096 * 2,
                 onward = own->microbatches * int64_t{512 + 2 * 64} * 4096 * 2;
    QCOMPARE(message_bytes(own->stages[0]), (std::pair<qint64, qint64>{images, images}));
    QCOMPARE(message_bytes(own->stages[1]), (std::pair<qint64, qint64>{images + onward, images + onward}));
    d = named("tower, own stage, frozen tp 2 pp 2");
    QCOMPARE(message_bytes(trace_report(d)->stages[0]), (std::pair<qint64, qint64>{images, 0}));
    QCOMPARE(message_bytes(trace_report(d)->stages[1]), (std::pair<qint64, qint64>{0, images}));
    d.workload.mode = Mode::Decode;  // runs no tower
    const auto decodes = trace_report(d);
    QVERIFY(decodes->stages[0].first.tower && decodes->stages[0].first.embedding);
    QVERIFY(decodes->stages[0].layers > 0);
  }

  // Frames of a video in pairs: 4 x the GEMMs and 4 x the attention of one pair, which sees only itself.
  void framesApart() {
    Design d = named("tower, ddp buckets");
    d.workload.images = 1;
    const auto of = [&](int64_t frames, OpKind kind) {
      d.workload.frames = frames;
      return static_cast<qint64>(flops(*trace_report(d), kind, Phase::Forward));
    };
    d.workload.images = 0;
    const qint64 text[] = {of(1, OpKind::Einsum), of(1, OpKind::Attention)};
    d.workload.images = 1;
    for (const auto& [kind, alone] : {std::pair{OpKind::Einsum, text[0]}, {OpKind::Attention, text[1]}}) {
      QVERIFY(of(1, kind) > alone);
      QCOMPARE(of(2, kind), of(1, kind));
      QCOMPARE(of(7, kind) - alone, 4 * (of(1, kind) - alone));
    }
  }

  // A patch of N: 2 Pi D, a layer 2 (4 D D + 2 D F) and 4 N D of scores and values; a token: four mergers of
  // 2 (M M + M H), with M = 4 D.
  void flopsFollowTheClosedForm() {
    Design d = named("tower, ddp buckets");
    d.parallel.sync = SyncStrategy::DdpFlat;
    const auto with = trace_report(d);
    d.workload.images = 0;
    const auto without = trace_report(d);
    const Wide hidden = 1152, ffn = 4304, inputs = 1536, merged = 4 * hidden, language = 4096, patches = 256;
    const Wide images = with->microbatches * d.workload.microbatch * 2;
    const Wide products = patches * 2 * (inputs * hidden + 3 * (4 * hidden * hidden + 2 * hidden * ffn)) +
                          patches / 4 * 4 * 2 * (merged * merged + merged * language);
    const auto more = [&](OpKind kind, Phase phase) {
      return static_cast<qint64>(flops(*with, kind, phase) - flops(*without, kind, phase));
    };
    QCOMPARE(more(OpKind::Einsum, Phase::Forward), static_cast<qint64>(images * products));
    // The pixels have no gradient.
    QCOMPARE(more(OpKind::Einsum, Phase::Backward),
             static_cast<qint64>(images * (2 * products - patches * 2 * inputs * hidden)));
    QCOMPARE(more(OpKind::Attention, Phase::Forward),
             static_cast<qint64>(images * 3 * 4 * patches * patches * hidden));
    d.workload.images = 2;
    d.workload.vision_training = VisionTraining::Frozen;
    const auto frozen = trace_report(d);
    QCOMPARE(flops(*frozen, OpKind::Einsum, Phase::Forward), flops(*with, OpKind::Einsum, Phase::Forward));
    QCOMPARE(flops(*frozen, OpKind::Einsum, Phase::Backward),
             flops(*without, OpKind::Einsum, Phase::Backward));
  }

  // A frozen tower, and one that no pass runs, hold their weights alone.
  void statesOfFrozenTowers() {
    Design d = named("tower, ddp buckets");
    d.parallel.sync = SyncStrategy::DdpFlat;
    const auto trained = trace_report(d);
    d.workload.vision_training = VisionTraining::Frozen;
    const auto frozen = trace_report(d);
    d.workload.images = 0;
    const auto text = trace_report(d);
    Wide tower = 0;
    for (const ModelPart part : {ModelPart::Vision, ModelPart::Projector})
      tower += model_counts(*trained).parts[static_cast<size_t>(part)];
    const auto of = [](const auto& report, MemoryCategory category) {
      return static_cast<qint64>(memory(*report, category));
    };
    for (const auto& report : {frozen, text}) {
      QCOMPARE(of(report, MemoryCategory::Parameters), of(trained, MemoryCategory::Parameters));
      QCOMPARE(of(trained, MemoryCategory::Gradients) - of(report, MemoryCategory::Gradients),
               static_cast<qint64>(4 * tower));
      QCOMPARE(of(trained, MemoryCategory::Optimizer) - of(report, MemoryCategory::Optimizer),
               static_cast<qint64>(12 * tower));
    }
    QVERIFY(of(frozen, MemoryCategory::Activations) < of(trained, MemoryCategory::Activations));
    QCOMPARE(of(frozen, MemoryCategory::Activations), of(text, MemoryCategory::Activations));
  }

  void towersTakeTime() {
    Design d = named("tower tp 2 sp pp 2");
    const double with = simulate(*estimate(d))->step_seconds;
    d.workload.vision_training = VisionTraining::Frozen;
    const double frozen = simulate(*estimate(d))->step_seconds;
    d.workload.images = 0;
    const double without = simulate(*estimate(d))->step_seconds;
    QVERIFY(with > frozen && frozen > without && without > 0);
  }

  void fastEvaluationAgrees_data() {
    QTest::addColumn<QString>("name");
    for (const NamedDesign& d : trace_designs())
      if (QString(d.name).contains("tower")) QTest::newRow(d.name) << QString(d.name);
  }
  void fastEvaluationAgrees() {
    QFETCH(QString, name);
    const Design d = named(qPrintable(name));
    Evaluator evaluator;
    const Evaluation fast = evaluator.evaluate(d, {.time_if_too_large = true});
    const auto report = estimate(d);
    QVERIFY(report->valid());
    QCOMPARE(fast.memory, memory_in_use(*report, report->memory->peak_stage));
    if (!trains(d)) return;
    QVERIFY(std::abs(fast.step_seconds / simulate(*report)->step_seconds - 1) < 1e-6);
  }
};

QTEST_APPLESS_MAIN(VisionReportTest)
#include "vision_report_test.moc"
