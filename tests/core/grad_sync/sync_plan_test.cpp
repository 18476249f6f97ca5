// The sync planner against recordings of training code, and by properties over random parameter lists.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <random>
#include <set>

#include "support/sync_totals.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// "layers.3.n1.weight": module "layers.3.n1", unit "layers.3".
SyncParam param(const QString& name, std::vector<int64_t> shape) {
  const QStringList parts = name.split('.');
  SyncParam p;
  p.name = name.toStdString();
  p.module = name.section('.', 0, -2).toStdString();
  bool numbered = false;
  if (parts.size() > 2) parts[1].toInt(&numbered);
  if (numbered) p.unit = (parts[0] + '.' + parts[1]).toStdString();
  p.shape = std::move(shape);
  return p;
}

DType dtype(const QString& text) {
  return dtype_from_name(text.section('.', -1).toStdString()).value_or(DType::FP32);
}

SyncStrategy strategy(const QString& text) {
  static const std::map<QString, SyncStrategy> names{
      {"ddp-flat", SyncStrategy::DdpFlat},
      {"ddp-buckets", SyncStrategy::DdpBuckets},
      {"distributed-optimizer", SyncStrategy::DistributedOptimizer},
      {"zero-0", SyncStrategy::Zero0},
      {"zero-1", SyncStrategy::Zero1},
      {"zero-2", SyncStrategy::Zero2},
      {"zero-3", SyncStrategy::Zero3},
      {"fsdp1", SyncStrategy::Fsdp1},
      {"fsdp2", SyncStrategy::Fsdp2},
      {"megatron-fsdp", SyncStrategy::MegatronFsdp}};
  return names.at(text);
}

struct Recording {
  SyncInput input;
  SyncPolicy policy;
  QJsonObject json;
};

Recording read_recording(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read %s", qPrintable(path));
  Recording r;
  r.json = QJsonDocument::fromJson(file.readAll()).object();
  const QJsonObject group = r.json["group"].toObject(), experts = r.json["expert_group"].toObject(),
                    policy = r.json["policy"].toObject(), limits = policy["limits"].toObject();
  r.input.groups = {{group["name"].toString().toStdString(), group["size"].toInteger()}};
  if (!experts.isEmpty())
    r.input.groups.push_back({experts["name"].toString().toStdString(), experts["size"].toInteger()});
  for (const QJsonValue& row : r.json["params"].toArray()) {
    std::vector<int64_t> shape;
    for (const QJsonValue& size : row[1].toArray()) shape.push_back(size.toInteger());
    SyncParam p = param(row[0].toString(), std::move(shape));
    p.group = !experts.isEmpty() && row[0].toString().contains(experts["marker"].toString());
    r.input.params.push_back(std::move(p));
  }
  r.policy.strategy = strategy(policy["strategy"].toString());
  r.policy.param_dtype = dtype(policy["dtype"].toString());
  r.policy.grad_dtype = dtype(policy["grad_dtype"].toString());
  r.policy.microbatches = policy["microbatches"].toInteger(1);
  r.policy.overlap = policy["overlap"].toBool();
  r.policy.bucket_bytes = policy["bucket_mb"].toInteger(25) << 20;
  r.policy.first_bucket_bytes = policy["first_bucket_mb"].toInteger(1) << 20;
  r.policy.param_alignment = policy["alignment"][0].toInteger(64);
  r.policy.bucket_alignment = policy["alignment"][1].toInteger(128);
  const auto limit = [&](const char* key, int64_t& out) { out = limits[key].toInteger(out); };
  limit("reduce_bucket_size", r.policy.zero.reduce_bucket_size);
  limit("allgather_bucket_size", r.policy.zero.allgather_bucket_size);
  limit("stage3_prefetch_bucket_size", r.policy.zero.prefetch_bucket_size);
  limit("stage3_param_persistence_threshold", r.policy.zero.param_persistence_threshold);
  limit("stage3_max_live_parameters", r.policy.zero.max_live_parameters);
  limit("stage3_max_reuse_distance", r.policy.zero.max_reuse_distance);
  if (policy["sharding"].toString() == "SHARD_GRAD_OP") r.policy.sharding = FsdpSharding::ShardGradOp;
  if (policy["sharding"].toString() == "NO_SHARD") r.policy.sharding = FsdpSharding::NoShard;
  return r;
}

SyncPlan plan_of(const SyncInput& input, const SyncPolicy& policy) {
  auto plan = plan_sync(input, policy);
  if (auto* problem = std::get_if<Problem>(&plan)) qFatal("%s", to_string(*problem).c_str());
  return std::get<SyncPlan>(std::move(plan));
}

// The actions of one microbatch, in order of issue.
std::vector<const SyncAction*> issued(const SyncPlan& plan, int64_t microbatch, int64_t microbatches) {
  std::vector<const SyncAction*> out;
  for (const SyncAction& a : plan.actions) {
    const bool here = a.occurrence == SyncOccurrence::Every ||
                      (a.occurrence == SyncOccurrence::First && microbatch == 0) ||
                      (a.occurrence == SyncOccurrence::Rest && microbatch > 0) ||
                      (a.occurrence == SyncOccurrence::Last && microbatch + 1 == microbatches);
    if (here) out.push_back(&a);
  }
  return out;
}

// A model of blocks with norms, matrices and biases of random sizes.
SyncInput random_input(std::mt19937& random) {
  const auto in = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  SyncInput input;
  input.groups = {{"dp", in(2, 9)}};
  input.params.push_back(param("emb.weight", {in(1, 400), in(1, 40)}));
  for (int64_t l = 0, layers = in(1, 5); l < layers; ++l) {
    const QString prefix = QString("layers.%1.").arg(l);
    input.params.push_back(param(prefix + "n1.weight", {in(1, 40)}));
    if (in(0, 1) != 0) input.params.push_back(param(prefix + "n1.bias", {in(1, 40)}));
    for (const char* name : {"q", "k", "out"}) {
      input.params.push_back(param(prefix + name + ".weight", {in(1, 60), in(1, 60)}));
      if (in(0, 1) != 0) input.params.push_back(param(prefix + name + ".bias", {in(1, 60)}));
    }
  }
  input.params.push_back(param("head.weight", {in(1, 400), in(1, 40)}));
  return input;
}

SyncPolicy random_policy(std::mt19937& random, SyncStrategy strategy) {
  const auto in = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  SyncPolicy p;
  p.strategy = strategy;
  p.microbatches = in(1, 4);
  p.overlap = in(0, 1) != 0;
  p.every_microbatch = in(0, 1) != 0;
  p.bucket_bytes = in(1, 20000);
  p.first_bucket_bytes = in(1, 5000);
  p.zero = {in(1, 20000), in(1, 20000), in(0, 5000), in(0, 2000), in(0, 20000), in(0, 20000)};
  p.sharding = static_cast<FsdpSharding>(in(0, 2));
  return p;
}

}  // namespace

class SyncPlanTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void recordings_data();
  void recordings();
  void buckets_of_ddp_data();
  void buckets_of_ddp();
  void gradients_reduced_once_data();
  void gradients_reduced_once();
  void gathered_before_use_data() { gradients_reduced_once_data(); }
  void gathered_before_use();
  void padded_by_less_than_a_piece_each();
  void owners_get_their_part();
  void prefetch_stays_within_its_bucket();
  void uneven_first_dimension();
  void hybrid_sharding();
  void buffers_per_virtual_stage();
  void kinds_are_listed_data() { gradients_reduced_once_data(); }
  void kinds_are_listed();
  void quantized_parameters_have_their_own_buffers();
  void reuse_and_replays_gather_again();
  void accumulation_without_no_sync();
  void bad_input();
};

void SyncPlanTest::recordings_data() {
  QTest::addColumn<QString>("path");
  const QDir folder(SHARDSCAPE_TEST_DATA "/sync");
  for (const QString& name : folder.entryList({"*.json"}))
    QTest::addRow("%s", qPrintable(name)) << folder.filePath(name);
}

void SyncPlanTest::recordings() {
  QFETCH(QString, path);
  const Recording r = read_recording(path);
  const SyncPlan plan = plan_of(r.input, r.policy);
  QStringList expected, actual;
  std::set<QString> phases;
  for (const QJsonValue& row : r.json["totals"].toArray()) {
    expected << QString("%1 %2 x %3").arg(row[0].toString()).arg(row[1].toInteger()).arg(row[2].toInteger());
    phases.insert(row[0].toString().section('|', 0, 0));
  }
  const bool no_step = r.json.contains("note");  // the recording ends before the optimizer
  for (const auto& [key, total] : sync_totals(plan, r.policy.microbatches)) {
    if (no_step && key.phase == Phase::ParamGather) continue;
    actual << QString("%1|%2|%3|%4 %5 x %6")
                  .arg(QString::fromUtf8(phase_name(key.phase).data()),
                       QString::fromUtf8(collective_kind_name(key.op).data()),
                       QString::fromStdString(key.group), QString::fromUtf8(dtype_name(key.dtype).data()))
                  .arg(total.count)
                  .arg(total.elements);
  }
  expected.sort();
  actual.sort();
  QCOMPARE(actual.join("\n"), expected.join("\n"));

  // Where the order was recorded, it is the same too, collective by collective.
  QStringList order, recorded;
  for (const QJsonValue& row : r.json["sequence"].toArray())
    recorded << QString("%1 %2 %3").arg(row[0].toString(), row[1].toString()).arg(row[2].toInteger());
  if (recorded.isEmpty()) return;
  for (int64_t mb = 0; mb < r.policy.microbatches; ++mb)
    for (const Phase phase : {Phase::Forward, Phase::Backward, Phase::Step})
      for (const SyncAction* a : issued(plan, mb, r.policy.microbatches))
        if (a->phase == phase)
          order << QString("%1 %2 %3")
                       .arg(QString::fromUtf8(phase_name(a->phase).data()),
                            QString::fromUtf8(collective_kind_name(a->op).data()))
                       .arg(a->elements);
  QCOMPARE(order.join("\n"), recorded.join("\n"));
}

void SyncPlanTest::buckets_of_ddp_data() {
  QTest::addColumn<QString>("path");
  const QDir folder(SHARDSCAPE_TEST_DATA "/sync");
  for (const QString& name : folder.entryList({"E_ddp*.json"}))
    QTest::addRow("%s", qPrintable(name)) << folder.filePath(name);
}

void SyncPlanTest::buckets_of_ddp() {
  QFETCH(QString, path);
  const Recording r = read_recording(path);
  QStringList expected, actual;
  for (const QJsonValue& size : r.json["buckets"].toArray()) expected << QString::number(size.toInteger());
  for (const SyncAction& a : plan_of(r.input, r.policy).actions) actual << QString::number(a.elements);
  QCOMPARE(actual, expected);
}

void SyncPlanTest::gradients_reduced_once_data() {
  QTest::addColumn<int>("strategy");
  const std::array names{
      "ddp-flat", "ddp-buckets", "distributed-optimizer", "zero-0", "zero-1", "zero-2", "zero-3",
      "fsdp1",    "fsdp2",       "megatron-fsdp"};
  for (const char* name : names) QTest::newRow(name) << static_cast<int>(strategy(name));
}

// Within every microbatch that reduces, each element of each gradient is in one reduction, and that comes
// after it.
void SyncPlanTest::gradients_reduced_once() {
  QFETCH(int, strategy);
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const SyncInput input = random_input(random);
    const SyncPolicy policy = random_policy(random, static_cast<SyncStrategy>(strategy));
    const SyncPlan plan = plan_of(input, policy);
    const std::vector<int> ready = gradient_order(input.params);
    std::map<int, size_t> position;
    for (size_t i = 0; i < ready.size(); ++i) position[ready[i]] = i;
    for (int64_t mb = 0; mb < policy.microbatches; ++mb) {
      std::map<int, std::vector<std::pair<int64_t, int64_t>>> ranges;
      for (const SyncAction* a : issued(plan, mb, policy.microbatches)) {
        if (a->op == CollectiveKind::AllGather) continue;
        int64_t sum = 0;
        for (const SyncPart& part : a->parts) {
          ranges[part.param].emplace_back(part.offset, part.offset + part.count);
          sum += part.count;
          if (a->when == SyncWhen::AfterGradient) QVERIFY(position[part.param] <= position[a->param]);
        }
        QVERIFY(sum <= a->elements);
      }
      if (ranges.empty()) {
        QVERIFY(mb + 1 < policy.microbatches);  // accumulates
        continue;
      }
      QCOMPARE(ranges.size(), input.params.size());
      for (auto& [p, pieces] : ranges) {
        std::sort(pieces.begin(), pieces.end());
        int64_t at = 0;
        for (const auto& [begin, end] : pieces) {
          QCOMPARE(begin, at);
          at = end;
        }
        QCOMPARE(at, input.params[static_cast<size_t>(p)].elements());
      }
    }
  }
}

// Sharded parameters are gathered at each use. Updated parameters are gathered exactly once after the
// optimizer.
void SyncPlanTest::gathered_before_use() {
  QFETCH(int, strategy);
  const auto kind = static_cast<SyncStrategy>(strategy);
  const bool per_use = shards_parameters(kind);
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const SyncInput input = random_input(random);
    const SyncPolicy policy = random_policy(random, kind);
    const SyncPlan plan = plan_of(input, policy);
    const bool sharded = per_use && (kind == SyncStrategy::Zero3 || policy.sharding != FsdpSharding::NoShard);
    std::map<int, int64_t> updated;
    for (const SyncAction& a : plan.actions)
      if (a.when == SyncWhen::AfterOptimizer)
        for (const SyncPart& part : a.parts) updated[part.param] += part.count;
    const bool states = kind == SyncStrategy::DistributedOptimizer || kind == SyncStrategy::Zero0 ||
                        kind == SyncStrategy::Zero1 || kind == SyncStrategy::Zero2;
    QCOMPARE(updated.size(), states ? input.params.size() : size_t{0});
    for (const auto& [p, count] : updated) QCOMPARE(count, input.params[static_cast<size_t>(p)].elements());
    if (!sharded) continue;
    std::set<int> whole;
    for (int64_t mb = 0; mb < policy.microbatches; ++mb)
      for (const Phase phase : {Phase::Forward, Phase::Backward}) {
        // Gathers of a later module are issued ahead at the earliest where they say.
        for (int i = 0; i < static_cast<int>(input.params.size()); ++i) {
          const int p = phase == Phase::Forward ? i : static_cast<int>(input.params.size()) - 1 - i;
          for (const SyncAction* a : issued(plan, mb, policy.microbatches)) {
            if (a->phase != phase || a->op != CollectiveKind::AllGather) continue;
            const bool at_unit = input.params[static_cast<size_t>(a->param)].module ==
                                 input.params[static_cast<size_t>(p)].module;
            if (!at_unit) continue;
            for (const SyncPart& part : a->parts) whole.insert(part.param);
          }
          QVERIFY2(whole.contains(p), qPrintable(QString("round %1: %2").arg(round).arg(p)));
        }
      }
  }
}

void SyncPlanTest::padded_by_less_than_a_piece_each() {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const SyncInput input = random_input(random);
    const int64_t ranks = input.groups.front().size;
    for (const SyncStrategy kind : {SyncStrategy::Zero3, SyncStrategy::Fsdp1, SyncStrategy::Fsdp2,
                                    SyncStrategy::MegatronFsdp, SyncStrategy::DistributedOptimizer}) {
      SyncPolicy policy = random_policy(random, kind);
      policy.sharding = FsdpSharding::FullShard;
      for (const SyncAction& a : plan_of(input, policy).actions) {
        QCOMPARE(a.elements % ranks, 0);
        int64_t most = 0;
        for (const SyncPart& part : a.parts) {
          const SyncParam& p = input.params[static_cast<size_t>(part.param)];
          most += part.count;
          most += kind == SyncStrategy::Fsdp2 ? (ranks - 1) * (p.elements() / p.shape.front())
                  : kind == SyncStrategy::DistributedOptimizer ? 63
                                                               : ranks - 1;
        }
        QVERIFY(a.elements <= most + (kind == SyncStrategy::DistributedOptimizer ? 128 * ranks : 0));
      }
    }
  }
}

// Rooted reductions of a step give every rank the same number of elements, but for the padding of the last.
void SyncPlanTest::owners_get_their_part() {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const SyncInput input = random_input(random);
    const int64_t ranks = input.groups.front().size;
    const SyncPolicy policy = random_policy(random, SyncStrategy::Zero2);
    std::map<int64_t, int64_t> owned;
    int64_t all = 0;
    for (const SyncAction& a : plan_of(input, policy).actions) {
      if (a.op != CollectiveKind::Reduce) continue;
      QVERIFY(a.root >= 0 && a.root < ranks);
      owned[a.root] += a.elements;
      all += a.elements;
    }
    const int64_t part = (all + 2 * ranks - 1) / (2 * ranks) * 2;
    for (int64_t r = 0; r < ranks; ++r) QCOMPARE(owned[r], std::clamp<int64_t>(all - r * part, 0, part));
  }
}

void SyncPlanTest::prefetch_stays_within_its_bucket() {
  std::mt19937 random(13);
  const SyncInput input = random_input(random);
  SyncPolicy policy;
  policy.strategy = SyncStrategy::Zero3;
  policy.zero = {.prefetch_bucket_size = 0, .param_persistence_threshold = 0, .max_reuse_distance = 0};
  std::set<std::string> modules;
  for (const SyncParam& p : input.params) modules.insert(p.module);
  size_t forward = 0;
  for (const SyncAction& a : plan_of(input, policy).actions) forward += a.phase == Phase::Forward;
  QCOMPARE(forward, modules.size());  // nothing ahead: one gather per module
  policy.zero.prefetch_bucket_size = 1'000'000;
  forward = 0;
  for (const SyncAction& a : plan_of(input, policy).actions) forward += a.phase == Phase::Forward;
  QCOMPARE(forward, size_t{1});  // everything ahead, when the root is entered
}

void SyncPlanTest::uneven_first_dimension() {
  SyncInput input;
  input.groups = {{"dp", 4}};
  input.params = {param("layers.0.q.weight", {5, 7}), param("layers.0.q.bias", {3})};
  SyncPolicy policy;
  policy.strategy = SyncStrategy::Fsdp2;
  for (const SyncAction& a : plan_of(input, policy).actions)
    QCOMPARE(a.elements, 8 * 7 + 4);  // 5 -> 4x2 rows, 3 -> 4x1
}

void SyncPlanTest::hybrid_sharding() {
  std::mt19937 random(17);
  SyncInput input = random_input(random);
  input.groups = {{"shard", 4, "replicate", 3}};
  for (const SyncStrategy kind : {SyncStrategy::Fsdp1, SyncStrategy::Fsdp2, SyncStrategy::MegatronFsdp,
                                  SyncStrategy::DistributedOptimizer}) {
    SyncPolicy policy;
    policy.strategy = kind;
    policy.overlap = kind == SyncStrategy::DistributedOptimizer;
    policy.bucket_elements = 100;
    std::map<std::pair<std::string, CollectiveKind>, int64_t> elements;
    for (const SyncAction& a : plan_of(input, policy).actions) elements[{a.group, a.op}] += a.elements;
    const int64_t scattered = elements[{"shard", CollectiveKind::ReduceScatter}];
    QVERIFY(scattered > 0);
    QCOMPARE((elements[{"replicate", CollectiveKind::AllReduce}]), scattered / 4);
  }
}

// Each virtual stage has its own buffers: as many reductions as there are, padded each on its own.
void SyncPlanTest::buffers_per_virtual_stage() {
  std::mt19937 random(37);
  for (int round = 0; round < 50; ++round) {
    SyncInput input = random_input(random);
    SyncPolicy policy;
    policy.strategy = SyncStrategy::DistributedOptimizer;
    policy.param_alignment = policy.bucket_alignment = 1;
    std::map<int, int64_t> elements;
    for (SyncParam& p : input.params) {
      p.chunk = p.unit.empty() ? 0 : std::stoi(p.unit.substr(p.unit.find('.') + 1)) % 3;
      elements[p.chunk] += p.elements();
    }
    std::vector<int64_t> expected, found;
    const int64_t ranks = input.groups.front().size;
    for (const auto& [chunk, n] : elements) expected.push_back((n + ranks - 1) / ranks * ranks);
    for (const SyncAction& a : plan_of(input, policy).actions)
      if (a.op == CollectiveKind::ReduceScatter) found.push_back(a.elements);
    QVERIFY(found == expected);
  }
}

// Every collective of a plan is of a kind that the policy lists: the report has a row for each of these.
void SyncPlanTest::kinds_are_listed() {
  QFETCH(int, strategy);
  std::mt19937 random(41);
  for (int round = 0; round < 200; ++round) {
    const SyncInput input = random_input(random);
    SyncPolicy policy = random_policy(random, static_cast<SyncStrategy>(strategy));
    if (strategy != static_cast<int>(SyncStrategy::DdpFlat) &&
        strategy != static_cast<int>(SyncStrategy::DistributedOptimizer))
      policy.overlap = false;
    const std::vector<SyncKind> kinds = sync_kinds(policy);
    for (const SyncAction& a : plan_of(input, policy).actions) {
      const auto it = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const SyncKind& k) { return k.phase == a.phase && k.op == a.op; });
      QVERIFY(it != kinds.end());
      if (!it->gathers()) QCOMPARE(static_cast<int>(a.occurrence), static_cast<int>(it->occurrence));
    }
  }
}

// Megatron-core keeps a buffer per type of parameters: weights stored in 8 bits do not share buckets with
// norms. Each buffer has its own padding.
void SyncPlanTest::quantized_parameters_have_their_own_buffers() {
  SyncInput input;
  input.groups = {{"dp", 2}};
  input.params = {param("norm.weight", {100}), param("layers.0.q.weight", {64, 64}),
                  param("layers.0.k.weight", {32, 64})};
  input.params[1].quantized = input.params[2].quantized = true;
  SyncPolicy policy;
  policy.strategy = SyncStrategy::DistributedOptimizer;
  const auto text = [&] {
    QStringList out;
    for (const SyncAction& a : plan_of(input, policy).actions)
      out << QString::fromStdString(std::string(collective_kind_name(a.op)) + " " +
                                    std::string(dtype_name(a.dtype)) + " " + std::to_string(a.elements));
    return out.join(", ");
  };
  QCOMPARE(text(), QString("reduce_scatter float32 6272, all_gather bfloat16 6272"));
  policy.quantized_dtype = DType::FP8;
  QCOMPARE(text(),
           QString("reduce_scatter float32 128, reduce_scatter float32 6144, all_gather bfloat16 128, "
                   "all_gather float8 6144"));
}

// The head of tied embeddings gathers the table a second time. A replayed forward gathers the parameters that
// its first run has freed.
void SyncPlanTest::reuse_and_replays_gather_again() {
  SyncInput input;
  input.groups = {{"dp", 2}};
  input.params = {param("emb.weight", {10, 4}), param("layers.0.q.weight", {6, 4}),
                  param("layers.0.k.weight", {2, 4})};
  SyncPolicy policy;
  policy.strategy = SyncStrategy::Zero3;
  policy.zero = {.prefetch_bucket_size = 0, .param_persistence_threshold = 0, .max_reuse_distance = 0};
  const auto gathers = [&] {
    QStringList out;
    for (const SyncAction& a : plan_of(input, policy).actions)
      if (a.op == CollectiveKind::AllGather)
        out << QString("%1%2@%3").arg(a.phase == Phase::Forward ? 'f' : 'b').arg(a.elements).arg(a.param);
    return out.join(' ');
  };
  QCOMPARE(gathers(), QString("f40@0 f24@1 f8@2 b8@2 b24@1 b40@0"));
  input.reused = {{0, "head"}};
  QCOMPARE(gathers(), QString("f40@0 f24@1 f8@2 f40@3 b40@3 b8@2 b24@1 b40@0"));
  policy.recompute = true;
  QCOMPARE(gathers(), QString("f40@0 f24@1 f8@2 f40@3 b40@3 b24@1 b8@2 b8@2 b24@1 b40@0"));
}

void SyncPlanTest::accumulation_without_no_sync() {
  std::mt19937 random(19);
  const SyncInput input = random_input(random);
  SyncPolicy policy;
  policy.strategy = SyncStrategy::Fsdp1;
  policy.microbatches = 4;
  const auto reductions = [&] {
    int64_t n = 0;
    for (const auto& [key, total] : sync_totals(plan_of(input, policy), 4))
      if (key.op == CollectiveKind::ReduceScatter) n += total.count;
    return n;
  };
  const int64_t once = reductions();
  policy.every_microbatch = true;
  QCOMPARE(reductions(), 4 * once);
}

void SyncPlanTest::bad_input() {
  std::mt19937 random(23);
  const SyncInput input = random_input(random);
  const auto refused = [](const SyncInput& i, const SyncPolicy& p, ProblemCode code, const char* where) {
    const auto plan = plan_sync(i, p);
    const auto* problem = std::get_if<Problem>(&plan);
    return problem && problem->code == code && problem->where == where && !problem->accepted.empty();
  };
  SyncPolicy policy;
  policy.microbatches = 0;
  QVERIFY(refused(input, policy, ProblemCode::SyncInputInvalid, "microbatches"));
  policy = {};
  policy.zero.reduce_bucket_size = 0;
  QVERIFY(refused(input, policy, ProblemCode::SyncInputInvalid, "reduce_bucket_size"));
  SyncInput bad = input;
  bad.params.front().group = 3;
  QVERIFY(refused(bad, {}, ProblemCode::SyncInputInvalid, "emb.weight"));
  bad = input;
  bad.params.front().shape = {0};
  QVERIFY(refused(bad, {}, ProblemCode::SyncInputInvalid, "emb.weight"));
  bad = input;
  bad.groups.front().across = "replicas";
  bad.groups.front().across_size = 2;
  QVERIFY(refused(bad, {}, ProblemCode::SyncReplicasUnsupported, "replicas"));
  bad = input;
  bad.reused = {{-1, "head"}};
  QVERIFY(refused(bad, {}, ProblemCode::SyncInputInvalid, "head"));
  SyncInput alone = input;
  alone.groups.front().size = 1;
  QVERIFY(plan_of(alone, {}).actions.empty());
}

QTEST_APPLESS_MAIN(SyncPlanTest)
#include "sync_plan_test.moc"
