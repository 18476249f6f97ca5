// Proof by execution: sharded steps with LoRA compute what the unsharded step computes, gradients of adapters
// equal finite differences, and nothing else has gradients.
#include <QtTest>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "memory/estimate.h"
#include "plan/report.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design lora_design(const char* architecture, const QString& settings) {
  Design d = tiny_design(architecture);
  set_knobs(d, ("lora_rank=3 lora_modules=q,k,v,o,gate,up,down " + settings).toStdString());
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
    "llama lora_dropout=true lora_modules=q,o,down tp=2 sequence_parallel=true dp=2",
    "llama lora_dropout=true cp=2 context=zigzag",
    "llama lora_packed=true tp=2 sequence_parallel=true",
    "llama lora_packed=true lora_dropout=true cp=2 context=ulysses recompute=full",
    "llama frozen_dtype=nf4 hidden=32 ffn=32 tp=2 sequence_parallel=true pp=2",
    "llama frozen_dtype=nf4 hidden=32 ffn=32 recompute=selective schedule=zb-h1 pp=2",
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

  // FSDP and ZeRO-3 store a share of the frozen weights, in the data type, and gather them layer by layer.
  // Only adapters are reduced.
  void frozenWeightsAreSharded_data() {
    QTest::addColumn<QString>("sync");
    for (const char* sync : {"fsdp1", "fsdp2", "zero-3"}) QTest::newRow(sync) << sync;
  }
  void frozenWeightsAreSharded() {
    QFETCH(QString, sync);
    Design d = preset_design("llama3-8b", 1, 1, 8);
    d.workload.batch = 8;
    set_knobs(d, ("lora_rank=16 lora_modules=q,k,v,o sync=" + sync).toStdString());
    const auto report = make_report(d);
    QVERIFY(report->valid());
    const Wide adapters = Wide(32) * 16 * (2 * (4096 + 4096) + 2 * (4096 + 1024)),
               frozen = report->stages[0].parameters.value - adapters;
    Wide stored = 0, reduced = 0, gathered = 0;
    for (const PartValue& p : report->stages[0].parts[static_cast<size_t>(MemoryCategory::Parameters)])
      if (p.name.find("frozen") != std::string::npos) stored += p.bytes.value;
    QVERIFY(stored == frozen * 2 / 8);
    for (const CollectiveValue& c : report->stages[0].collectives) {
      if (c.op.name() == "reduce_scatter") reduced += c.elements.value;
      if (c.op.name() == "all_gather") gathered += c.elements.value;
    }
    QVERIFY(reduced == adapters);
    // Layers are gathered in the forward and again in the backward.
    QVERIFY(gathered > frozen && gathered <= 2 * (frozen + adapters));
  }

  // QLoRA: 4-bit weights and their scales; one layer's largest matrix is dequantized at a time.
  void fourBitWeights_data() {
    QTest::addColumn<QString>("type");
    QTest::addColumn<int>("bytes");  // per 16,384 weights
    QTest::newRow("nf4") << "nf4" << 16384 / 2 + 16384 / 64 * 4;
    QTest::newRow("nf4-double") << "nf4-double" << 16384 / 2 + 16384 / 64 + 4;
  }
  void fourBitWeights() {
    QFETCH(QString, type);
    QFETCH(int, bytes);
    Design d = preset_design("llama2-13b", 1, 1, 1);
    set_knobs(d, "lora_rank=8");
    const auto plain = make_report(d);
    set_knobs(d, ("frozen_dtype=" + type).toStdString());
    const auto report = make_report(d);
    QVERIFY(report->valid());
    const auto parameters = [](const Report& of) {
      return of.stages[0].memory[static_cast<size_t>(MemoryCategory::Parameters)].value;
    };
    const Wide linear = Wide(40) * (4 * 5120 * 5120 + 3 * 5120 * 13824);
    QVERIFY(parameters(*plain) - parameters(*report) == linear * 2 - linear / 16384 * bytes);
    int dequantized = 0, again = 0;
    const Segment& layer = report->graph().segments[1];
    for (const Op& op : layer.ops)
      if (op.label.starts_with("Dequantize")) ++(op.phase == Phase::Forward ? dequantized : again);
    QCOMPARE(dequantized, 7);
    QCOMPARE(again, 7);
    for (const SavedStorage& s : layer.saved)
      QVERIFY(layer.storages[static_cast<size_t>(s.storage)].name.find(".w") == std::string::npos);
  }

  // The dropped input and a byte of mask per element, once for matrices with the same input.
  void droppedInputs() {
    const auto activations = [](const char* settings) {
      Design d = preset_design("llama2-70b", 1, 1, 1);
      d.workload.seq = 8192;
      d.workload.batch = 1;
      set_knobs(d, std::string("lora_rank=16 lora_modules=q,k,v ") + settings);
      return make_report(d)->stages[0].memory[static_cast<size_t>(MemoryCategory::Activations)].value;
    };
    const Wide tokens = Wide(80) * 8192, input = tokens * 8192 * 2, mask = tokens * 8192;
    const Wide plain = activations(""), packed = activations("lora_packed=true");
    QVERIFY(activations("lora_packed=true lora_dropout=true") == packed + mask);  // instead of the input
    QVERIFY(activations("lora_dropout=true") == plain + 2 * input + 3 * mask);
    QVERIFY(plain - packed == tokens * 2 * 16 * 2);  // results of A
  }

  // FP8 attention saves queries, keys, values and the result in FP8. Inputs of activation functions in FP8
  // have half the bytes.
  void savedInFp8() {
    const auto activations = [](const char* settings) {
      Design d = preset_design("llama2-70b", 1, 1, 1);
      d.workload.seq = 8192;
      d.workload.batch = 1;
      set_knobs(d, std::string("lora_rank=16 lora_packed=true lora_dropout=true compute=fp8 ") + settings);
      return make_report(d)->stages[0].memory[static_cast<size_t>(MemoryCategory::Activations)].value;
    };
    const Wide tokens = Wide(80) * 8192, plain = activations("");
    QVERIFY(plain - activations("fp8_attention=true") == tokens * (8192 + 1024 + 1024 + 8192));
    QVERIFY(plain - activations("activation_cache=fp8-inputs") == tokens * 2 * 28672);
  }

  // NeMo neither overlaps the gather of an input that an adapter also reads nor the scatter of its gradient.
  // Scatters of other input gradients need tp_comm_overlap_rs_dgrad, because frozen weights have no weight
  // gradients.
  void overlapNextToAdapters() {
    const auto seconds = [](const char* settings) {
      Design d = preset_design("llama2-70b", 4, 1, 2);
      d.workload.seq = 8192;
      d.workload.batch = 2;
      set_knobs(d, std::string("sequence_parallel=true ") + settings);
      return simulate(*estimate(d, std::make_shared<PlanCache>()))->step_seconds;
    };
    const std::string lora = "lora_rank=16 ", overlap = "tp_comm_overlap=true ",
                      scatters = "tp_comm_overlap_rs_dgrad=true ";
    const double alone = seconds(lora.c_str()), some = seconds((lora + overlap).c_str()),
                 more = seconds((lora + overlap + scatters).c_str());
    QVERIFY(some < alone);
    QVERIFY(more < some);
    QCOMPARE(seconds((overlap + scatters).c_str()), seconds(overlap.c_str()));
  }

  void inferenceHasNoAdapters() {
    Design d = lora_design("llama", "mode=prefill");
    QCOMPARE(effective_design(d).workload.lora_rank, int64_t{0});
    QVERIFY(!structure_of(d).lora);
  }
};

QTEST_APPLESS_MAIN(LoraExecutionTest)
#include "lora_execution_test.moc"
