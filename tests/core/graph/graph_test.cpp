// What the passes derive from blocks and placements: parameters, FLOPs, collectives, saved bytes.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <map>

#include "design/knobs/knobs.h"
#include "graph/build.h"
#include "plan/report.h"
#include "support/designs.h"
#include "support/op_counts.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

int64_t number(const Expr& e, const Binding& binding) {
  return static_cast<int64_t>(std::get<Wide>(evaluate(e, binding)));
}

struct Volume {
  int64_t count = 0, elements = 0;
  friend bool operator==(const Volume&, const Volume&) = default;
};

// "forward|all_gather|tp|bfloat16" -> count and elements of one layer.
std::map<std::string, Volume> layer_collectives(const Report& r) {
  std::map<std::string, Volume> out;
  const Segment& layer = r.graph().segments[1];
  for (const Op& op : layer.ops) {
    if (!is_collective(op.kind)) continue;
    Volume& v = out[std::string(phase_name(op.phase)) + "|" + std::string(op_kind_name(op.kind)) + "|" +
                    group_name(redistribution(op).group) + "|" +
                    std::string(dtype_name(layer.tensor(op.inputs[0]).dtype))];
    ++v.count;
    v.elements += number(collective_elements(layer, op), r.stages[0].binding);
  }
  return out;
}

int64_t layer_flops(const Report& r, Phase phase) {
  int64_t out = 0;
  for (const Op& op : r.graph().segments[1].ops)
    if (op.phase == phase && (op.kind == OpKind::Einsum || op.kind == OpKind::Attention))
      out += number(op.flops, r.stages[0].binding);
  return out;
}

}  // namespace

class GraphTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void presetsHaveThePublishedParameters_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("llama3-8b") << "llama3-8b" << qint64(8030261248);
    QTest::newRow("llama3-70b") << "llama3-70b" << qint64(70553706496);
    QTest::newRow("llama3.1-405b") << "llama3.1-405b" << qint64(405853388800);
    // The paper prints 175 B; the sum of its table 2.1 is this.
    QTest::newRow("gpt3-175b") << "gpt3-175b" << qint64(174604259328);
  }
  void presetsHaveThePublishedParameters() {
    QFETCH(QString, preset);
    QFETCH(qint64, parameters);
    const auto r = make_report(preset_design(qPrintable(preset), 1, 1, 1));
    QVERIFY(r->valid());
    QCOMPARE(static_cast<qint64>(r->model_parameters.value), parameters);
  }

  void layersEqualRecordings_data() {
    QTest::addColumn<QJsonObject>("row");
    QFile file(SHARDSCAPE_TEST_DATA "/megatron_core_layers.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    for (const QJsonValue& row : QJsonDocument::fromJson(file.readAll()).object()["rows"].toArray())
      QTest::newRow(qPrintable(row["case"].toString())) << row.toObject();
  }
  void layersEqualRecordings() {
    QFETCH(QJsonObject, row);
    const bool large = row["model"].toString() == "llama3-70B";
    Design d = preset_design(large ? "llama3-70b" : "llama3-8b", row["tp"].toInt(), 1, 1,
                             row["sequence_parallel"].toBool());
    d.workload.seq = row["seq"].toInt();
    d.workload.microbatch = d.workload.batch = row["microbatch"].toInt();
    const auto r = make_report(d);
    QVERIFY(r->valid());
    const Segment& layer = r->graph().segments[1];
    const Binding& binding = r->stages[0].binding;
    int64_t parameters = 0, saved = 0;
    for (const Param& p : layer.params) parameters += number(local_elements(layer.tensor(p.tensor)), binding);
    for (const SavedStorage& s : layer.saved)
      saved += number(layer.storages[static_cast<size_t>(s.storage)].bytes, binding);
    QCOMPARE(parameters, row["parameters_per_layer"].toInteger());
    QCOMPARE(saved, row["saved_per_layer"].toInteger());
    QCOMPARE(layer_flops(*r, Phase::Forward), row["forward_flops_per_layer"].toInteger());
    QCOMPARE(layer_flops(*r, Phase::Backward), row["backward_flops_per_layer"].toInteger());
    const auto got = layer_collectives(*r);
    const QJsonObject expected = row["collectives_per_layer"].toObject();
    QCOMPARE(static_cast<qsizetype>(got.size()), expected.size());
    for (const auto& [key, volume] : got) {
      const QJsonObject e = expected[QString::fromStdString(key)].toObject();
      QCOMPARE(volume.count, e["count"].toInteger());
      QCOMPARE(volume.elements, e["elements"].toInteger());
    }
  }

  void megatronCollectivesPerLayer_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<bool>("sp");
    for (const char* preset : {"llama3-8b", "gpt3-175b"})
      for (bool sp : {false, true})
        QTest::newRow(qPrintable(QString("%1 %2").arg(preset).arg(sp))) << preset << sp;
  }
  void megatronCollectivesPerLayer() {
    QFETCH(QString, preset);
    QFETCH(bool, sp);
    const auto r = make_report(preset_design(qPrintable(preset), 8, 1, 1, sp));
    const Segment& s = r->graph().segments[1];
    QCOMPARE(count_ops(s, OpKind::AllReduce, Phase::Forward), sp ? 0 : 2);
    QCOMPARE(count_ops(s, OpKind::AllReduce, Phase::Backward), sp ? 0 : 2);
    QCOMPARE(count_ops(s, OpKind::AllGather, Phase::Forward), sp ? 2 : 0);
    QCOMPARE(count_ops(s, OpKind::ReduceScatter, Phase::Forward), sp ? 2 : 0);
    QCOMPARE(count_ops(s, OpKind::AllGather, Phase::Backward), sp ? 4 : 0);
    QCOMPARE(count_ops(s, OpKind::ReduceScatter, Phase::Backward), sp ? 2 : 0);
  }

  // An axis of one rank is no factor of a formula: what a rank holds of its experts' tokens names cp, tp and
  // etp only where they are.
  void formulasNameNoAxisOfOne() {
    for (int i = 0; i < 16; ++i) {
      Design d = default_design();
      apply_preset(d, "mixtral-8x7b");
      d.parallel = {};
      d.parallel.dp = 8;
      d.parallel.tp = i & 1 ? 2 : 1;
      d.parallel.sequence_parallel = d.parallel.tp > 1;
      d.parallel.ep = i & 2 ? 8 : 2;  // all replicas, or some
      if (i & 4) d.parallel.dispatcher = Dispatcher::AllGather;
      if (i & 8) d.workload.load_imbalance = 1500;
      if ((i & 1) && !(i & 4)) d.parallel.etp = 1;
      const auto graph = std::get<0>(build_graph(structure_of(d), ModelLibrary::instance()));
      for (const Segment& segment : graph->segments)
        for (const Tensor& t : segment.tensors) {
          if (t.role == TensorRole::Parameter || t.role == TensorRole::ParameterGradient) continue;
          for (Symbol symbol : local_bytes(t).symbols()) {
            const std::string where = std::to_string(i) + ": " + t.name + " " + local_bytes(t).text();
            QVERIFY2(symbol.name() != "cp" && symbol.name() != "etp" &&
                         (d.parallel.tp > 1 || symbol.name() != "tp"),
                     where.c_str());
          }
        }
    }
  }

  void matmulFlopsAreSixTimesWeightsTimesTokens_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    for (const char* preset : {"llama3-8b", "llama3-70b", "llama3.1-405b", "gpt3-175b"})
      for (int tp : {1, 2, 8})
        for (int pp : {1, 2, 3})
          for (int dp : {1, 4})
            QTest::newRow(qPrintable(QString("%1 tp%2 pp%3 dp%4").arg(preset).arg(tp).arg(pp).arg(dp)))
                << preset << tp << pp << dp;
  }
  void matmulFlopsAreSixTimesWeightsTimesTokens() {
    QFETCH(QString, preset);
    QFETCH(int, tp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    Design d = preset_design(qPrintable(preset), tp, pp, dp, tp > 1);
    d.workload.seq = 2048;
    d.workload.batch = 16;
    const auto r = make_report(d);
    QVERIFY(r->valid());
    Wide matmul = 0, attention = 0;
    const Wide ranks_per_stage = r->ranks / static_cast<int64_t>(r->stages.size());
    for (const StageReport& s : r->stages)
      for (const FlopsValue& f : s.flops) {
        if (f.kind == OpKind::Einsum) matmul += f.counted.value * ranks_per_stage;
        if (f.kind == OpKind::Attention) attention += f.counted.value * ranks_per_stage;
      }
    const Wide tokens = r->tokens_per_step;
    const Wide vp = *r->binding.get(Symbol::intern("Vp"));
    const ModelSpec& m = d.model;
    const Wide heads = m.heads * m.head_dim, kv = m.kv_heads * m.head_dim;
    const Wide mlp = (m.architecture == "gpt" ? 2 : 3) * Wide(m.hidden) * m.ffn;
    const Wide weights = m.layers * (m.hidden * (2 * heads + 2 * kv) + mlp) + vp * m.hidden;
    QVERIFY(matmul == 6 * weights * tokens);
    QVERIFY(attention == 14 * Wide(m.layers) * tokens * d.workload.seq * heads);
  }

  void shardsAddUpToTheWhole() {
    QRandomGenerator random(17);
    const char* presets[] = {"llama3-8b", "llama3-70b", "llama3.1-405b", "gpt3-175b"};
    for (int i = 0; i < 300; ++i) {
      Design d = preset_design(presets[random.bounded(4)], 1 << random.bounded(5), 1 + random.bounded(7),
                               1 << random.bounded(4), random.bounded(2));
      d.workload.seq = 256 << random.bounded(5);
      d.workload.microbatch = 1 << random.bounded(2);
      d.workload.batch = d.workload.microbatch * d.parallel.dp * (1 + random.bounded(9));
      d.workload.vocab_multiple = 1 << random.bounded(8);
      const auto r = make_report(d);
      if (!r->valid()) continue;
      const bool tied_twice = d.model.tied_embeddings && d.parallel.pp > 1;
      Wide total = 0;
      for (const StageReport& s : r->stages) total += s.parameters.value * d.parallel.tp;
      // Replicated on tp: norms, output biases, positions; each KV head on tp/G ranks where there are fewer
      // heads.
      const ModelSpec& m = d.model;
      const bool gpt = m.architecture == "gpt";
      const Wide vp = *r->binding.get(Symbol::intern("Vp"));
      const Wide norms = (2 * m.layers + 1) * m.hidden * (gpt ? 2 : 1) +
                         (gpt ? m.layers * 2 * m.hidden + m.positions * m.hidden : 0);
      const Wide kv = Wide(2) * m.layers * m.kv_heads * m.head_dim * (m.hidden + (gpt ? 1 : 0));
      Wide expected = r->model_parameters.value + (d.parallel.tp - 1) * norms +
                      (vp - m.vocab) * m.hidden * (m.tied_embeddings ? 1 : 2);
      if (d.parallel.tp > m.kv_heads) expected += kv * (d.parallel.tp / m.kv_heads - 1);
      if (tied_twice) expected += vp * m.hidden;
      QVERIFY(total == expected);
    }
  }

  void recomputedLayersKeepWhatMegatronKeeps_data() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("v");
    for (const char* method : {"uniform", "block"})
      for (int number : {1, 2, 3, 4, 100})
        for (int v : {1, 2})
          QTest::newRow(qPrintable(QString("%1 %2 v%3").arg(method).arg(number).arg(v)))
              << method << number << v;
  }
  // Of activations alone: what a layer keeps as a whole is known from recordings, its input is 2 b S D / tp.
  void recomputedLayersKeepWhatMegatronKeeps() {
    QFETCH(QString, method);
    QFETCH(int, count);
    QFETCH(int, v);
    Design d = preset_design("llama3-8b", 2, 2, 1, true);
    d.model.layers = 20;
    d.workload.seq = 4096;
    d.workload.batch = 8;
    d.parallel.virtual_stages = v;
    const auto none = make_report(d);
    d.workload.recompute = Recompute::Full;
    d.workload.recompute_method = method == "block" ? RecomputeMethod::Block : RecomputeMethod::Uniform;
    d.workload.recompute_num_layers = count;
    const auto r = make_report(d);
    QVERIFY(r->valid());
    const Segment& layer = none->graph().segments[1];
    Wide all = 0;
    for (const SavedStorage& s : layer.saved)
      all += number(layer.storages[static_cast<size_t>(s.storage)].bytes, none->stages[0].binding);
    const Wide input = Wide(2) * 4096 * 4096 / 2;
    const int64_t chunk = 10 / v, n = std::min<int64_t>(count, chunk);
    const Wide kept = method == "block" ? n * input + (chunk - n) * all : (chunk + n - 1) / n * input;
    const Wide replayed = method == "block" ? all - input : n * all - input;
    for (size_t p = 0; p < 2; ++p) {
      const StageReport &s = r->stages[p], &before = none->stages[p];
      const auto bytes = [](const StageReport& of) {
        return of.memory[static_cast<size_t>(MemoryCategory::Activations)].value;
      };
      const Wide ends = bytes(before) - before.in_flight * chunk * all;  // embedding and head
      QVERIFY(bytes(s) == ends + s.in_flight * kept + replayed);
      const int64_t layers = method == "block" ? n * v : 10;
      Wide forward = 0, again = 0;
      for (const Op& op : r->graph().segments[1].ops)
        if (op.kind == OpKind::Einsum && op.phase == Phase::Forward) forward += number(op.flops, s.binding);
      for (const FlopsValue& f : s.flops)
        if (f.kind == OpKind::Einsum && f.phase == Phase::Recompute) again += f.counted.value;
      QVERIFY(again == r->microbatches * layers * forward);
      int64_t gathers = 0;
      for (const CollectiveValue& c : s.collectives)
        if (c.phase == Phase::Recompute && c.op == CollectiveKind::AllGather)
          gathers += static_cast<int64_t>(c.count.value);
      QCOMPARE(gathers, r->microbatches * layers * 2);
    }
  }

  // Only the first layer of a group keeps its share of an input, and gathers it.
  void distributedCheckpointsOfGroups() {
    Design d = preset_design("llama3-8b", 2, 1, 1);
    d.model.layers = 10;
    d.workload.seq = 4096;
    d.workload.recompute = Recompute::Full;
    d.workload.recompute_num_layers = 4;
    const auto whole = make_report(d);
    d.workload.distribute_saved_activations = true;
    const auto r = make_report(d);
    const auto bytes = [](const Report& of) {
      return of.stages[0].memory[static_cast<size_t>(MemoryCategory::Activations)].value;
    };
    const Wide input = Wide(2) * 4096 * 4096;
    // 3 shares instead of 3 inputs; the gathered one is there while its group is replayed.
    QVERIFY2(bytes(*r) == bytes(*whole) - 3 * input / 2 + input,
             to_string(bytes(*r) - bytes(*whole)).c_str());
    Wide gathers = 0;
    for (const CollectiveValue& c : r->stages[0].collectives)
      if (c.phase == Phase::Backward && c.op == CollectiveKind::AllGather) gathers += c.count.value;
    QVERIFY(gathers == 3 * r->microbatches);
  }

  // What goes and what is replayed, per layer of Llama 3 8B, from the recorded list of what a layer keeps.
  void recomputedModules_data() {
    QTest::addColumn<QByteArray>("modules");
    QTest::addColumn<qint64>("kept");   // bytes per token less than without
    QTest::addColumn<int>("products");  // matrix products again
    QTest::newRow("layernorm") << QByteArray("layernorm") << qint64(2 * 2 * 4096 + 2 * 4) << 0;
    QTest::newRow("mlp_act") << QByteArray("mlp_act") << qint64(2 * 14336) << 0;
    QTest::newRow("mlp") << QByteArray("mlp") << qint64(3 * 2 * 14336) << 3;
    QTest::newRow("mlp and norms") << QByteArray("layernorm,mlp")
                                   << qint64(3 * 2 * 14336 + 2 * 2 * 4096 + 2 * 4) << 3;
    QTest::newRow("core_attn") << QByteArray("core_attn") << qint64(4 * 32 + 0) << 0;
  }
  void recomputedModules() {
    QFETCH(QByteArray, modules);
    QFETCH(qint64, kept);
    QFETCH(int, products);
    Design d = preset_design("llama3-8b", 1, 1, 1);
    d.workload.seq = 4096;
    const auto none = make_report(d);
    d.workload.recompute = Recompute::Selective;
    QVERIFY(!set_knob(d, *find_knob("recompute_modules"), modules.toStdString()));
    const auto r = make_report(d);
    const auto bytes = [](const Report& of) {
      Wide sum = 0;
      for (const SavedStorage& s : of.graph().segments[1].saved)
        sum += number(of.graph().segments[1].storages[static_cast<size_t>(s.storage)].bytes,
                      of.stages[0].binding);
      return sum;
    };
    const Wide less = bytes(*none) - bytes(*r),
               small = modules == "core_attn" ? 16 : 0;  // the state of its random numbers
    QVERIFY2(less == Wide(4096) * kept + small, to_string(less).c_str());
    QCOMPARE(count_ops(r->graph().segments[1], OpKind::Einsum, Phase::Recompute), products);
  }

  void quantizedProductsKeepQuantizedInputs_data() {
    QTest::addColumn<int>("compute");
    QTest::addColumn<int>("part");  // 32nds of a byte per element
    QTest::newRow("fp8") << int(ComputePrecision::FP8) << 32;
    QTest::newRow("fp8-blockwise") << int(ComputePrecision::FP8Block) << 33;
    QTest::newRow("mxfp8") << int(ComputePrecision::MXFP8) << 33;
    QTest::newRow("nvfp4") << int(ComputePrecision::NVFP4) << 18;
    QTest::newRow("int8") << int(ComputePrecision::Int8) << 32;
  }
  // Inputs of linear layers: both norms' results (split by sequence), the attention's result and SwiGLU's.
  // The attention keeps its own result beside it.
  void quantizedProductsKeepQuantizedInputs() {
    QFETCH(int, compute);
    QFETCH(int, part);
    Design d = preset_design("llama3-8b", 2, 1, 1, true);
    d.workload.seq = 4096;
    const auto plain = make_report(d);
    d.workload.compute = static_cast<ComputePrecision>(compute);
    const auto r = make_report(d);
    QVERIFY(r->valid());
    const auto bytes = [](const Report& of) {
      Wide sum = 0;
      for (const SavedStorage& s : of.graph().segments[1].saved)
        sum += number(of.graph().segments[1].storages[static_cast<size_t>(s.storage)].bytes,
                      of.stages[0].binding);
      return sum;
    };
    const Wide half = Wide(4096) / 2, norms = 2 * half * 4096, attention = half * 4096, swiglu = half * 14336;
    QVERIFY(bytes(*r) == bytes(*plain) - 2 * (norms + swiglu) + (norms + attention + swiglu) * part / 32);
    // Gathers in front of products carry them; sums do not. Forward 2, backward 2 of saved inputs and 2 of
    // gradients.
    const StageReport& s = r->stages[0];
    Wide gathered = 0, gathers = 0;
    for (const CollectiveValue& c : s.collectives) {
      if (c.op == CollectiveKind::AllGather && c.dtype == compute_dtype(d.workload)) {
        gathered += c.bytes.value;
        gathers += c.count.value;
      }
      if (c.op == CollectiveKind::ReduceScatter) QCOMPARE(c.dtype, DType::BF16);
    }
    QVERIFY(gathers == r->microbatches * 32 * 6);
    QVERIFY(gathered == gathers * 4096 * 4096 * part / 32);
    // The head stays as it was; all products of layers are in the other precision.
    Wide before = 0, layers = 0, head = 0;
    for (const FlopsValue& f : plain->stages[0].flops)
      before += f.kind == OpKind::Einsum ? f.counted.value : 0;
    for (const FlopsValue& f : s.flops)
      if (f.kind == OpKind::Einsum) (is_quantized(f.compute) ? layers : head) += f.counted.value;
    QVERIFY(layers + head == before);
    QVERIFY(head == Wide(6) * r->tokens_per_step * 4096 * 128256 / 2);
    // Two copies of every weight of the layers.
    const Wide weights = Wide(32) * (4096 * (2 * 4096 + 2 * 1024) + 3 * Wide(4096) * 14336) / 2;
    const auto parameters = [](const Report& of) {
      return of.stages[0].memory[static_cast<size_t>(MemoryCategory::Parameters)].value;
    };
    QVERIFY(parameters(*r) == parameters(*plain) + 2 * weights * part / 32);
  }

  void optimizerStates_data() {
    QTest::addColumn<QByteArray>("moments");
    QTest::addColumn<bool>("master");
    QTest::addColumn<bool>("offload");
    QTest::addColumn<int>("bytes");  // per parameter
    QTest::newRow("usual") << QByteArray("fp32") << true << false << 12;
    QTest::newRow("bf16 moments") << QByteArray("bf16") << true << false << 8;
    QTest::newRow("fp8 moments, no master weights") << QByteArray("fp8") << false << false << 2;
    QTest::newRow("offload") << QByteArray("fp32") << true << true << 12;
  }
  void optimizerStates() {
    QFETCH(QByteArray, moments);
    QFETCH(bool, master);
    QFETCH(bool, offload);
    QFETCH(int, bytes);
    for (const char* sync : {"ddp-flat", "distributed-optimizer"}) {
      Design d = preset_design("llama3-8b", 2, 2, 2);
      QVERIFY(!set_knob(d, *find_knob("moment_dtype"), moments.toStdString()));
      QVERIFY(!set_knob(d, *find_knob("sync"), sync));
      d.workload.master_weights = master;
      d.workload.offload_optimizer = offload;
      const auto r = make_report(d);
      QVERIFY(r->valid());
      for (const StageReport& s : r->stages) {
        const Wide owned = sync[1] == 'd' ? s.parameters.value : s.parameters.value / 2;
        const Wide device = s.memory[static_cast<size_t>(MemoryCategory::Optimizer)].value;
        Wide host = 0;
        for (const PartValue& p : s.host_memory) host += p.bytes.value;
        QVERIFY(device == (offload ? Wide(0) : owned * bytes) && host == owned * bytes - device);
        QCOMPARE(s.host.size(), size_t(offload ? 2 : 0));
        if (offload) QVERIFY(s.host[0].bytes.value == owned * 4 && s.host[1].bytes.value == owned * 2);
      }
    }
  }

  void offloadedActivations_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<bool>("checkpoints");
    for (int number : {1, 2, 5, 100})
      for (bool checkpoints : {false, true})
        QTest::newRow(qPrintable(QString("%1 %2").arg(number).arg(checkpoints))) << number << checkpoints;
  }
  void offloadedActivations() {
    QFETCH(int, count);
    QFETCH(bool, checkpoints);
    Design d = preset_design("llama3-8b", 1, 2, 1);
    d.model.layers = 10;
    d.workload.seq = 4096;
    d.workload.batch = 8;
    if (checkpoints) d.workload.recompute = Recompute::Full;
    const auto before = make_report(d);
    d.workload.offload_activations = count;
    const auto r = make_report(d);
    QVERIFY(r->valid());
    const Segment& layer = r->graph().segments[1];
    Wide kept = 0;
    for (const SavedStorage& s : layer.saved)
      kept += number(layer.storages[static_cast<size_t>(s.storage)].bytes, r->stages[0].binding);
    const Wide n = std::min(count, 5), m = r->microbatches;
    for (size_t p = 0; p < 2; ++p) {
      const StageReport& s = r->stages[p];
      const auto bytes = [](const StageReport& of) {
        return of.memory[static_cast<size_t>(MemoryCategory::Activations)].value;
      };
      // As many layers are on the device as do not wait on the host, and the one at work where all of them
      // do.
      QVERIFY(bytes(s) == bytes(before->stages[p]) - s.in_flight * n * kept + (n == 5 ? kept : 0));
      QCOMPARE(s.host.size(), size_t{2});
      for (const HostValue& h : s.host) QVERIFY(h.count.value == m * n && h.bytes.value == m * n * kept);
      QVERIFY(s.host_memory[0].bytes.value == s.in_flight * n * kept);
    }
  }

  void everyCollectiveSaysWhy() {
    const auto r = make_report(preset_design("llama3-8b", 2, 2, 2, true));
    for (const Segment& s : r->graph().segments)
      for (const Op& op : s.ops)
        if (is_collective(op.kind)) {
          const Redistribution& by = redistribution(op);
          QVERIFY2(by.why.find(" expects ") != std::string::npos, op.name.c_str());
          QVERIFY2(why_with_name(by, "T").find(" leaves T as ") != std::string::npos, by.why.c_str());
        }
  }

  void equalStructuresShareAGraph() {
    Design a = preset_design("llama3-8b", 2, 2, 2), b = a;
    b.model.hidden = 8192;
    b.workload.batch *= 2;
    b.parallel.tp = 4;
    const auto plans = std::make_shared<PlanCache>();
    QVERIFY(make_report(a, plans)->model == make_report(b, plans)->model);
    b.parallel.sequence_parallel = true;
    QVERIFY(make_report(a, plans)->model != make_report(b, plans)->model);
  }
};

QTEST_APPLESS_MAIN(GraphTest)
#include "graph_test.moc"
