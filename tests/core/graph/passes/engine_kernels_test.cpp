// The kernels of inference engines: which ops they fuse, and that inference uses them by default.
#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "graph/build.h"
#include "model/library.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::shared_ptr<const Report> decode(const char* preset, const std::string& profile) {
  Design d = preset_design(preset, 2, 1, 1);
  d.workload.mode = Mode::Decode;
  d.workload.context_length = 1024;
  d.workload.batch = d.workload.microbatch = 4;
  d.workload.profile = profile;
  auto report = make_report(d);
  if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
  return report;
}

// The kinds of the ops of each kernel, apart from GEMMs, attention and collectives.
std::multiset<std::string> small_kernels(const Segment& segment) {
  std::multiset<std::string> out;
  for (const Kernel& kernel : segment.kernels) {
    const OpKind kind = segment.op(kernel.op).kind;
    if (kind == OpKind::Einsum || is_collective(kind)) continue;
    std::string kinds;
    for (const OpId id : kernel.ops)
      kinds += (kinds.empty() ? "" : " ") + std::string(op_kind_name(segment.op(id).kind));
    out.insert(kinds);
  }
  return out;
}

}  // namespace

class EngineKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A layer of Llama. The sum at its end is in the norm of the next layer.
  void kernelsOfALayer() {
    using Kernels = std::multiset<std::string>;
    const auto of = [](const char* profile) {
      return small_kernels(decode("llama3-8b", profile)->graph().segments[1]);
    };
    const Kernels vllm{"rms_norm",  "rope rope",    "cache_write cache_write",
                       "attention", "add rms_norm", "swiglu"};
    QVERIFY(of("vllm") == vllm);
    QVERIFY(of("sglang") == vllm);
    QVERIFY(of("trtllm") == (Kernels{"rms_norm", "cache_write rope rope cache_write", "attention",
                                     "add rms_norm", "swiglu"}));
    QCOMPARE(of("torchtitan").size(), size_t{10});
  }

  // Sum, norm and quantization are one kernel in vLLM; SGLang quantizes in a kernel of its own.
  void quantizationRunsInNormsAndActivations() {
    const auto count = [](const char* profile) {
      Design d = preset_design("llama3-8b", 1, 1, 1);
      d.workload.mode = Mode::Decode;
      d.workload.profile = profile;
      d.workload.compute = ComputePrecision::FP8;
      const auto report = make_report(d);
      if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
      std::map<std::string, int> out;
      for (const std::string& kinds : small_kernels(report->graph().segments[1])) ++out[kinds];
      return out;
    };
    auto vllm = count("vllm"), sglang = count("sglang"), trtllm = count("trtllm");
    QCOMPARE(vllm["add rms_norm quantize"] + vllm["rms_norm quantize"] + vllm["swiglu quantize"], 3);
    QCOMPARE(vllm["quantize"], 1);  // of the result of attention
    QCOMPARE(sglang["quantize"], 3);
    QCOMPARE(trtllm["quantize"], 0);
  }

  void inferenceUsesThemByDefault() {
    Design d = preset_design("llama3-8b", 2, 1, 1);
    QCOMPARE(kernel_profile(d), std::string("flash"));
    for (const Mode mode : {Mode::Prefill, Mode::Decode}) {
      d.workload.mode = mode;
      d.workload.profile = "flash";
      QCOMPARE(kernel_profile(d), std::string("vllm"));
      QCOMPARE(structure_of(d).profile, std::string("vllm"));
      d.workload.profile = "torchtitan";
      QCOMPARE(kernel_profile(d), std::string("torchtitan"));
    }
  }

  // The first norm of a layer reads both summands, and writes the sum and its result.
  void normMovesTheSum() {
    const auto r = decode("llama3-8b", "flash");
    const Segment& layer = r->graph().segments[1];
    const auto bytes = [&](const Expr& expr) {
      return static_cast<int64_t>(std::get<Wide>(evaluate(expr, r->stages.front().binding)));
    };
    const OpId norm = layer.kernels.front().op;
    QCOMPARE(layer.op(norm).kind, OpKind::RmsNorm);
    QCOMPARE(bytes(layer.kernels.front().moved_bytes),
             4 * bytes(local_bytes(layer.tensor(layer.input))) +
                 bytes(local_bytes(layer.tensor(layer.op(norm).inputs[1]))));
    QVERIFY(!layer.kernel(layer.tensor(layer.output).producer));
  }

  void kernelsCanRunInSomeOrder_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("profile");
    for (const char* preset :
         {"llama3-8b", "mixtral-8x7b", "deepseek-v3", "deepseek-v3.2", "glm-5", "gpt-oss-120b",
          "minimax-m2.5", "qwen3.5-397b-a17b", "kimi-k2.5", "gemma3-27b", "jamba-v0.1"})
      for (const char* profile : {"vllm", "sglang", "trtllm"})
        QTest::addRow("%s %s", preset, profile) << QString(preset) << QString(profile);
  }
  // No kernel waits for a kernel that waits for it, and every op has at most one kernel.
  void kernelsCanRunInSomeOrder() {
    QFETCH(QString, preset);
    QFETCH(QString, profile);
    const auto r = decode(preset.toUtf8(), profile.toStdString());
    for (const Segment& segment : r->graph().segments) {
      const size_t ops = segment.ops.size();
      // Ops without a kernel are nodes of their own.
      std::vector<size_t> node(ops);
      for (size_t id = 0; id < ops; ++id)
        node[id] = segment.kernel_of[id] >= 0 ? static_cast<size_t>(segment.kernel_of[id])
                                              : segment.kernels.size() + id;
      std::vector<std::set<size_t>> after(segment.kernels.size() + ops);
      for (size_t id = 0; id < ops; ++id)
        for (const TensorId in : segment.ops[id].inputs)
          if (const OpId producer = in < 0 ? -1 : segment.tensor(in).producer; producer >= 0)
            if (node[static_cast<size_t>(producer)] != node[id])
              after[node[id]].insert(node[static_cast<size_t>(producer)]);
      std::vector<bool> done(after.size(), false);
      for (bool any = true; any;) {
        any = false;
        for (size_t n = 0; n < after.size(); ++n)
          if (!done[n] && std::all_of(after[n].begin(), after[n].end(), [&](size_t m) { return done[m]; }))
            any = done[n] = true;
      }
      QVERIFY2(std::all_of(done.begin(), done.end(), [](bool d) { return d; }), segment.name.c_str());
      for (const Kernel& kernel : segment.kernels)
        QVERIFY2(std::get<Wide>(evaluate(Expr(128) * kernel.moved_bytes, r->stages.front().binding)) >= 0,
                 segment.op(kernel.op).name.c_str());
    }
  }
};

QTEST_APPLESS_MAIN(EngineKernelsTest)
#include "engine_kernels_test.moc"
