#include "simulate/sync_play.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <type_traits>

#include "graph/structure_cache.h"
#include "machine/collective_time.h"
#include "machine/op_time.h"
#include "report/outline.h"
#include "report/rank_mesh.h"

namespace shardscape {
namespace {

CollectiveKind collective_kind(SyncOp op) {
  switch (op) {
    case SyncOp::AllReduce: return CollectiveKind::AllReduce;
    case SyncOp::ReduceScatter: return CollectiveKind::ReduceScatter;
    case SyncOp::AllGather: return CollectiveKind::AllGather;
    case SyncOp::Reduce: return CollectiveKind::Reduce;
    case SyncOp::Broadcast: return CollectiveKind::Broadcast;
  }
  return CollectiveKind::AllReduce;
}

// With their scales, of quantized types.
double element_bytes(DType type) {
  static const auto bytes = [] {
    std::array<double, static_cast<size_t>(DType::NVFP4) + 1> out{};
    for (size_t t = 0; t < out.size(); ++t) out[t] = number(dtype_size(static_cast<DType>(t)), {});
    return out;
  }();
  return bytes[static_cast<size_t>(type)];
}

}  // namespace

SyncCosts::SyncCosts(const Report& report, const Machine& machine) : report_(report), machine_(machine), mesh_(mesh_of(report)) {}

double SyncCosts::collective(SyncOp op, double bytes, const MeshAxes& axes, const LinkShare& beside) {
  for (const Known& k : known_)
    if (k.op == op && k.bytes == bytes && k.beside.scaleup == beside.scaleup && k.beside.nic == beside.nic && k.axes == axes) return k.seconds;
  const auto [it, fresh] = spans_.try_emplace(axes);
  if (fresh) it->second = span_of(mesh_, axes, machine_.network);
  const CollectiveEstimate estimate = collective_estimate(machine_, collective_kind(op), bytes, it->second);
  const LinkShare one = link_share(machine_, estimate);
  LinkShare all = one;
  all += beside;
  known_.push_back({op, bytes, axes, beside, estimate.seconds * slowdown(one, all)});
  return known_.back().seconds;
}

double SyncCosts::value(const StageReport& stage, const Expr& expr) {
  for (const Value& v : values_)
    if (v.stage == stage.stage && v.expr == &expr) return v.value;
  values_.push_back({stage.stage, &expr, number(expr, stage.binding)});
  return values_.back().value;
}

double SyncCosts::all_reduce_ends(double bytes) const { return all_reduce_pair(bytes, 0, mesh_.degree(MeshAxis::Pp) - 1); }

double SyncCosts::all_reduce_pair(double bytes, int64_t stage, int64_t other) const {
  const GroupSpan span = shardscape::span_of({mesh_.with(0, MeshAxis::Pp, stage), mesh_.with(0, MeshAxis::Pp, other)}, machine_.network);
  return collective_seconds(machine_, CollectiveKind::AllReduce, bytes, span);
}

std::shared_ptr<const StageSyncParts> SyncCosts::parts(const StageReport& stage) {
  // By shape, for the structures used last.
  struct Shapes {
    std::mutex mutex;
    std::array<std::shared_ptr<const StageSyncParts>, 8> parts;
  };
  static StructureCache<Shapes> kept;
  std::shared_ptr<const StageSyncParts>& here = parts_[static_cast<size_t>(stage.shape)];
  if (here) return here;
  const Graph& graph = report_.graph();
  auto shapes = std::const_pointer_cast<Shapes>(kept.find(graph.structure));
  if (!shapes) {
    shapes = std::make_shared<Shapes>();
    kept.keep(graph.structure, shapes);
  }
  const std::scoped_lock lock(shapes->mutex);
  std::shared_ptr<const StageSyncParts>& known = shapes->parts[static_cast<size_t>(stage.shape)];
  if (known) return here = known;
  const StageShape& shape = report_.model->shapes[static_cast<size_t>(stage.shape)];
  const auto made = std::make_shared<const StageSyncParts>(StageSyncParts{
      stage_sync(graph, shape.first, shape.last, shape.has_layers), plan_grad_reduce(graph, shape.first, shape.last, shape.has_layers),
      optimizer_cost(graph, shape.first, shape.last, shape.has_layers), offloaded_step(graph, shape.first, shape.last, shape.has_layers)});
  return here = known = made;
}

SyncPlay::SyncPlay(SyncCosts& costs, const StageReport& stage, Timeline& timeline)
    : costs_(costs), graph_(costs.report().graph()), stage_(costs.report().stages[static_cast<size_t>(stage.like)]), number_(stage.stage), timeline_(timeline),
      microbatches_(static_cast<int>(pipeline_layout(costs.report().design.parallel).microbatches(costs.report().microbatches))), parts_(costs.parts(stage)) {
  for (size_t u = 0; u < parts_->sync.units.size(); ++u) {
    const SyncUnit& unit = parts_->sync.units[u];
    UnitRange* range = nullptr;
    if (unit.root) {
      if (roots_.empty() || roots_.back().segment != unit.segment) roots_.push_back({unit.segment, {}});
      range = &roots_.back().unit.units;
    } else {
      layer_units_.resize(graph_.segments.size());
      range = &layer_units_[static_cast<size_t>(unit.segment)];
    }
    if (range->empty()) range->begin = u;
    range->end = u + 1;
  }
}

void SyncPlay::add_instance(int segment, bool layer, int chunk) {
  Instance instance;
  instance.segment = segment;
  instance.chunk = chunk;
  for (size_t r = 0; r < roots_.size() && !layer; ++r)
    if (roots_[r].segment < 0 || roots_[r].segment == segment) instance.root = static_cast<int>(r);
  if (layer && !layer_units_.empty()) instance.units = layer_units_[static_cast<size_t>(segment)];
  instances_.push_back(instance);
}

void SyncPlay::plan() {
  for (size_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i].root < 0) continue;
    Root& root = roots_[static_cast<size_t>(instances_[i].root)];
    for (root.begin = i; root.begin > 0 && instances_[root.begin - 1].chunk == instances_[i].chunk;) --root.begin;
    for (root.end = i + 1; root.end < instances_.size() && instances_[root.end].chunk == instances_[i].chunk;) ++root.end;
  }
  if (is_fsdp(parts_->sync.strategy) || parts_->sync.rows.empty()) return;
  const Report& report = costs_.report();
  const StageShape& shape = report.model->shapes[static_cast<size_t>(stage_.shape)];
  if (stage_.states && stage_.states->plan) {
    plan_ = stage_.states->plan;
  } else {
    const auto kinds = chunk_kinds(graph_, stage_, report.design.model);
    plan_ = std::make_shared<const PlacedPlan>(place_plan(graph_, stage_plan(graph_, stage_.binding, report.design.parallel, shape.first, shape.last, kinds)));
  }
}

bool SyncPlay::every_microbatch() const {
  return plan_ && std::any_of(plan_->acts.begin(), plan_->acts.end(), [](const PlacedPlan::Act& act) {
    const SyncAction& a = act.action;
    return a.when == SyncWhen::BeforeForward || a.when == SyncWhen::BeforeBackward || (a.when == SyncWhen::AfterGradient && a.turn != SyncTurn::Last);
  });
}

void SyncPlay::skip_to_last() {
  for (Instance& instance : instances_) instance.backwards = microbatches_ - 1;
}

SyncPlay::Units SyncPlay::units() const {
  Units out;
  for (const Instance& instance : instances_) out.push_back(instance.gathered);
  for (const Root& root : roots_) out.push_back(root.unit.gathered);
  return out;
}

void SyncPlay::resume(const Units& whole) {
  size_t next = 0;
  const auto take = [&](Instance& unit) {
    unit.gathered = whole[next++];
    unit.gather = kNoNode;
  };
  for (Instance& instance : instances_) take(instance);
  for (Root& root : roots_) take(root.unit);
  before_ = timeline_.last(number_, StreamKind::Compute);
}

void Rehearsal::begin(const SyncPlay::Units& whole) {
  sync_.resume(whole);
  for (SyncPlay::Instance& instance : sync_.instances_) {
    instance.last = kNoNode;
    instance.backwards = 0;
  }
}

Rehearsal::~Rehearsal() {
  sync_.instances_ = std::move(instances_);
  sync_.roots_ = std::move(roots_);
  sync_.before_ = before_;
  sync_.last_reduction_ = last_reduction_;
}

NodeId SyncPlay::enter(int microbatch, size_t instance, bool backward) {
  NodeId gathered = kNoNode;
  Instance& here = instances_[instance];
  if (const PlacedPlan::Place* place = place_of(instance)) {
    for (const size_t i : backward ? place->before_backward : place->before_forward)
      if (sync_happens(plan_->acts[i].action.turn, microbatch, microbatches_)) run(plan_->acts[i], microbatch);
    gathered = here.params;
  }
  if (parts_->sync.units.empty()) return gathered;
  if (Root* root = root_around(instance); root && !root->unit.gathered && instance == (backward ? root->end - 1 : root->begin))
    gather(microbatch, root->unit, backward);
  if (here.root < 0 && !here.gathered) gather(microbatch, here, backward);
  // One unit ahead, once the unit before this one is done: two are gathered at a time.
  if (const size_t next = next_unit(instance, backward); next < instances_.size()) gather(microbatch, instances_[next], backward);
  return here.root >= 0 ? roots_[static_cast<size_t>(here.root)].unit.gather : here.gather;
}

void SyncPlay::leave(int microbatch, size_t instance, bool backward, NodeId last) {
  Instance& here = instances_[instance];
  if (last != kNoNode) before_ = last;
  if (!backward) {
    if (const MeshAxes loss = loss_group(graph_); here.segment == graph_.head() && !loss.empty())
      add("all-reduce of the loss", costs_.collective(SyncOp::AllReduce, dtype_bytes(DType::FP32), loss), microbatch, {last});
    free_forward(here);
    return;
  }
  here.last = last;
  const bool final = ++here.backwards == microbatches_, reduces = final || graph_.structure.every_microbatch;
  if (const PlacedPlan::Place* place = place_of(instance))
    for (const size_t i : place->after_gradient)
      if (final || plan_->acts[i].action.turn == SyncTurn::Every) run(plan_->acts[i], microbatch);
  if (parts_->sync.units.empty()) return;
  const int turn = graph_.structure.every_microbatch ? microbatch : -1;
  const auto free = [&](Instance& at) {
    const auto freed = at.units.empty() ? UnitFreed::AfterBackward : parts_->sync.units[at.units.begin].freed;
    if (reduces || freed == UnitFreed::AfterForward || freed == UnitFreed::AfterBackward) at.gathered = false;
  };
  if (here.root < 0) {
    free(here);
    if (reduces) scatter(turn, here, {here.last});
  }
  Root* root = root_around(instance);
  if (!root || instance != root->begin) return;
  free(root->unit);  // its backward ends last
  if (graph_.structure.every_microbatch) scatter(turn, root->unit, root_ends());
}

NodeId SyncPlay::enter_replay(int microbatch, size_t instance) {
  Instance& here = instances_[instance];
  if (here.units.empty()) return kNoNode;
  if (!here.gathered) gather(microbatch, here, true);
  return here.gather;
}

void SyncPlay::leave_replay(size_t instance) { free_forward(instances_[instance]); }

void SyncPlay::free_forward(Instance& at) const {
  if (at.units.empty()) return;
  const UnitFreed freed = parts_->sync.units[at.units.begin].freed;
  if (freed == UnitFreed::AfterForward || freed == UnitFreed::AfterForwardAlone) at.gathered = false;
}

// Megatron's buffers stay; PyTorch and DeepSpeed drop gradients and write the first ones.
void SyncPlay::begin() {
  gathers_ahead_ = costs_.report().design.parallel.overlap_param_gather && graph_.structure.overlap && parts_->sync.strategy == SyncStrategy::DistributedOptimizer;
  if (gathers_ahead_) {
    // What the step before has updated, in the order of first use; its forward waits for each.
    std::vector<const PlacedPlan::Act*> gathers;
    for (const PlacedPlan::Act& act : acts())
      if (act.action.when == SyncWhen::AfterOptimizer && !act.holders.empty()) gathers.push_back(&act);
    std::stable_sort(gathers.begin(), gathers.end(), [](const PlacedPlan::Act* a, const PlacedPlan::Act* b) { return a->first < b->first; });
    for (const PlacedPlan::Act* act : gathers) run(*act, -1);
  }
  if (!graph_.structure.trains()) return;
  if (parts_->sync.strategy != SyncStrategy::DdpFlat && parts_->sync.strategy != SyncStrategy::DistributedOptimizer) return;
  pass(value(parts_->sync.buffers) * dtype_bytes(graph_.structure.grad_dtype), "zero the gradients", kNoNode);
}

void SyncPlay::norm() {
  if (graph_.structure.clip_grad_norm) pass(value(parts_->offloaded.gradient_bytes), "norm of the gradients", reduced());
}

void SyncPlay::reduce() {
  for (const Root& root : roots_)
    if (!graph_.structure.every_microbatch) scatter(-1, root.unit, root_ends());
  for (const PlacedPlan::Act& act : acts())
    if (act.action.when == SyncWhen::AfterBackward) run(act, -1);
  for (const GradReduction& r : parts_->reductions) {
    if (r.embedding_group) {
      embedding_bytes_ = value(r.bytes);
    } else if (r.mirror) {
      mirror_bytes_ = value(r.bytes);
    } else {
      last_reduction_ = add([&] { return "all-reduce of gradients over " + group_name(r.axes); }, costs_.collective(SyncOp::AllReduce, value(r.bytes), r.axes), -1, {reduced()});
    }
  }
}

NodeId SyncPlay::reduced() const {
  return timeline_.latest({last_reduction_, timeline_.last(number_, StreamKind::Compute)});
}

NodeId SyncPlay::all_reduce(const char* name, double seconds, const std::vector<NodeId>& after) {
  return last_reduction_ = add(name, seconds, -1, after);
}

void SyncPlay::optimize() {
  NodeId updated = kNoNode;
  if (graph_.structure.offload_optimizer) {
    const double rate = costs_.machine().host_gbps * 1e9;
    const NodeId stored = add_compute(SpanKind::Store, StreamKind::Host, TimeCategory::Host, value(parts_->offloaded.gradient_bytes) / rate, reduced());
    updated = add_compute(SpanKind::Load, StreamKind::HostLoad, TimeCategory::Host, value(parts_->offloaded.parameter_bytes) / rate, stored);
  } else {
    updated = pass(value(parts_->optimizer.read_bytes) + value(parts_->optimizer.written_bytes), "", reduced());
  }
  before_ = updated;
  if (gathers_ahead_) return;
  for (const PlacedPlan::Act& act : acts())
    if (act.action.when == SyncWhen::AfterOptimizer) run(act, -1);
}

SyncPlay::Root* SyncPlay::root_around(size_t instance) {
  const auto it = std::find_if(roots_.begin(), roots_.end(), [&](const Root& root) { return instance >= root.begin && instance < root.end; });
  return it == roots_.end() ? nullptr : &*it;
}

// Of all roots: a tied table has gradients from both.
std::vector<NodeId> SyncPlay::root_ends() const {
  std::vector<NodeId> out;
  for (const Instance& instance : instances_)
    if (instance.root >= 0) out.push_back(instance.last);
  return out;
}

// The next instance in this direction that is not gathered yet, if it is a layer of this chunk; otherwise past the end.
size_t SyncPlay::next_unit(size_t instance, bool backward) const {
  if (backward ? instance == 0 : instance + 1 == instances_.size()) return instances_.size();
  const size_t next = backward ? instance - 1 : instance + 1;
  const bool wanted = !instances_[next].units.empty() && !instances_[next].gathered && instances_[next].chunk == instances_[instance].chunk;
  return wanted ? next : instances_.size();
}

void SyncPlay::gather(int microbatch, Instance& at, bool backward) {
  at.gathered = true;
  at.gather = kNoNode;
  for (size_t u = at.units.begin; u < at.units.end; ++u) {
    const SyncUnit& unit = parts_->sync.units[u];
    if (unit.group.shard.empty()) continue;
    gather_seconds_.resize(parts_->sync.units.size(), -1);
    double& seconds = gather_seconds_[u];
    if (seconds < 0) seconds = costs_.collective(SyncOp::AllGather, value(unit.full) * dtype_bytes(graph_.structure.dtype), unit.group.shard, links_);
    at.gather = add(backward ? "gather of parameters for the backward" : "gather of parameters", seconds, microbatch, {before_});
  }
}

void SyncPlay::scatter(int microbatch, const Instance& at, const std::vector<NodeId>& after) {
  const double width = dtype_bytes(graph_.structure.grad_dtype);
  std::vector<NodeId> behind = after;
  const auto over = [&](SyncOp op, const MeshAxes& axes, double bytes) {
    if (axes.empty() || bytes == 0) return;
    const char* what = op == SyncOp::AllReduce ? "all-reduce of gradients over " : "reduce-scatter of gradients over ";
    last_reduction_ = add([&] { return what + group_name(axes); }, costs_.collective(op, bytes, axes, links_), microbatch, behind);
    behind = {last_reduction_};
  };
  for (size_t u = at.units.begin; u < at.units.end; ++u) {
    const SyncUnit& unit = parts_->sync.units[u];
    for (const GradReduction& r : unit.inner) over(SyncOp::AllReduce, r.axes, value(r.bytes));
    over(SyncOp::ReduceScatter, unit.group.shard, value(unit.full) * width);
    over(SyncOp::AllReduce, unit.group.across, value(unit.shard) * width);
  }
}

// An action of the plan. microbatch: of gathers, and of reductions that every microbatch has.
void SyncPlay::run(const PlacedPlan::Act& act, int microbatch) {
  const SyncAction& a = act.action;
  const double bytes = static_cast<double>(a.elements) * element_bytes(a.dtype);
  const bool alone = a.when == SyncWhen::AfterBackward || (a.when == SyncWhen::AfterOptimizer && !gathers_ahead_);
  const double seconds = costs_.collective(a.op, bytes, act.axes, alone ? LinkShare{} : links_);
  const auto name = [&](const char* what) {
    std::string out(sync_op_name(a.op));
    std::replace(out.begin(), out.end(), '_', '-');
    return out + what + a.group;
  };
  if (a.op == SyncOp::AllGather || a.when == SyncWhen::AfterOptimizer) {
    const NodeId node = add([&] { return name(" of parameters over "); }, seconds, microbatch, {before_});
    for (const size_t place : act.readers) instances_[place].params = node;
    return;
  }
  after_.clear();
  for (const size_t place : act.holders) after_.push_back(instances_[place].last);
  last_reduction_ = add([&] { return name(" of gradients over "); }, seconds, a.turn == SyncTurn::Every ? microbatch : -1, after_);
}

template <typename Name>
Node SyncPlay::collective_node(const Name& name, int microbatch) {
  Node node;
  node.stage = number_;
  node.stream = StreamKind::DataComm;
  node.kind = SpanKind::Collective;
  node.category = TimeCategory::DataComm;
  node.microbatch = microbatch;
  if (timeline_.has_spans()) {
    if constexpr (std::is_invocable_v<Name>) node.name = timeline_.name(name());
    else node.name = timeline_.name(name);
  }
  return node;
}

template <typename Name>
NodeId SyncPlay::add(const Name& name, double seconds, int microbatch, const std::vector<NodeId>& after) {
  return timeline_.add(collective_node(name, microbatch), seconds, after);
}

template <typename Name>
NodeId SyncPlay::add(const Name& name, double seconds, int microbatch, std::initializer_list<NodeId> after) {
  return timeline_.add(collective_node(name, microbatch), seconds, after);
}

NodeId SyncPlay::pass(double bytes, const char* name, NodeId after) {
  const double seconds = bytes > 0 ? memory_bound_seconds(costs_.machine(), bytes) : 0;
  return add_compute(SpanKind::Optimizer, StreamKind::Compute, TimeCategory::Optimizer, seconds, after, name);
}

NodeId SyncPlay::add_compute(SpanKind kind, StreamKind stream, TimeCategory category, double seconds, NodeId after, const char* name) {
  Node node;
  node.stage = number_;
  node.stream = stream;
  node.kind = kind;
  node.category = category;
  if (*name && timeline_.has_spans()) node.name = timeline_.name(name);
  return timeline_.add(node, seconds, {after});
}

}  // namespace shardscape
