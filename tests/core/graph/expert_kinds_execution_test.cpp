// Routers and experts of single families, proved by execution: every mesh and dispatcher computes what one
// rank computes, in training and in inference.
#include <QtTest>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "graph/useful_flops.h"
#include "model/library.h"
#include "plan/model_parts.h"
#include "plan/report.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"
#include "support/expert_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// An architecture of llama's attention and these lines between the norm n2 and the residual of f.
struct OwnArchitecture {
  const char *id, *lines;  // lines: between "|"
};
constexpr OwnArchitecture kOwn[] = {
    {"test-hash", "f = routed_experts(n2; hash, sqrt_softplus, limit)"},
    {"test-softplus", "f = routed_experts(n2; balance, sqrt_softplus)"},
    {"test-sigmoid-raw", "f = routed_experts(n2; sigmoid, raw)"},
    {"test-weighed", "e = routed_experts(n2; sigmoid, raw, weighed)|s = shared_mlp(n2)|f = residual(e, s)"},
    {"test-identity", "f = routed_experts(n2; identity, balance, raw)"},
    {"test-identity-relu2", "f = routed_experts(n2; identity, sigmoid, relu2)"},
    {"test-latent", "e = latent_experts(n2; norm, situ)|s = shared_mlp(n2)|f = residual(e, s)"},
    {"test-latent-relu2", "f = latent_experts(n2; relu2)"},
    {"test-scaled", "m = gated_mlp(n2)|e = scaled_moe(h, n2)|f = residual(m, e)"}};

QJsonArray line_list(const QString& lines) { return QJsonArray::fromStringList(lines.split('|')); }

void write_architectures(const QString& home) {
  const QString folder = home + "/shardscape/models/architectures/";
  QVERIFY(QDir().mkpath(folder));
  for (const auto& [id, lines] : kOwn) {
    const QString layer = QString(
                              "n1 = rms_norm(x)|a = self_attention(n1; rope)|h = residual(x, a)|"
                              "n2 = rms_norm(h)|%1|y = residual(h, f)")
                              .arg(lines);
    const QJsonObject text{
        {"architecture", id},
        {"embedding", line_list("x = token_embedding()")},
        {"layers", QJsonObject{{"layer", line_list(layer)}}},
        {"pattern", QJsonArray{"layer"}},
        {"head", line_list("n = rms_norm(x)|logits = lm_head(n)|loss = cross_entropy(logits)")}};
    QFile file(folder + id + ".json");
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QJsonDocument(text).toJson());
  }
}

// Layers that differ in their experts: name, architecture and variants. Every second layer is the first
// variant.
struct OwnExperts {
  const char *name, *architecture, *variants;
};
constexpr OwnExperts kOwnExperts[] = {
    {"experts by layer", "mixtral", "own: layer experts=8 experts_per_token=4 expert_ffn=16"},
    {"choices by layer", "test-softplus", "own: layer experts_per_token=4"},
    {"zero experts by layer", "test-identity", "own: layer zero_experts=12 experts_per_token=4"},
    {"latents by layer", "test-latent", "own: layer latent_ffn=8 shared_ffn=20 experts=8"}};

Design kind_design(const QString& name) {
  for (const auto& [own, architecture, variants] : kOwnExperts)
    if (own == name) {
      Design d = kind_design(architecture);
      set_value(d, "layer_pattern", "(layer, own)*");
      set_value(d, "variants", variants);
      return d;
    }
  Design d = experts_design(qPrintable(name));
  d.model.layers = 2;
  d.model.experts = 4;
  d.model.experts_per_token = name == "test-weighed" ? 1 : 2;
  if (name.contains("latent")) d.model.latent_ffn = 12;
  if (name.contains("identity") || name == "longcat") d.model.zero_experts = 4;
  if (name == "test-weighed" || name == "test-latent") d.model.shared_experts = 2;
  if (name.startsWith("nemotron") || name == "granite_hybrid") {
    d.model.layers = name == "granite_hybrid" ? 6 : 3;
    d.model.shared_ffn = 20;
    d.model.ssm_state = d.model.ssm_conv = 3;
    d.model.ssm_heads = 12;
    d.model.ssm_head_dim = d.model.ssm_groups = d.model.ssm_chunk = 4;
    d.model.mtp_layers = name.startsWith("nemotron3") ? 1 : 0;
  }
  if (name == "nemotron_h") d.model.experts = d.model.experts_per_token = d.model.expert_ffn = 0;
  if (name == "longcat") {
    d.model.kv_heads = d.model.heads;
    d.model.q_rank = 6;
    d.model.kv_rank = 5;
    d.model.rope_head_dim = 2;
    d.model.nope_head_dim = 4;
    d.model.value_head_dim = 3;
  }
  return d;
}

constexpr const char* kTraining[] = {
    "",
    "dp=2 ep=2",
    "dp=4 ep=2 pp=2",
    "tp=2",
    "tp=2 sequence_parallel=true dp=2 ep=2",
    "tp=2 dp=2 ep=2 dispatcher=allgather",
    "tp=2 sequence_parallel=true dp=2 ep=2 dispatcher=allgather recompute=full",
    "tp=2 sequence_parallel=true dp=2 ep=4 etp=1",
    "tp=2 sequence_parallel=true dp=2 ep=2 dispatcher=alltoall_seq",
    "dp=2 ep=2 recompute=full",
    "tp=2 dp=2 ep=2 recompute=selective recompute_modules=moe",
    "dp=4 ep=4 profile=litgpt",
    "dp=2 ep=2 load_imbalance=1.5",
    "dp=2 ep=2 profile=megatron-core-te",
    "tp=2 sequence_parallel=true dp=2 ep=2 profile=megatron-core-te recompute=selective "
    "recompute_modules=moe_act",
    "tp=2 sequence_parallel=true dp=2 ep=2 profile=megatron-core-unfused recompute=selective "
    "recompute_modules=moe_act"};
constexpr const char* kContext[] = {"cp=2 dp=2 ep=4", "tp=2 sequence_parallel=true cp=2 ep=2"};

}  // namespace

class ExpertKindsExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    write_architectures(home_.path());
    qputenv("XDG_DATA_HOME", home_.path().toUtf8());
    for (const Problem& problem : ModelLibrary::instance().problems()) QFAIL(to_string(problem).c_str());
    for (const auto& own : kOwn) QVERIFY2(ModelLibrary::instance().architecture(own.id), own.id);
  }

  void equalsUnsharded_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("settings");
    const auto row = [](const char* model, const char* settings) {
      QTest::newRow(qPrintable(QString("%1: %2").arg(model, settings)))
          << QString(model) << QString(settings);
    };
    for (const auto& own : kOwn) {
      for (const char* settings : kTraining) row(own.id, settings);
      for (const char* settings : kContext) row(own.id, settings);
      if (QString(own.id).contains("identity")) continue;
      row(own.id, "dp=4 ep=4 dispatcher=flex gpus_per_node=2");
      row(own.id, "dp=4 ep=4 dispatcher=flex gpus_per_node=2 profile=megatron-core-te");
    }
    for (const char* model : {"longcat", "nemotron3", "nemotron3; latent", "granite_hybrid"})
      for (const char* settings : kTraining) row(model, settings);
    for (const auto& own : kOwnExperts) {
      for (const char* settings : kTraining) row(own.name, settings);
      if (!QString(own.name).contains("zero")) row(own.name, "dp=4 ep=4 dispatcher=flex gpus_per_node=2");
    }
    for (const char* settings : {"", "tp=2", "tp=2 sequence_parallel=true pp=3", "dp=2 recompute=full"})
      row("nemotron_h", settings);
  }
  void equalsUnsharded() {
    QFETCH(QString, model);
    QFETCH(QString, settings);
    Design d = kind_design(model);
    set_knobs(d, settings.toStdString());
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("model");
    for (const auto& own : kOwn) QTest::newRow(own.id) << QString(own.id);
    for (const char* model : {"longcat", "nemotron3", "nemotron3; latent", "nemotron_h"})
      QTest::newRow(model) << QString(model);
    for (const auto& own : kOwnExperts) QTest::newRow(own.name) << QString(own.name);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, model);
    Design d = kind_design(model);
    d.workload.batch = 1;
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  void decodeAfterPrefill_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("settings");
    for (const char* model : {"test-hash", "test-weighed", "test-identity", "test-latent", "test-scaled",
                              "longcat", "nemotron3", "nemotron3; latent", "nemotron_h", "granite_hybrid"})
      for (const char* settings : {"microbatch=2 batch=4", "dp=2 ep=2 microbatch=2 batch=8",
                                   "tp=2 dp=2 ep=2 microbatch=2 batch=8 dispatcher=allgather",
                                   "tp=2 sequence_parallel=true dp=2 ep=4 etp=1 microbatch=4 batch=16",
                                   "tp=2 ep=2 etp=1 dispatcher=allgather microbatch=2 batch=4",
                                   "tp=2 dp=2 ep=2 etp=1 dispatcher=allgather microbatch=2 batch=8 "
                                   "profile=megatron-core-te",
                                   "tp=2 dp=2 ep=4 etp=1 microbatch=4 batch=16"}) {
        if (QString(model) == "nemotron_h" && QString(settings).contains("ep")) continue;
        QTest::newRow(qPrintable(QString("%1: %2").arg(model, settings)))
            << QString(model) << QString(settings);
      }
  }
  void decodeAfterPrefill() {
    QFETCH(QString, model);
    QFETCH(QString, settings);
    Design d = kind_design(model);
    d.model.mtp_layers = 0;
    set_knobs(d, settings.toStdString());
    if (d.model.zero_experts > 0 || d.model.experts_per_token == 1) {  // whole slots per expert
      d.workload.microbatch *= 2;
      d.workload.batch *= 2;
    }
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }

  // Four of eight experts compute, so half of the choices are no work.
  void zeroExpertsAreNoWork() {
    Design d = kind_design("test-identity");
    const Segment& layer = layer_of(d);
    const double tokens = 16, real = tokens * 2 * 4 / 8;
    QCOMPARE(expert_flops(layer, bind_symbols(d)), 3 * 2 * real * 16 * 8);
    // A slot more than the even share is counted, but not useful.
    d.workload.load_imbalance = 1500;
    const Segment& uneven = layer_of(d);
    const Binding binding = bind_symbols(d);
    QCOMPARE(expert_flops(uneven, binding), 3 * 2 * real * 16 * 8);
    for (const Op& op : uneven.ops)
      if (op.kind == OpKind::Einsum && uneven.tensor(op.inputs[0]).axes[0] == Axis::Experts &&
          op.phase == Phase::Forward)
        QCOMPARE(number(op.flops, binding) / number(op.useful_flops, binding), 1.5);
  }

  // Tokens travel in the latent width, to each of their experts and back.
  void latentsAreSent() {
    Design d = kind_design("test-latent");
    d.parallel.dp = d.parallel.ep = 2;
    const Segment& layer = layer_of(d);
    const Binding binding = bind_symbols(d);
    std::vector<double> bytes;
    for (const Op& op : layer.ops)
      if (op.kind == OpKind::AllToAll && op.phase == Phase::Forward)
        bytes.push_back(number(collective_bytes(layer, op), binding));
    QCOMPARE(bytes, (std::vector<double>{16 * 2 * 12 * 2, 16 * 2 * 12 * 2}));
  }

  // Active parameters of a layer: two of four experts; experts that compute nothing have none. A table of ids
  // is held in memory, but is no parameter.
  void parametersOfLayers() {
    const auto counts = [](const QString& name) {
      const auto report = make_report(kind_design(name));
      if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
      const ModelCounts of = model_counts(*report);
      return std::pair(static_cast<int64_t>(of.parameters.value), static_cast<int64_t>(of.active.value));
    };
    const auto [softplus, softplus_active] = counts("test-softplus");
    const auto [hash, hash_active] = counts("test-hash");
    QCOMPARE(softplus - hash, int64_t{2 * 4});  // balance biases
    QCOMPARE(softplus - softplus_active, int64_t{2 * 2 * 3 * 16 * 8});
    const auto [identity, identity_active] = counts("test-identity");
    QCOMPARE(identity - softplus, int64_t{2 * 4 * (16 + 1)});
    QCOMPARE(identity - identity_active, softplus - softplus_active);
    const auto report = make_report(kind_design("test-hash"));
    const auto& parts = report->stages[0].parts[static_cast<size_t>(MemoryCategory::Parameters)];
    QVERIFY(std::any_of(parts.begin(), parts.end(), [](const auto& part) {
      return part.name == "tables, int32" && part.bytes.value == Wide(2 * 40 * 2 * 4);
    }));
  }

  void refusals() {
    const auto first_error = [](const Design& d) -> std::optional<ProblemCode> {
      for (const Problem& problem : validate(d))
        if (problem.severity == Severity::Error) return problem.code;
      return std::nullopt;
    };
    Design d = kind_design("test-weighed");
    QVERIFY(!first_error(d));
    d.model.experts_per_token = 2;
    QVERIFY(first_error(d) == ProblemCode::WeighedTokensWithSeveralExperts);
    d = kind_design("test-identity");
    set_knobs(d, "dp=4 ep=4 dispatcher=flex gpus_per_node=2");
    QVERIFY(first_error(d) == ProblemCode::FlexWithZeroExperts);
    d = kind_design("test-identity");
    d.model.experts_per_token = 8;
    QVERIFY(!first_error(d));
    d.model.zero_experts = 3;
    d.model.experts_per_token = 2;
    d.workload.seq = 15;
    QVERIFY(first_error(d) == ProblemCode::ZeroExpertsIndivisible);
    d.model.zero_experts = 4;
    d.workload.seq = 16;
    d.model.experts_per_token = 9;
    QVERIFY(first_error(d) == ProblemCode::ExpertsPerTokenOutOfRange);
    d = kind_design("test-latent");
    set_knobs(d, "dp=2 ep=2 tp=2 dispatcher=alltoall_seq");
    d.model.latent_ffn = 13;
    QVERIFY(first_error(d) == ProblemCode::AllToAllSeqHiddenIndivisible);
    d.model.latent_ffn = 0;
    QVERIFY(first_error(d) == ProblemCode::ValueTooSmall);
    d = kind_design("test-latent");
    set_knobs(d, "dp=2 ep=2 dispatch_dtype=fp8");
    d.model.hidden = 128;
    QVERIFY(first_error(d) == ProblemCode::DispatchBlocksIndivisible);
  }

 private:
  const Segment& layer_of(const Design& d) {
    graphs_.push_back(std::get<0>(build_graph(structure_of(d), ModelLibrary::instance())));
    return graphs_.back()->segments[1];
  }
  static double number(const Expr& e, const Binding& binding) {
    return static_cast<double>(std::get<Wide>(evaluate(e, binding)));
  }
  // Model FLOPs of the forward GEMMs of routed experts.
  static double expert_flops(const Segment& layer, const Binding& binding) {
    double out = 0;
    for (const Op& op : layer.ops)
      if (op.kind == OpKind::Einsum && op.phase == Phase::Forward &&
          layer.tensor(op.inputs[0]).axes[0] == Axis::Experts)
        out += number(model_flops_of(layer, op), binding);
    return out;
  }

  std::vector<std::shared_ptr<const Graph>> graphs_;
  QTemporaryDir home_;
};

QTEST_APPLESS_MAIN(ExpertKindsExecutionTest)
#include "expert_kinds_execution_test.moc"
