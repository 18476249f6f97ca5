// The fuse pass: which ops one kernel computes, how many bytes the kernel moves, and its name.
#include <QTest>
#include <algorithm>
#include <functional>
#include <map>

#include "graph/kernel_label.h"
#include "graph/segment_builder.h"
#include "model/library.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design design_of(const char* preset, const char* profile, bool dropout = false) {
  Design out = preset_design(preset, 1, 1, 1);
  out.workload.profile = profile;
  out.workload.dropout = dropout;
  return out;
}

int64_t bytes(const Report& report, const Expr& expr) {
  return static_cast<int64_t>(std::get<Wide>(evaluate(expr, report.stages.front().binding)));
}

OpId find(const Segment& segment, const std::function<bool(const Op&)>& is) {
  for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
    if (is(segment.op(id))) return id;
  return -1;
}

}  // namespace

class FuseTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Forward and backward, and one kernel of what is packed has one name.
  void productsOfOneKernelAreNamedTogether() {
    const auto r = make_report(preset_design("llama3-8b", 2, 1, 1));
    const Segment& layer = r->graph().segments[1];
    std::map<std::string, size_t> parts;
    for (OpId id = 0; id < static_cast<OpId>(layer.ops.size()); ++id) {
      if (layer.op(id).kind != OpKind::Einsum) continue;
      const std::vector<OpId>& ops = layer.kernel(id)->ops;
      parts[kernel_label(layer, id)] = static_cast<size_t>(std::count_if(
          ops.begin(), ops.end(), [&](OpId of) { return layer.op(of).kind == OpKind::Einsum; }));
    }
    const std::map<std::string, size_t> expected{{"QKV projection", 3},
                                                 {"QKV projection, gradient", 3},
                                                 {"QKV projection, weight gradient", 3},
                                                 {"Gate and up projection", 2},
                                                 {"Gate and up projection, gradient", 2},
                                                 {"Gate and up projection, weight gradient", 2},
                                                 {"Output projection", 1},
                                                 {"Output projection, gradient", 1},
                                                 {"Output projection, weight gradient", 1},
                                                 {"Down projection", 1},
                                                 {"Down projection, gradient", 1},
                                                 {"Down projection, weight gradient", 1}};
    std::string found;
    for (const auto& [label, count] : parts) found += label + " " + std::to_string(count) + "\n";
    QVERIFY2(parts == expected, found.c_str());
  }

  void everyOpHasAtMostOneKernel_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("profile");
    for (const char* preset :
         {"gpt3-175b", "llama3-8b", "mixtral-8x7b", "deepseek-v3", "mamba-130m", "jamba-v0.1"})
      for (const char* profile : {"flash", "megatron-core-te", "transformers-eager", "torchtitan-selective"})
        QTest::addRow("%s %s", preset, profile) << QString(preset) << QString(profile);
  }
  void everyOpHasAtMostOneKernel() {
    QFETCH(QString, preset);
    QFETCH(QString, profile);
    const auto r = make_report(design_of(preset.toUtf8(), profile.toUtf8(), true));
    QVERIFY(r);
    for (const Segment& segment : r->graph().segments) {
      QCOMPARE(segment.kernel_of.size(), segment.ops.size());
      std::vector<int> members(segment.kernels.size(), 0);
      for (const int kernel : segment.kernel_of)
        if (kernel >= 0) ++members[static_cast<size_t>(kernel)];
      for (size_t k = 0; k < segment.kernels.size(); ++k) {
        const Kernel& kernel = segment.kernels[k];
        QCOMPARE(static_cast<size_t>(members[k]), kernel.ops.size());
        QVERIFY(std::is_sorted(kernel.ops.begin(), kernel.ops.end()));
        QVERIFY(std::find(kernel.ops.begin(), kernel.ops.end(), kernel.op) != kernel.ops.end());
        QVERIFY2(bytes(*r, Expr(128) * kernel.moved_bytes) >= 0, segment.op(kernel.op).name.c_str());
      }
    }
  }

  // x and the residual are read, the sum and the mask are written; the dropped x stays on chip.
  void dropoutRunsInTheKernelOfTheSum() {
    const auto r = make_report(design_of("gpt3-175b", "flash", true));
    const Segment& layer = r->graph().segments[1];
    const OpId id = find(layer, [](const Op& op) { return op.kind == OpKind::Dropout; });
    QVERIFY(id >= 0);
    const Kernel& kernel = *layer.kernel(id);
    QCOMPARE(layer.op(kernel.op).kind, OpKind::Add);
    const Tensor& x = layer.tensor(layer.op(id).inputs[0]);
    const int64_t tensor = bytes(*r, local_bytes(x)), mask = bytes(*r, local_elements(x));
    QCOMPARE(bytes(*r, kernel.moved_bytes), 3 * tensor + mask);
  }

  // A replay writes its result although no op reads it.
  void replaysMoveTheBytesOfTheForward() {
    Design design = design_of("gpt3-175b", "flash");
    design.workload.recompute = Recompute::Full;
    const auto r = make_report(design);
    const Segment& layer = r->graph().segments[1];
    int replays = 0;
    for (const Kernel& kernel : layer.kernels) {
      const Op& op = layer.op(kernel.op);
      if (op.phase != Phase::Recompute || op.kind != OpKind::Add || op.forward < 0) continue;
      QCOMPARE(bytes(*r, kernel.moved_bytes), bytes(*r, layer.kernel(op.forward)->moved_bytes));
      ++replays;
    }
    QVERIFY(replays > 0);
  }

  // A profile without chains runs one kernel per op.
  void withoutChainsEveryOpRunsAlone() {
    KernelProfile profile = *ModelLibrary::instance().profile("flash");
    profile.fused.clear();
    const auto r = make_report(design_of("gpt3-175b", "flash", true));
    SegmentBuilder builder(r->graph().structure, profile);
    builder.segment() = r->graph().segments[1];
    builder.segment().kernels.clear();
    fuse(builder);
    const Segment& layer = builder.segment();
    const OpId id = find(layer, [](const Op& op) { return op.kind == OpKind::Dropout; });
    QCOMPARE(layer.kernel(id)->ops.size(), size_t(1));
    const OpId bias = find(layer, [](const Op& op) { return op.kind == OpKind::BiasAdd; });
    QCOMPARE(layer.kernel(bias)->ops.size(), size_t(1));
  }

  // Bytes per score between the two GEMMs. Softmax in float32: reads 2, writes 4; its gradient reads 4 and 2,
  // writes 2. A cast or dropout behind: reads 4, writes 2 and a mask of 1.
  void attentionIsOneKernelOrSeveral_data() {
    QTest::addColumn<QString>("profile");
    QTest::addColumn<bool>("dropout");
    QTest::addColumn<QString>("kernel");
    QTest::addColumn<double>("forward");
    QTest::addColumn<double>("backward");
    const auto row = [](const char* profile, bool dropout, const char* kernel, double forward,
                        double backward) {
      QTest::addRow("%s%s", profile, dropout ? ", dropout" : "")
          << QString(profile) << dropout << QString(kernel) << forward << backward;
    };
    row("flash", false, "", 0, 0);
    row("flash", true, "", 0, 0);
    row("transformers-flash", false, "flash-attention-2", 0, 0);
    row("megatron-2022-unfused", false, "", 6, 8);
    row("megatron-2022-unfused", true, "", 13, 13);
    row("megatron-2022", true, "", 9, 11);
    row("megatron-core-unfused", false, "", 12, 12);
    row("litgpt-capped", false, "", 16, 14);
  }
  void attentionIsOneKernelOrSeveral() {
    QFETCH(QString, profile);
    QFETCH(bool, dropout);
    QFETCH(QString, kernel);
    QFETCH(double, forward);
    QFETCH(double, backward);
    const auto r = make_report(design_of("gpt3-175b", profile.toUtf8(), dropout));
    QVERIFY(r);
    int found = 0;
    const Segment& layer = r->graph().segments[1];
    for (const Kernel& of : layer.kernels) {
      const Op& op = layer.op(of.op);
      const bool attention = attention_of(op);
      found += attention;
      QCOMPARE(of.fused_attention, attention ? kernel.toStdString() : std::string());
      QCOMPARE(of.score_bytes, !attention ? 0.0 : op.grad == GradRole::None ? forward : backward);
    }
    QCOMPARE(found, 2);
  }

  void gemmsOfExpertsAreSeparateAsTheProfileSays() {
    for (const auto& [profile, separate] : {std::pair{"flash", false}, {"megatron-core-te", true}}) {
      const auto r = make_report(design_of("mixtral-8x7b", profile));
      QVERIFY(r);
      for (const Kernel& kernel : r->graph().segments[1].kernels)
        QCOMPARE(kernel.separate_experts,
                 separate && r->graph().segments[1].op(kernel.op).kind == OpKind::Einsum);
    }
  }

  // Three GEMMs that no profile packs read the norm's result: their gradients are two additions of two
  // tensors where each is added as it arrives, and one of three at once.
  void gradientsAreAddedAsTheProfileSays() {
    for (const auto& [profile, tensors] : {std::pair{"transformers-flash", 6}, {"torchtitan", 4}}) {
      const auto r = make_report(design_of("llama3-8b", profile));
      const Segment& layer = r->graph().segments[1];
      const OpId id = find(layer, [](const Op& op) { return is_gradient_sum(op) && op.inputs.size() == 3; });
      QVERIFY(id >= 0);
      const int64_t tensor = bytes(*r, local_bytes(layer.tensor(layer.op(id).outputs[0])));
      QCOMPARE(bytes(*r, layer.kernel(id)->moved_bytes), tensors * tensor);
    }
    // One GEMM makes the gradients of packed Q, K and V, and their sum.
    const auto r = make_report(design_of("llama3-8b", "flash"));
    const Segment& layer = r->graph().segments[1];
    const OpId id = find(layer, [](const Op& op) { return is_gradient_sum(op) && op.inputs.size() == 3; });
    QVERIFY(id >= 0);
    QCOMPARE(layer.op(layer.kernel(id)->op).kind, OpKind::Einsum);
  }
};

QTEST_APPLESS_MAIN(FuseTest)
#include "fuse_test.moc"
