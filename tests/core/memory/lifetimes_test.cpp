// Lifetimes of the storages of hand-made segments, worked out by hand. All sizes are in blocks of the
// allocator.
#include <QtTest>

#include "memory/segment_memory.h"

using namespace shardscape;
using Lifetime = SegmentLifetimes::Part;

namespace {

constexpr int64_t kBlock = 512;

// A segment whose tensors have one storage each, unless they are views.
class Tiny {
 public:
  Tiny() { segment_.name = "tiny"; }

  TensorId tensor(const char* name, int64_t blocks, TensorRole role = TensorRole::Activation) {
    segment_.storages.push_back({name, Expr(blocks * kBlock)});
    Tensor t;
    t.name = name;
    t.role = role;
    t.storage = static_cast<StorageId>(segment_.storages.size()) - 1;
    segment_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(segment_.tensors.size()) - 1;
  }
  TensorId view(const char* name, TensorId of) {
    Tensor t = segment_.tensor(of);
    t.name = name;
    segment_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(segment_.tensors.size()) - 1;
  }
  Op& op(OpKind kind, Phase phase, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
    for (const TensorId out : outputs) at(out).producer = static_cast<OpId>(segment_.ops.size());
    Op op;
    op.name = "op" + std::to_string(segment_.ops.size());
    op.kind = kind;
    op.phase = phase;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    segment_.ops.push_back(std::move(op));
    return segment_.ops.back();
  }
  Op& forward(std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
    return op(OpKind::Gelu, Phase::Forward, std::move(inputs), std::move(outputs));
  }
  // The gradient of an op with respect to its first operand.
  Op& gradient(OpId of, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
    Op& made = op(segment_.op(of).kind, Phase::Backward, std::move(inputs), std::move(outputs));
    made.forward = of;
    made.grad = GradRole::Input;
    return made;
  }
  void begin_backward() { segment_.backward_begin = segment_.replay_end = count(); }
  void end_replay() { segment_.replay_end = count(); }
  void save(TensorId tensor) { segment_.saved.push_back({storage(tensor), 0}); }
  Tensor& at(TensorId id) { return segment_.tensors[static_cast<size_t>(id)]; }
  StorageId storage(TensorId id) const { return segment_.tensor(id).storage; }
  Segment& segment() { return segment_; }

  // The graph of this segment alone.
  Graph graph() const {
    Graph out;
    out.segments = Segments(std::make_shared<const std::vector<Segment>>(1, finished()));
    return out;
  }

 private:
  OpId count() const { return static_cast<OpId>(segment_.ops.size()); }
  Segment finished() const {
    Segment out = segment_;
    out.kernel_of.assign(out.ops.size(), -1);
    if (out.backward_begin == 0) out.backward_begin = out.replay_end = count();
    return out;
  }
  Segment segment_;
};

int64_t blocks(const CategoryBytes& bytes) { return total(bytes) / kBlock; }
int64_t blocks(const CategoryBytes& bytes, MemoryCategory category) {
  return bytes[static_cast<size_t>(category)] / kBlock;
}

// "+x -x": allocations and frees by name; "w" is a workspace.
std::string text(const Graph& graph, const SegmentEvents& events) {
  std::string out;
  for (const auto& [storage, bytes] : events.events)
    out += std::string(out.empty() ? "" : " ") + (bytes > 0 ? "+" : "-") +
           (storage < 0 ? "w" : graph.segments.front().storages[static_cast<size_t>(storage)].name);
  return out;
}

// x (1 block) -> a (2) -> b (4) -> y (8).
struct Chain : Tiny {
  TensorId x = tensor("x", 1), a = tensor("a", 2), b = tensor("b", 4), y = tensor("y", 8);
  Chain() {
    forward({x}, {a});
    forward({a}, {b});
    forward({b}, {y});
    segment().input = x;
    segment().output = y;
  }
};

// y = f(x), and a backward from gy (8 blocks) to gx (4), the sum of two gradients of x. Another gradient of 6
// blocks is made before the sum.
struct Sum : Tiny {
  TensorId x = tensor("x", 4), y = tensor("y", 8);
  TensorId gy = tensor("gy", 8, TensorRole::Gradient), g1 = tensor("g1", 4, TensorRole::Gradient),
           g2 = tensor("g2", 4, TensorRole::Gradient), other = tensor("other", 6, TensorRole::Gradient),
           gx = tensor("gx", 4, TensorRole::Gradient);
  Sum() {
    forward({x}, {y});
    begin_backward();
    gradient(0, {gy}, {g1});
    gradient(0, {gy}, {g2});
    gradient(0, {gy}, {other});
    op(OpKind::Add, Phase::Backward, {g1, g2}, {gx});
    segment().input = x;
    segment().output = y;
    segment().output_grad = gy;
    segment().input_grad = gx;
  }
};

// One parameter of 2 blocks, whose gradient a matrix product makes from gy.
struct Weight : Tiny {
  TensorId w = tensor("w", 2, TensorRole::Parameter), dw = tensor("dw", 2, TensorRole::ParameterGradient);
  TensorId x = tensor("x", 4), y = tensor("y", 8), gy = tensor("gy", 8, TensorRole::Gradient),
           gx = tensor("gx", 4, TensorRole::Gradient);
  Weight() {
    for (const TensorId id : {w, dw}) {
      at(id).axes = {Axis::Hidden};
      at(id).sizes = {Expr(kBlock)};  // of two bytes each
      at(id).placement.shards = {{}};
    }
    at(dw).gradient_of = w;
    op(OpKind::Einsum, Phase::Forward, {x}, {y});
    begin_backward();
    gradient(0, {gy}, {gx});
    Op& product = gradient(0, {x, gy}, {dw});
    product.grad = GradRole::Weight;
    product.deferrable = true;
    save(x);
    segment().deferred = {{storage(x), 0}, {storage(gy), 0}};
    segment().params.push_back({w, dw, "", false, false});
    segment().input = x;
    segment().output = y;
    segment().output_grad = gy;
    segment().input_grad = gx;
  }
};

struct Made {
  Graph graph;
  KernelProfile profile;
  SegmentLifetimes lifetimes;
  SegmentSizes sizes;
  explicit Made(const Tiny& tiny, KernelProfile of = {}, bool split = false)
      : graph(with(tiny.graph(), split)),
        profile(std::move(of)),
        lifetimes(graph, profile),
        sizes(lifetimes.sizes({})) {}
  SegmentMemory memory(CheckpointPolicy policy = CheckpointPolicy::Activations) const {
    return lifetimes.memory(0, policy, sizes);
  }
  std::string events(Lifetime part, CheckpointPolicy policy = CheckpointPolicy::Activations) const {
    return text(graph, lifetimes.events(0, policy, sizes, part));
  }

 private:
  static Graph with(Graph graph, bool split) {
    graph.structure.split_backward = split;
    return graph;
  }
};

}  // namespace

class LifetimesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bytesAreWholeBlocks() {
    QCOMPARE(allocated_bytes(0), 0);
    QCOMPARE(allocated_bytes(1), kBlock);
    QCOMPARE(allocated_bytes(kBlock), kBlock);
    QCOMPARE(allocated_bytes(kBlock + 1), 2 * kBlock);
    Tiny tiny;
    tiny.tensor("half", 1);
    tiny.segment().storages.front().bytes = Expr(kBlock / 2);
    QCOMPARE(Made(tiny).sizes.storages.front().front(), kBlock);
  }

  // Each result is there with its operand only: x + a = 3, a + b = 6, b + y = 12. y goes to the next segment.
  void nothingIsSaved() {
    const Chain chain;
    const Made made(chain);
    const SegmentMemory memory = made.memory();
    QCOMPARE(blocks(memory.forward.begin), 1);
    QCOMPARE(blocks(memory.forward.peak), 12);
    QCOMPARE(memory.forward.peak_op, 2);
    QCOMPARE(blocks(memory.forward.end), 8);
    QCOMPARE(blocks(memory.saved), 0);
    QCOMPARE(made.events(Lifetime::Forward), std::string("+x +a -x +b -a +y -b"));
    const SegmentEvents events = made.lifetimes.events(0, CheckpointPolicy::Activations, made.sizes,
                                                       Lifetime::Forward);
    QCOMPARE(events.begin, size_t{1});  // x comes from the segment before
    QCOMPARE(events.peak, size_t{6});   // up to "+y"
    QCOMPARE(events.takes, chain.storage(chain.x));
    QCOMPARE(events.gives, chain.storage(chain.y));
  }

  // x and b stay for the backward: x + b + y = 13, of which x + b = 5 are activations.
  void savedTensorsStay() {
    Chain chain;
    chain.save(chain.x);
    chain.save(chain.b);
    const Made made(chain);
    const SegmentMemory memory = made.memory();
    QCOMPARE(blocks(memory.forward.peak), 13);
    QCOMPARE(blocks(memory.forward.end), 13);
    QCOMPARE(blocks(memory.saved), 5);
    QCOMPARE(blocks(memory.saved, MemoryCategory::Activations), 5);
    QCOMPARE(blocks(memory.forward.end, MemoryCategory::Buffers), 8);
    QCOMPARE(made.events(Lifetime::Forward), std::string("+x +a +b -a +y"));
    QVERIFY(made.lifetimes.saves_input(0, CheckpointPolicy::Activations));
    QVERIFY((made.lifetimes.saved_storages(0, CheckpointPolicy::Activations) ==
             std::set<StorageId>{chain.storage(chain.x), chain.storage(chain.b)}));
  }

  // The output is saved too, but the next segment owns its memory only once.
  void aSavedOutputIsKept() {
    Chain chain;
    chain.save(chain.y);
    const SegmentMemory memory = Made(chain).memory();
    QCOMPARE(blocks(memory.forward.end), 8);
    QCOMPARE(blocks(memory.saved), 8);
  }

  // v is a view of a. a lives until v is read; a saved view keeps all of a.
  void viewsShareTheirStorage() {
    for (const bool saved : {false, true}) {
      Tiny tiny;
      const TensorId x = tiny.tensor("x", 1), a = tiny.tensor("a", 2), y = tiny.tensor("y", 8);
      const TensorId v = tiny.view("v", a);
      tiny.forward({x}, {a});
      tiny.forward({a}, {v});
      tiny.forward({v}, {y});
      tiny.segment().input = x;
      tiny.segment().output = y;
      if (saved) tiny.save(v);
      const Made made(tiny);
      QCOMPARE(made.events(Lifetime::Forward), std::string(saved ? "+x +a -x +y" : "+x +a -x +y -a"));
      QCOMPARE(blocks(made.memory().forward.peak), 10);
      QCOMPARE(blocks(made.memory().saved), saved ? 2 : 0);
      const auto live = made.lifetimes.live(0, CheckpointPolicy::Activations, made.sizes, Lifetime::Forward);
      QCOMPARE(live.size(), size_t{2});  // the largest first
      QCOMPARE(live[0].name, std::string("y"));
      QCOMPARE(live[1].name, std::string("a"));
    }
  }

  // The workspace of 16 blocks is there while op 1 runs: a + b + 16 = 22.
  void workspacesLiveWhileTheirOpRuns() {
    Chain chain;
    Made made(chain);
    made.sizes.workspaces[0][1] = 16 * kBlock;
    const SegmentMemory memory = made.memory();
    QCOMPARE(blocks(memory.forward.peak), 22);
    QCOMPARE(memory.forward.peak_op, 1);
    QCOMPARE(made.events(Lifetime::Forward), std::string("+x +a -x +b +w -w -a +y -b"));
  }

  // The second gradient is added to the first one as it arrives: gy + g1 + other = 18. The sum has the memory
  // of g1. A code base that adds gradients in one kernel holds g2 until then: 22.
  void gradientsAreSummedInPlace() {
    const Made in_place{Sum()};
    QCOMPARE(in_place.events(Lifetime::Backward), std::string("+gy +g1 +g2 -g2 +other -gy -other"));
    QCOMPARE(blocks(in_place.memory().backward.begin), 8);
    QCOMPARE(blocks(in_place.memory().backward.peak), 18);
    QCOMPARE(blocks(in_place.memory().backward.end), 4);
    QCOMPARE(blocks(in_place.memory().output_grad), 8);
    KernelProfile at_once;
    at_once.adds_gradients_at_once = true;
    const Made together(Sum(), at_once);
    QCOMPARE(together.events(Lifetime::Backward), std::string("+gy +g1 +g2 +other -gy -other -g2"));
    QCOMPARE(blocks(together.memory().backward.peak), 22);
    QCOMPARE(blocks(together.memory().backward.end), 4);
  }

  // A gradient that overwrites the saved operand needs no memory of its own: x + gy = 12 instead of 16.
  void gradientsOverwriteTheirOperand() {
    for (const bool over : {false, true}) {
      Tiny tiny;
      const TensorId x = tiny.tensor("x", 4), y = tiny.tensor("y", 8),
                     gy = tiny.tensor("gy", 8, TensorRole::Gradient),
                     gx = tiny.tensor("gx", 4, TensorRole::Gradient);
      tiny.forward({x}, {y});
      tiny.begin_backward();
      tiny.gradient(0, {x, gy}, {gx});
      tiny.save(x);
      tiny.segment().input = x;
      tiny.segment().output = y;
      tiny.segment().output_grad = gy;
      tiny.segment().input_grad = gx;
      KernelProfile profile;
      if (over) profile.rules["gelu"].gradient = KernelRule::Gradient::OverInput;
      const Made made(tiny, profile);
      QCOMPARE(blocks(made.memory().backward.peak), over ? 12 : 16);
      QCOMPARE(blocks(made.memory().backward.end), 4);
      QCOMPARE(made.events(Lifetime::Backward), std::string(over ? "+x +gy -gy" : "+x +gy +gx -x -gy"));
    }
  }

  // x + gy + gx = 16. A product that does not accumulate into the buffer makes a gradient of 2 blocks first.
  void weightGradientsAreTemporary() {
    KernelProfile profile;
    profile.weight_gradient = WeightGradient::Fresh;
    QCOMPARE(blocks(Made(Weight(), profile).memory().backward.peak), 18);
    QCOMPARE(Made(Weight(), profile).events(Lifetime::Backward), std::string("+x +gy +gx +w -w -x -gy"));
    profile.weight_gradient = WeightGradient::None;
    QCOMPARE(blocks(Made(Weight(), profile).memory().backward.peak), 16);
    // Without gradient accumulation fusion, GEMMs do not add to the buffer.
    for (const WeightGradient fused : {WeightGradient::None, WeightGradient::SharedDummy}) {
      profile.weight_gradient = fused;
      Made apart(Weight(), profile);
      apart.graph.structure.separate_weight_gradients = true;
      QCOMPARE(blocks(apart.memory().backward.peak), 18);
    }
  }

  // The first backward allocates a gradient of 4 blocks (float32), which stays.
  void firstGradientsStay() {
    Made made{Weight()};
    made.sizes.new_gradients = {{4 * kBlock}};
    const SegmentMemory memory = made.memory();
    QCOMPARE(blocks(memory.first_backward.peak), 20);
    QCOMPARE(blocks(memory.first_backward.end), 8);
    QCOMPARE(blocks(memory.first_backward.end, MemoryCategory::Gradients), 4);
  }

  // The input gradient leaves x and gy to the deferred product: x + gy + gx = 16 at its end.
  void deferredProductsKeepTheirOperands() {
    const SegmentMemory memory = Made(Weight(), {}, true).memory();
    QCOMPARE(blocks(memory.input_backward.peak), 16);
    QCOMPARE(blocks(memory.input_backward.end), 16);
    QCOMPARE(blocks(memory.backward.end), 4);
  }

  // Only x is saved. The replay makes a again for the backward: x + a = 3, then with gy and gx: 3 + 8 + 1.
  void replaysMakeTensorsAgain() {
    Tiny tiny;
    const TensorId x = tiny.tensor("x", 1), a = tiny.tensor("a", 2), y = tiny.tensor("y", 8);
    const TensorId again = tiny.tensor("again", 2), gy = tiny.tensor("gy", 8, TensorRole::Gradient),
                   gx = tiny.tensor("gx", 1, TensorRole::Gradient);
    tiny.forward({x}, {a});
    tiny.forward({a}, {y});
    tiny.begin_backward();
    Op& replay = tiny.op(OpKind::Gelu, Phase::Recompute, {x}, {again});
    replay.forward = 0;
    replay.scope = OpScope::Recomputed;
    tiny.at(again).repeat_of = a;
    tiny.end_replay();
    tiny.gradient(1, {again, gy}, {gx});
    tiny.save(x);
    tiny.segment().saved_without_recompute = {{tiny.storage(a), 1}};
    tiny.segment().input = x;
    tiny.segment().output = y;
    tiny.segment().output_grad = gy;
    tiny.segment().input_grad = gx;
    const Made made(tiny);
    const SegmentMemory replayed = made.memory(CheckpointPolicy::Input);
    QCOMPARE(blocks(replayed.saved), 1);
    QCOMPARE(blocks(replayed.replay.end), 3);
    QCOMPARE(blocks(replayed.backward.begin), 11);
    QCOMPARE(blocks(replayed.backward.peak), 12);
    QCOMPARE(blocks(replayed.backward.end), 1);
    QCOMPARE(made.events(Lifetime::Replay, CheckpointPolicy::Input), std::string("+x +again"));
    // A layer of the same kind that is not replayed saves a, which the backward reads instead.
    QCOMPARE(blocks(made.memory().saved), 2);
    QCOMPARE(made.events(Lifetime::Backward), std::string("+a +gy +gx -a -gy"));
  }
};

QTEST_APPLESS_MAIN(LifetimesTest)
#include "lifetimes_test.moc"
