// Proof by execution: sharded steps with LoRA compute what the unsharded step computes, gradients of adapters
// equal finite differences, and nothing else has gradients.
#include <QtTest>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "plan/report.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design lora_design(const char* architecture, const QString& settings) {
  Design d = tiny_design(architecture);
  set_knobs(d, ("lora_rank=3 lora_modules=q,k,v,o,gate,up,down " + settings).toStdString().c_str());
  return d;
}

std::shared_ptr<const Graph> graph_of(const Design& d) {
  return std::get<0>(build_graph(structure_of(d), ModelLibrary::instance()));
}

// Matrix products of the backward that make gradients of weights.
QStringList weight_gradients(const Graph& graph) {
  QStringList out;
  for (const Segment& segment : graph.segments)
    for (const Op& op : segment.ops)
      if (op.grad == GradRole::Weight) out.append(QString::fromStdString(op.name));
  return out;
}

constexpr const char* kRuns[] = {
    "llama",
    "llama dp=2 microbatch=2",
    "llama tp=2",
    "llama tp=2 sequence_parallel=true",
    "llama tp=4 sequence_parallel=true",  // more ranks than KV heads
    "llama tp=2 sequence_parallel=true pp=2 dp=2",
    "llama cp=2",
    "llama cp=2 context=ring",
    "llama pp=2 schedule=zb-h1",
    "llama recompute=full tp=2",
    "llama recompute=selective recompute_modules=core_attn,layernorm,mlp_act tp=2 sequence_parallel=true",
    "llama lora_modules=q,v tp=2",
    "llama lora_modules=o tp=2 sequence_parallel=true",
    "llama lora_modules=down tp=2",
    "llama tp=2 tied_embeddings=true profile=megatron-core-te",
    "llama dp=2 sync=distributed-optimizer profile=transformers-eager",
    "qwen2 tp=2 sequence_parallel=true",
    "gpt tp=2 dp=2",
    "mixtral experts=4 experts_per_token=2 expert_ffn=8 tp=2 sequence_parallel=true"};

}  // namespace

class LoraExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("run");
    for (const char* run : kRuns) QTest::newRow(run) << QString(run);
  }
  void equalsUnsharded() {
    QFETCH(QString, run);
    const Design d = lora_design(qPrintable(run.section(' ', 0, 0)), run.section(' ', 1));
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("run");
    for (const char* run : {"llama batch=1", "gpt batch=1", "llama batch=1 lora_modules=q,v"})
      QTest::newRow(run) << QString(run);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, run);
    const Design d = lora_design(qPrintable(run.section(' ', 0, 0)), run.section(' ', 1));
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  // Weight gradients are those of A and B of each adapter; input gradients still flow through every layer.
  void onlyAdaptersAreTrained() {
    const auto graph = graph_of(lora_design("llama", "lora_modules=q,down"));
    QCOMPARE(weight_gradients(*graph),
             (QStringList{"mlp.y.lora_b.grad_w", "mlp.y.lora_a.grad_w", "attention.q.lora_b.grad_w",
                          "attention.q.lora_a.grad_w"}));
    for (const Segment& segment : graph->segments)
      for (const Param& p : segment.params)
        QCOMPARE(p.gradient >= 0, segment.tensor(p.tensor).name.find(".lora_") != std::string::npos);
    QVERIFY(graph->segments[1].input_grad >= 0);
    QVERIFY(graph->segments[1].op(graph->segments[1].tensor(graph->segments[1].input_grad).producer).phase ==
            Phase::Backward);
  }

  // A has as many rows as the weights have inputs, B as many columns as they have outputs.
  void shapes() {
    const auto graph = graph_of(lora_design("llama", "lora_modules=o"));
    std::map<std::string, std::vector<Axis>> axes;
    for (const Param& p : graph->segments[1].params)
      if (p.gradient >= 0) {
        const Tensor& t = graph->segments[1].tensor(p.tensor);
        axes[t.name] = t.axes;
      }
    QCOMPARE(axes.size(), size_t{2});
    QVERIFY(axes.at("attention.wo.lora_a") == (std::vector{Axis::Heads, Axis::HeadDim, Axis::LoraRank}));
    QVERIFY(axes.at("attention.wo.lora_b") == (std::vector{Axis::LoraRank, Axis::Hidden}));
  }

  // Inputs of frozen GEMMs are not saved: an MLP without adapters saves only what its activation reads.
  void frozenGemmsSaveNothing() {
    const auto saved = [](const Segment& s) {
      std::set<std::string> names;
      for (const SavedStorage& x : s.saved) names.insert(s.storages[static_cast<size_t>(x.storage)].name);
      return names;
    };
    const auto graph = graph_of(lora_design("llama", "lora_modules=q"));
    const std::set<std::string> names = saved(graph->segments[1]);
    QVERIFY(names.contains("n1.y"));
    QVERIFY(!names.contains("n2.y"));
    QVERIFY(!names.contains("mlp.a"));
  }

  // Adapters compute in the data type next to frozen weights in FP8.
  void adaptersAreNotQuantized() {
    const auto graph = graph_of(lora_design("llama", "compute=fp8"));
    for (const Op& op : graph->segments[1].ops)
      if (op.kind == OpKind::Einsum)
        QCOMPARE(is_quantized(op.compute), op.name.find(".lora_") == std::string::npos);
  }

  // Gradients and optimizer states belong to the adapters alone: r (D + H E) numbers for Q and as many for O,
  // r (D + G E) for K and for V. Weights stay as large as without LoRA.
  void statesOfAdapters() {
    Design d = preset_design("llama2-70b", 1, 1, 1);
    d.workload.seq = 8192;
    const auto whole = make_report(d);
    set_knobs(d, "lora_rank=16 lora_modules=q,k,v,o");
    const auto report = make_report(d);
    QVERIFY(report->valid());
    const Wide adapters = Wide(80) * 16 * (2 * (8192 + 8192) + 2 * (8192 + 1024));
    const auto bytes = [](const Report& of, MemoryCategory category) {
      return of.stages[0].memory[static_cast<size_t>(category)].value;
    };
    QVERIFY(bytes(*report, MemoryCategory::Gradients) == adapters * 4);
    QVERIFY(bytes(*report, MemoryCategory::Optimizer) == adapters * 12);
    QVERIFY(bytes(*report, MemoryCategory::Parameters) ==
            bytes(*whole, MemoryCategory::Parameters) + adapters * 2);
    QVERIFY(bytes(*report, MemoryCategory::Activations) < bytes(*whole, MemoryCategory::Activations));
  }

  // Moments of 8-bit Adam: a byte per element and a float32 scale per 256 elements.
  void eightBitMoments() {
    Design d = preset_design("llama3-8b", 1, 1, 1);
    const auto report = [&](const char* type) {
      set_knobs(d, std::string("moment_dtype=") + type);
      return make_report(d);
    };
    const auto optimizer = [](const Report& of) {
      return of.stages[0].memory[static_cast<size_t>(MemoryCategory::Optimizer)].value;
    };
    const Wide parameters = report("fp32")->stages[0].parameters.value;
    QVERIFY(optimizer(*report("fp32")) == parameters * 12);
    QVERIFY(optimizer(*report("int8-blockwise")) == parameters * 4 + parameters * 2 * 260 / 256);
  }

  void inferenceHasNoAdapters() {
    Design d = lora_design("llama", "mode=prefill");
    QCOMPARE(effective_design(d).workload.lora_rank, int64_t{0});
    QVERIFY(!structure_of(d).lora);
  }
};

QTEST_APPLESS_MAIN(LoraExecutionTest)
#include "lora_execution_test.moc"
