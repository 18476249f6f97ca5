// Gradient sync of one small parameter list under every policy, and the places of its collectives in a step,
// worked out by hand.
#include <QtTest>

#include "grad_sync/sync_walk.h"

using namespace shardscape;

namespace {

// In order of use, on one rank. Gradients become ready in the order head, layer 1 (bias, weight), layer 0
// (bias, weight), embedding.
enum : int { Emb, Weight0, Bias0, Weight1, Bias1, Head };

SyncInput input(int64_t ranks = 4) {
  const auto param = [](const char* module, const char* name, const char* unit, std::vector<int64_t> shape) {
    return SyncParam{std::string(module) + "." + name, module, unit, std::move(shape)};
  };
  SyncInput out;
  out.groups = {{"dp", ranks}};
  out.params = {param("emb", "weight", "", {10, 4}),                // 40 elements
                param("layers.0.a", "weight", "layers.0", {6, 4}),  // 24
                param("layers.0.a", "bias", "layers.0", {6}),       // 6
                param("layers.1.a", "weight", "layers.1", {6, 4}),  // 24
                param("layers.1.a", "bias", "layers.1", {6}),       // 6
                param("head", "weight", "", {10, 4})};              // 40
  return out;
}

// One action: "s" + elements, with the parameters that it carries. Kinds: all-Reduce, reduce-Scatter,
// Gather, rooted reduction to an Owner.
std::string text(const SyncAction& a) {
  std::string out;
  switch (a.op) {
    case CollectiveKind::AllReduce: out = "r"; break;
    case CollectiveKind::ReduceScatter: out = "s"; break;
    case CollectiveKind::AllGather:
      out = a.phase == Phase::Forward ? "f" : a.phase == Phase::Backward ? "b" : "g";
      break;
    case CollectiveKind::Reduce: out = "o" + std::to_string(a.root) + ":"; break;
    default: return "?";
  }
  return out + std::to_string(a.elements);
}

std::string planned(const SyncPolicy& policy, SyncOccurrence occurrence, const SyncInput& of = input()) {
  const auto plan = plan_sync(of, policy);
  if (const auto* problem = std::get_if<Problem>(&plan)) return to_string(*problem);
  std::string out;
  for (const SyncAction& a : std::get<SyncPlan>(plan).actions)
    if (a.occurrence == occurrence) out += (out.empty() ? "" : " ") + text(a);
  return out;
}

SyncPolicy policy_of(SyncStrategy strategy) {
  SyncPolicy policy;
  policy.strategy = strategy;
  policy.param_alignment = policy.bucket_alignment = 1;
  policy.zero = {.reduce_bucket_size = 50,
                 .allgather_bucket_size = 100,
                 .prefetch_bucket_size = 0,
                 .param_persistence_threshold = 0,
                 .max_live_parameters = 1000,
                 .max_reuse_distance = 0};
  return policy;
}

// Records the calls of a walk as text: "gather 1", "ahead 2" (a prefetch), "scatter 0+4" (instances),
// "action 1 of microbatch 0".
class Recorder : public SyncWalk::Maker {
 public:
  std::string take() { return std::exchange(out_, {}); }

 private:
  void note(const std::string& text) { out_ += (out_.empty() ? "" : ", ") + text; }
  static std::string name(size_t instance) {
    return instance == SyncWalk::kRoot ? "root" : std::to_string(instance);
  }
  SyncWalk::Handle gather(const std::vector<size_t>&, SyncWalk::GatherPurpose purpose, int, size_t instance,
                          bool ahead) override {
    const char* suffix = purpose == SyncWalk::GatherPurpose::BackwardAfterReplay ? " after replay" : "";
    note((ahead ? "ahead " : "gather ") + name(instance) + suffix);
    return ++handles_;
  }
  void scatter(const std::vector<size_t>&, int microbatch, const std::vector<size_t>& instances,
               bool /*crosses*/) override {
    std::string of;
    for (const size_t i : instances) of += (of.empty() ? "" : "+") + std::to_string(i);
    note("scatter " + of + (microbatch < 0 ? "" : " of microbatch " + std::to_string(microbatch)));
  }
  SyncWalk::Handle run(const PlacedPlan::PlacedAction& placed, size_t index, int microbatch) override {
    note("action " + std::to_string(index) +
         (microbatch < 0 ? "" : " of microbatch " + std::to_string(microbatch)));
    return placed.action.op == CollectiveKind::AllGather ? ++handles_ : 0;
  }
  void average_loss(int microbatch) override { note("loss of microbatch " + std::to_string(microbatch)); }

  std::string out_;
  SyncWalk::Handle handles_ = 0;
};

// Instances 0: embedding, 1 to 3: layers, 4: head.
constexpr size_t kInstances = 5;

StageLayout stage() {
  StageLayout out;
  const auto add = [&](int segment, int64_t layer) {
    const size_t i = out.instances.size();
    out.instances.push_back({segment, layer, static_cast<int64_t>(i), {}, i, false});
  };
  add(0, -1);
  for (int64_t layer = 0; layer < 3; ++layer) add(1, layer);
  add(2, -1);
  out.chunks.push_back({0, kInstances});
  return out;
}

Graph three_segments() {
  Graph out;
  out.segments = Segments(std::make_shared<const std::vector<Segment>>(3));
  return out;
}

// One root unit, and a unit for every layer.
StageSync fsdp(UnitFreed freed) {
  StageSync out;
  out.strategy = SyncStrategy::Fsdp1;
  out.units.resize(2);
  out.units[0].root = true;
  out.units[0].freed = UnitFreed::AfterBackward;
  out.units[1].segment = 1;
  out.units[1].freed = freed;
  return out;
}

// The calls of the walk before | after each instance, one string per instance, in the order of execution.
QStringList pass(SyncWalk& walk, Recorder& made, int microbatch, bool backward) {
  QStringList out;
  for (size_t k = 0; k < kInstances; ++k) {
    const size_t i = backward ? kInstances - 1 - k : k;
    walk.enter(microbatch, i, backward);
    const std::string before = made.take();
    walk.leave(microbatch, i, backward);
    const std::string after = made.take();
    out << QString::fromStdString(before + (after.empty() ? "" : " | " + after));
  }
  return out;
}

}  // namespace

class SyncWalkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ddpBuckets();
  void megatronBuckets();
  void zeroBuckets();
  void zeroOwners();
  void zero3Gathers();
  void fsdpUnits();
  void hybridSharding();
  void nextUnitIsPrefetched();
  void prefetchStaysInTheVirtualStage();
  void unitsAreReducedInTheLastBackward();
  void unitsStayGatheredUntilFreed();
  void unitsStayGatheredWhileGradientsAreReduced();
  void backwardGathersAfterReplay();
  void plannedActionsRunAtTheirPlaces();
};

// Four bytes an element. The first bucket closes at 160 bytes: the head. The next ones close at 200: biases
// and weights, 6 + 24 + 6 + 24 = 60. The embedding is left.
void SyncWalkTest::ddpBuckets() {
  SyncPolicy policy = policy_of(SyncStrategy::DdpBuckets);
  policy.first_bucket_bytes = 160;
  policy.bucket_bytes = 200;
  QCOMPARE(planned(policy, SyncOccurrence::Last), std::string("r40 r60 r40"));
  const SyncPlan plan = std::get<SyncPlan>(plan_sync(input(), policy));
  for (const auto& [bucket, last] : {std::pair{0, +Head}, {1, +Weight0}, {2, +Emb}}) {
    QCOMPARE(plan.actions[static_cast<size_t>(bucket)].param, last);
    QCOMPARE(plan.actions[static_cast<size_t>(bucket)].when, SyncWhen::AfterGradient);
  }
  policy.every_microbatch = true;
  QCOMPARE(planned(policy, SyncOccurrence::Every), std::string("r40 r60 r40"));
  QCOMPARE(planned(policy, SyncOccurrence::Every, input(1)), std::string());  // one rank has nothing to do
}

// One buffer of 140 elements. With overlap buckets of at least 50, filled from the last parameter on:
// 40 + 6 + 24 = 70, and 6 + 24 + 40 = 70. The distributed optimizer pads both to a multiple of 4 ranks.
void SyncWalkTest::megatronBuckets() {
  SyncPolicy flat = policy_of(SyncStrategy::DdpFlat);
  flat.bucket_elements = 50;
  QCOMPARE(planned(flat, SyncOccurrence::Last), std::string("r140"));
  flat.overlap = true;
  QCOMPARE(planned(flat, SyncOccurrence::Last), std::string("r70 r70"));
  SyncPolicy sharded = policy_of(SyncStrategy::DistributedOptimizer);
  sharded.bucket_elements = 50;
  QCOMPARE(planned(sharded, SyncOccurrence::Last), std::string("s140 g140"));
  sharded.overlap = true;
  QCOMPARE(planned(sharded, SyncOccurrence::Last), std::string("s72 s72 g72 g72"));
  // Parameters start at multiples of 16. Head and bias: 48 + 6 = 54, padded to 56. Weight, bias, weight: 24,
  // 32 + 6, 48 + 24 = 72. The embedding: 40.
  sharded.param_alignment = 16;
  QCOMPARE(planned(sharded, SyncOccurrence::Last), std::string("s56 s72 s40 g56 g72 g40"));
  // Buckets end at multiples of lcm(4, 48) = 48.
  sharded.bucket_alignment = 48;
  QCOMPARE(planned(sharded, SyncOccurrence::Last), std::string("s96 s96 s48 g96 g96 g48"));
}

// Parameters in order of use, buckets of 50. ZeRO-1 closes a bucket before it exceeds the limit: 40, 24 + 6,
// 24 + 6, 40. ZeRO-0 closes it afterwards: 40 + 24, 6 + 24 + 6 + 40. The flat buffer has 140 elements, padded
// to 2 per rank: 144, 36 per rank.
void SyncWalkTest::zeroBuckets() {
  QCOMPARE(planned(policy_of(SyncStrategy::Zero1), SyncOccurrence::Last),
           std::string("r40 r30 r30 r40 g144"));
  QCOMPARE(planned(policy_of(SyncStrategy::Zero0), SyncOccurrence::Last), std::string("r64 r76 g144"));
  // 144 / 40 = 3 gathers of 12 elements from each rank.
  SyncPolicy small = policy_of(SyncStrategy::Zero1);
  small.zero.allgather_bucket_size = 40;
  QCOMPARE(planned(small, SyncOccurrence::Last), std::string("r40 r30 r30 r40 g48 g48 g48"));
  // Without bfloat16 parameters ZeRO-0 shards nothing.
  SyncPolicy half = policy_of(SyncStrategy::Zero0);
  half.param_dtype = DType::FP16;
  QCOMPARE(planned(half, SyncOccurrence::Last), std::string("r64 r76"));
}

// Rank 0 owns elements 0 to 36 of the flat buffer, rank 1 up to 72, rank 2 up to 108, rank 3 the rest.
// Gradients fill buckets of 50 as they become ready: head and bias; weight and bias; weight; embedding. Head
// [100, 140): 8 of rank 2, 32 of rank 3. Bias 1 [94, 100): rank 2. Weight 1 [70, 94): 2 of rank 1, 22 of
// rank 2. Bias 0 [64, 70) and weight 0 [40, 64): rank 1. Embedding [0, 40): 36 of rank 0, 4 of rank 1.
void SyncWalkTest::zeroOwners() {
  QCOMPARE(planned(policy_of(SyncStrategy::Zero2), SyncOccurrence::Every),
           std::string("o2:8 o3:32 o2:6 o1:2 o2:22 o1:6 o1:24 o0:36 o1:4"));
  QCOMPARE(planned(policy_of(SyncStrategy::Zero2), SyncOccurrence::Last), std::string("g144"));
}

// Every parameter is padded on its own: 40, 24 + 8. Nothing is prefetched or reused. Buckets of gradients:
// 40 + 6; 24 + 6; 24; 40.
void SyncWalkTest::zero3Gathers() {
  SyncPolicy policy = policy_of(SyncStrategy::Zero3);
  QCOMPARE(planned(policy, SyncOccurrence::Every),
           std::string("f40 f32 f32 f40 b40 b32 b32 b40 s48 s32 s24 s40"));
  // Biases persist from the first forward on.
  policy.zero.param_persistence_threshold = 6;
  QCOMPARE(planned(policy, SyncOccurrence::First), std::string("f40 f32 f32 f40 b40 b24 b24 b40"));
  QCOMPARE(planned(policy, SyncOccurrence::Rest), std::string("f40 f24 f24 f40 b40 b24 b24 b40"));
  QCOMPARE(planned(policy, SyncOccurrence::Every), std::string("s48 s32 s24 s40"));
  // A table that token ids look up stays whole after its backward, until the optimizer.
  policy.zero.param_persistence_threshold = 0;
  SyncInput tables = input();
  tables.params[Emb].looked_up = true;
  const auto plan = plan_sync(tables, policy);
  int gathers[2] = {0, 0};
  for (const SyncAction& a : std::get<SyncPlan>(plan).actions)
    if (a.op == CollectiveKind::AllGather && a.parts.front().param == Emb && a.phase == Phase::Forward)
      ++gathers[a.occurrence == SyncOccurrence::Rest];
  QCOMPARE(gathers[0], 1);
  QCOMPARE(gathers[1], 0);
}

// FSDP1: the flat parameters of the root (80) and of the layers (30, padded to 32). FSDP2: first dimensions
// padded to 4 ranks: root 12 x 4 twice, layers 8 x 4 + 8. The root stays whole until its backward.
void SyncWalkTest::fsdpUnits() {
  for (const auto& [strategy, all] : {std::pair{SyncStrategy::Fsdp1, "f80 f32 f32 b32 s32 b32 s32 s80"},
                                      std::pair{SyncStrategy::Fsdp2, "f96 f40 f40 b40 s40 b40 s40 s96"}}) {
    SyncPolicy policy = policy_of(strategy);
    policy.every_microbatch = true;
    QCOMPARE(planned(policy, SyncOccurrence::Every), std::string(all));
  }
  SyncPolicy once = policy_of(SyncStrategy::Fsdp1);
  QCOMPARE(planned(once, SyncOccurrence::Every), std::string("f80 f32 f32 b32 b32"));
  QCOMPARE(planned(once, SyncOccurrence::Last), std::string("s32 s32 s80"));
  // SHARD_GRAD_OP gathers once; FSDP1 frees its units only after the backward that reduces.
  once.sharding = FsdpSharding::ShardGradOp;
  QCOMPARE(planned(once, SyncOccurrence::First), std::string("f80 f32 f32"));
  QCOMPARE(planned(once, SyncOccurrence::Every), std::string());
  once.sharding = FsdpSharding::NoShard;
  QCOMPARE(planned(once, SyncOccurrence::Last), std::string("r30 r30 r80"));
}

// Three copies of the states: each reduced shard of 4 ranks is all-reduced across the copies.
void SyncWalkTest::hybridSharding() {
  SyncInput copies = input();
  copies.groups = {{"shard", 4, "replicate", 3}};
  QCOMPARE(planned(policy_of(SyncStrategy::Fsdp1), SyncOccurrence::Last, copies),
           std::string("s32 r8 s32 r8 s80 r20"));
  QCOMPARE(planned(policy_of(SyncStrategy::DistributedOptimizer), SyncOccurrence::Last, copies),
           std::string("s140 r35 g140"));
  // MiCS scatters in every microbatch, and only the last one goes across copies.
  QCOMPARE(planned(policy_of(SyncStrategy::Zero3), SyncOccurrence::Every, copies),
           planned(policy_of(SyncStrategy::Zero3), SyncOccurrence::Every));
  QCOMPARE(planned(policy_of(SyncStrategy::Zero3), SyncOccurrence::Last, copies),
           std::string("r12 r8 r6 r10"));
}

// The root is gathered first, and each layer while the layer before it runs.
void SyncWalkTest::nextUnitIsPrefetched() {
  const Graph graph = three_segments();
  const StageSync sync = fsdp(UnitFreed::AfterForward);
  Recorder made;
  SyncWalk walk(graph, sync, 1, made);
  walk.plan(stage(), nullptr);
  QCOMPARE(pass(walk, made, 0, false), (QStringList{"gather root, ahead 1", "ahead 2", "ahead 3", "", ""}));
  QVERIFY((walk.units() == SyncWalk::Units{false, false, false, false, false, true}));
  // Instances wait for the latest gather of their unit.
  QCOMPARE(walk.enter(0, 4, true), SyncWalk::Handle{1});  // the root was the first of four gathers
  QCOMPARE(made.take(), std::string("ahead 3"));
  QCOMPARE(walk.enter(0, 3, true), SyncWalk::Handle{5});
}

// Two virtual stages, {0, 1} and {2, 3, 4}. A pass gathers only units of its own virtual stage.
void SyncWalkTest::prefetchStaysInTheVirtualStage() {
  const Graph graph = three_segments();
  const StageSync sync = fsdp(UnitFreed::AfterForward);
  Recorder made;
  SyncWalk walk(graph, sync, 1, made);
  StageLayout two = stage();
  two.chunks = {{0, 2}, {2, kInstances}};
  walk.plan(two, nullptr);
  const auto gathers = [&](size_t instance, bool backward) {
    walk.enter(0, instance, backward);
    walk.leave(0, instance, backward);
    return made.take();
  };
  QCOMPARE(gathers(1, false), std::string("gather 1"));
  QCOMPARE(gathers(2, false), std::string("gather root, gather 2, ahead 3"));
  QCOMPARE(gathers(3, false), std::string());
  QCOMPARE(gathers(4, true), std::string("ahead 3"));
  QCOMPARE(gathers(3, true), std::string("ahead 2, scatter 3"));
  QCOMPARE(gathers(2, true), std::string("scatter 2"));
  QCOMPARE(gathers(1, true), std::string("gather 1, scatter 1"));
}

// Two microbatches: only the second backward reduces. The root is reduced after all backwards.
void SyncWalkTest::unitsAreReducedInTheLastBackward() {
  const Graph graph = three_segments();
  const StageSync sync = fsdp(UnitFreed::AfterForward);
  Recorder made;
  SyncWalk walk(graph, sync, 2, made);
  walk.plan(stage(), nullptr);
  for (const int microbatch : {0, 1}) {
    pass(walk, made, microbatch, false);
    const QStringList backward = pass(walk, made, microbatch, true);
    if (microbatch == 0)
      QCOMPARE(backward, (QStringList{"ahead 3", "ahead 2", "ahead 1", "", ""}));
    else
      QCOMPARE(backward,
               (QStringList{"ahead 3", "ahead 2 | scatter 3", "ahead 1 | scatter 2", " | scatter 1", ""}));
  }
  walk.reduce();
  QCOMPARE(made.take(), std::string("scatter 0+4"));
}

// Units that are freed after their backward are gathered once per microbatch; those that are freed after the
// reduction once per step.
void SyncWalkTest::unitsStayGatheredUntilFreed() {
  const Graph graph = three_segments();
  for (const auto& [freed, gathers] : {std::pair{UnitFreed::AfterForward, 12},
                                       {UnitFreed::AfterBackward, 6},
                                       {UnitFreed::AfterLastBackward, 3}}) {
    const StageSync sync = fsdp(freed);
    Recorder made;
    SyncWalk walk(graph, sync, 2, made);
    walk.plan(stage(), nullptr);
    qsizetype found = 0;
    for (const int microbatch : {0, 1})
      for (const bool backward : {false, true})
        found += pass(walk, made, microbatch, backward).join(',').count("ahead");
    QCOMPARE(found, gathers);
  }
}

// Reduced after every backward and not resharded (Llama 3's FSDP): gathered once per step, and reduced in
// each microbatch.
void SyncWalkTest::unitsStayGatheredWhileGradientsAreReduced() {
  Graph graph = three_segments();
  graph.structure.every_microbatch = true;
  const StageSync sync = fsdp(UnitFreed::AfterLastBackward);
  Recorder made;
  SyncWalk walk(graph, sync, 2, made);
  walk.plan(stage(), nullptr);
  for (const int microbatch : {0, 1}) {
    const QString forward = pass(walk, made, microbatch, false).join(','),
                  backward = pass(walk, made, microbatch, true).join(',');
    QCOMPARE(forward.count("ahead"), microbatch == 0 ? 3 : 0);
    QCOMPARE(backward.count("ahead"), 0);
    QCOMPARE(backward.count("scatter"), 4);  // three layers and the root
  }
  QVERIFY(pass(walk, made, 2, false).join(',').contains("ahead"));  // the next step gathers again
}

// A replay gathers the unit and frees it. The backward that follows gathers the unit a second time.
void SyncWalkTest::backwardGathersAfterReplay() {
  const Graph graph = three_segments();
  const StageSync sync = fsdp(UnitFreed::AfterForward);
  Recorder made;
  SyncWalk walk(graph, sync, 1, made);
  walk.plan(stage(), nullptr);
  pass(walk, made, 0, false);
  walk.enter_replay(0, 3);
  QCOMPARE(made.take(), std::string("gather 3"));
  walk.leave_replay(3);
  walk.enter(0, 3, true);
  QCOMPARE(made.take(), std::string("gather 3 after replay, ahead 2"));
}

// Planned actions: a gather before layer 1 that serves instances 1 and 2; a reduction after the gradients of
// layer 3 in the last microbatch; one after the embedding of every microbatch; one after all backwards.
void SyncWalkTest::plannedActionsRunAtTheirPlaces() {
  Graph graph = three_segments();
  const StageSync sync;
  PlacedPlan plan;
  const auto action = [&](CollectiveKind op, SyncOccurrence occurrence, SyncWhen when) {
    PlacedPlan::PlacedAction out{};
    out.action.op = op;
    out.action.occurrence = occurrence;
    out.action.when = when;
    plan.actions.push_back(std::move(out));
    return plan.actions.size() - 1;
  };
  plan.places.resize(kInstances);
  plan.places[1].before_forward = {
      action(CollectiveKind::AllGather, SyncOccurrence::First, SyncWhen::BeforeForward)};
  plan.actions[0].readers = {1, 2};
  plan.places[3].after_gradient = {
      action(CollectiveKind::AllReduce, SyncOccurrence::Last, SyncWhen::AfterGradient)};
  plan.places[0].after_gradient = {
      action(CollectiveKind::AllReduce, SyncOccurrence::Every, SyncWhen::AfterGradient)};
  action(CollectiveKind::AllReduce, SyncOccurrence::Last, SyncWhen::AfterBackward);
  Recorder made;
  SyncWalk walk(graph, sync, 2, made);
  walk.plan(stage(), std::make_shared<const PlacedPlan>(plan));
  QCOMPARE(pass(walk, made, 0, false), (QStringList{"", "action 0 of microbatch 0", "", "", ""}));
  QCOMPARE(walk.enter(0, 2, false), SyncWalk::Handle{1});
  QCOMPARE(walk.enter(0, 3, false), SyncWalk::Handle{0});
  QCOMPARE(pass(walk, made, 0, true), (QStringList{"", "", "", "", " | action 2 of microbatch 0"}));
  QCOMPARE(pass(walk, made, 1, false), (QStringList{"", "", "", "", ""}));
  QCOMPARE(pass(walk, made, 1, true),
           (QStringList{"", " | action 1 of microbatch 1", "", "", " | action 2 of microbatch 1"}));
  walk.reduce();
  QCOMPARE(made.take(), std::string("action 3"));
}

QTEST_APPLESS_MAIN(SyncWalkTest)
#include "sync_walk_test.moc"
