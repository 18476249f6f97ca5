#include "trace/sync_lower.h"

#include <algorithm>

#include "trace/bound_segment.h"

namespace shardscape {
namespace {

chakra::CollectiveType collective_type(SyncOp op) {
  switch (op) {
    case SyncOp::AllGather: return chakra::CollectiveType::AllGather;
    case SyncOp::AllReduce: return chakra::CollectiveType::AllReduce;
    case SyncOp::Broadcast: return chakra::CollectiveType::Broadcast;
    // Simulators know no rooted reduction; scattering its result moves as much.
    case SyncOp::Reduce:
    case SyncOp::ReduceScatter: break;
  }
  return chakra::CollectiveType::ReduceScatter;
}

}  // namespace

SyncLowering::SyncLowering(const Lowering& lowering, int stage, RankProgram& program, ProgramBuilder& builder)
    : lowering_(lowering), graph_(lowering.report().graph()), stage_(lowering.report().stages[static_cast<size_t>(stage)]),
      first_(stage_.first), last_(stage_.last),
      sync_(stage_sync(graph_, first_, last_, stage_.layers > 0)), program_(program), builder_(builder),
      ops_(sync_.units.size()) {
  for (size_t u = 0; u < sync_.units.size(); ++u) {
    if (!sync_.units[u].root) continue;
    if (roots_.empty() || roots_.back().segment != sync_.units[u].segment) roots_.push_back({sync_.units[u].segment, {}});
    roots_.back().unit.units.push_back(u);
  }
}

void SyncLowering::add_instance(int segment, int32_t layer, int32_t position, int chunk) {
  Instance instance;
  instance.segment = segment;
  instance.chunk = chunk;
  instance.layer = layer;
  instance.position = position;
  for (size_t r = 0; r < roots_.size() && layer < 0; ++r)
    if (roots_[r].segment < 0 || roots_[r].segment == segment) instance.root = static_cast<int>(r);
  for (size_t u = 0; u < sync_.units.size(); ++u)
    if (layer >= 0 && !sync_.units[u].root && sync_.units[u].segment == segment) instance.units.push_back(u);
  instances_.push_back(std::move(instance));
}

void SyncLowering::plan() {
  // A root is that of one chunk: the first holds the embedding, the last the head.
  for (size_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i].root < 0) continue;
    Root& root = roots_[static_cast<size_t>(instances_[i].root)];
    for (root.begin = i; root.begin > 0 && instances_[root.begin - 1].chunk == instances_[i].chunk;) --root.begin;
    for (root.end = i + 1; root.end < instances_.size() && instances_[root.end].chunk == instances_[i].chunk;) ++root.end;
  }
  if (is_fsdp(sync_.strategy) || sync_.rows.empty()) return;
  const Report& report = lowering_.report();
  const SyncInput input = sync_input(graph_, stage_.binding, first_, last_, chunk_kinds(graph_, stage_, lowering_.report().design.model), &holders_);
  auto plan = plan_sync(input, sync_policy(graph_.structure, report.design.parallel, report.microbatches));
  if (const auto* problem = std::get_if<Problem>(&plan)) throw LoweringError(to_string(*problem));
  plan_ = std::get<SyncPlan>(std::move(plan));
  param_gather_.resize(input.params.size());
  action_ops_.resize(plan_.actions.size());
  for (size_t p = 0; p < holders_.size(); ++p)
    instances_[holders_[p]].params.push_back(p < input.params.size() ? p : static_cast<size_t>(input.reused[p - input.params.size()].param));
  for (size_t i = 0; i < plan_.actions.size(); ++i) {
    const SyncAction& a = plan_.actions[i];
    if (a.param < 0) continue;
    Instance& at = instances_[holders_[static_cast<size_t>(a.param)]];
    if (a.when == SyncWhen::BeforeForward) at.before_forward.push_back(i);
    if (a.when == SyncWhen::BeforeBackward) at.before_backward.push_back(i);
    if (a.when == SyncWhen::AfterGradient) at.after_gradient.push_back(i);
  }
}

void SyncLowering::enter(int microbatch, size_t instance, bool backward) {
  gathered_ = 0;
  Instance& here = instances_[instance];
  for (const size_t i : backward ? here.before_backward : here.before_forward) {
    if (!sync_happens(plan_.actions[i].turn, microbatch, lowering_.schedule().microbatches)) continue;
    builder_.depend(before_);
    run(plan_.actions[i], i, microbatch);
  }
  for (const size_t p : here.params) gathered_ = std::max(gathered_, param_gather_[p]);
  if (sync_.units.empty()) return;
  if (Root* root = root_around(instance); root && root->unit.gather == 0 && instance == (backward ? root->end - 1 : root->begin))
    gather(microbatch, root->unit, backward);
  if (here.root < 0 && here.gather == 0) gather(microbatch, here, backward);
  // One unit ahead, once the unit before this one is done: two are gathered at a time.
  if (const size_t next = next_unit(instance, backward); next < instances_.size()) {
    builder_.depend(before_);
    gather(microbatch, instances_[next], backward);
  }
  gathered_ = here.root >= 0 ? roots_[static_cast<size_t>(here.root)].unit.gather : here.gather;
}

void SyncLowering::leave(int microbatch, size_t instance, bool backward, uint32_t last_node) {
  Instance& here = instances_[instance];
  if (last_node != 0) before_ = last_node;
  if (!backward) {
    if (const MeshAxes loss = loss_group(graph_); here.segment == graph_.head() && !loss.empty()) {
      builder_.depend(last_node);
      add_number("loss.average", loss, microbatch);
    }
    free_forward(here);
    return;
  }
  const bool last = ++here.backwards == lowering_.schedule().places().microbatches(lowering_.schedule().microbatches), reduces = last || graph_.structure.every_microbatch;
  for (const size_t i : here.after_gradient)
    if (last || plan_.actions[i].turn == SyncTurn::Every) run(plan_.actions[i], i, microbatch);
  if (sync_.units.empty()) return;
  const int turn = graph_.structure.every_microbatch ? microbatch : -1;
  const auto free = [&](Instance& at) {
    const auto freed = at.units.empty() ? UnitFreed::AfterBackward : sync_.units[at.units.front()].freed;
    if (reduces || freed == UnitFreed::AfterForward || freed == UnitFreed::AfterBackward) at.gather = 0;
  };
  if (here.root < 0) {
    free(here);
    if (reduces) scatter(turn, here.units, {&here});
  }
  Root* root = root_around(instance);
  if (!root || instance != root->begin) return;
  free(root->unit);  // its backward ends last
  if (graph_.structure.every_microbatch) scatter(turn, root->unit.units, root_parts());
}

void SyncLowering::enter_replay(int microbatch, size_t instance) {
  Instance& here = instances_[instance];
  if (here.units.empty()) return;
  if (here.gather == 0) gather(microbatch, here, true);
  gathered_ = here.gather;
}

void SyncLowering::leave_replay(size_t instance) { free_forward(instances_[instance]); }

void SyncLowering::free_forward(Instance& at) const {
  if (at.units.empty()) return;
  const UnitFreed freed = sync_.units[at.units.front()].freed;
  if (freed == UnitFreed::AfterForward || freed == UnitFreed::AfterForwardAlone) at.gather = 0;
}

void SyncLowering::set_gradients(size_t instance, std::vector<uint32_t> nodes) {
  instances_[instance].gradients = std::move(nodes);
}

void SyncLowering::reduce() {
  // After the last message of the stage: tied embeddings wait for the other end of the pipeline.
  for (const Root& root : roots_)
    if (!graph_.structure.every_microbatch) scatter(-1, root.unit.units, root_parts());
  for (size_t i = 0; i < plan_.actions.size(); ++i)
    if (plan_.actions[i].when == SyncWhen::AfterBackward) run(plan_.actions[i], i, -1);
  for (const GradReduction& r : plan_grad_reduce(graph_, first_, last_, stage_.layers > 0)) {
    const uint32_t op = add_reduction(r, "");
    if (op == 0) continue;
    depend_on_reductions();
    last_reduction_ = builder_.add(op, -1, -1, 0);
  }
}

uint32_t SyncLowering::update_on_host() {
  const OffloadedStep step = offloaded_step(graph_, first_, last_, stage_.layers > 0);
  const auto add = [&](const char* name, chakra::NodeType type, const Expr& bytes) {
    TraceOp op{.name = name, .type = type, .tensor_size = value(bytes, std::string(name) + ": bytes")};
    if (program_.tensors) (type == chakra::NodeType::MemStore ? op.inputs : op.outputs).push_back({std::string(name) + ".host", NameScope::Rank, op.tensor_size});
    return builder_.add(add_op(std::move(op)), -1, -1, 0);
  };
  const uint32_t stored = add("optimizer.gradients", chakra::NodeType::MemStore, step.gradient_bytes);
  builder_.depend(stored);
  return add("optimizer.parameters", chakra::NodeType::MemLoad, step.parameter_bytes);
}

uint32_t SyncLowering::update() {
  for (const MeshAxes& norm : norm_groups(graph_)) {
    depend_on_reductions();
    last_reduction_ = add_number("gradients.norm." + group_name(norm), norm, -1);
  }
  depend_on_reductions();
  if (graph_.structure.offload_optimizer) return update_on_host();
  const OptimizerCost cost = optimizer_cost(graph_, first_, last_, stage_.layers > 0);
  const int64_t read = value(cost.read_bytes, "optimizer: bytes"), written = value(cost.written_bytes, "optimizer: bytes");
  TraceOp op{.name = "optimizer.adam", .num_ops = std::max<int64_t>(1, value(cost.flops, "optimizer: FLOPs")),
             .tensor_size = std::max<int64_t>(1, read + written), .seconds = lowering_.seconds_of_bytes(static_cast<double>(read) + static_cast<double>(written))};
  if (program_.tensors) {
    op.inputs.push_back({"optimizer.state", NameScope::Rank, read});
    op.outputs.push_back({"optimizer.updated", NameScope::Rank, written});
  }
  return builder_.add(add_op(std::move(op)), -1, -1, 0);
}

void SyncLowering::optimize() {
  const uint32_t updated = update();
  for (size_t i = 0; i < plan_.actions.size(); ++i) {
    if (plan_.actions[i].when != SyncWhen::AfterOptimizer) continue;
    builder_.depend(updated);
    run(plan_.actions[i], i, -1);
  }
}

SyncLowering::Root* SyncLowering::root_around(size_t instance) {
  const auto it = std::find_if(roots_.begin(), roots_.end(), [&](const Root& root) { return instance >= root.begin && instance < root.end; });
  return it == roots_.end() ? nullptr : &*it;
}

// Of all roots: a tied table has gradients from both.
std::vector<const SyncLowering::Instance*> SyncLowering::root_parts() const {
  std::vector<const Instance*> parts;
  for (const Instance& instance : instances_)
    if (instance.root >= 0) parts.push_back(&instance);
  return parts;
}

// The next instance in this direction that is not gathered yet, if it is a layer of this chunk; otherwise past the end.
size_t SyncLowering::next_unit(size_t instance, bool backward) const {
  if (backward ? instance == 0 : instance + 1 == instances_.size()) return instances_.size();
  const size_t next = backward ? instance - 1 : instance + 1;
  const bool wanted = !instances_[next].units.empty() && instances_[next].gather == 0 && instances_[next].chunk == instances_[instance].chunk;
  return wanted ? next : instances_.size();
}

void SyncLowering::gather(int microbatch, Instance& at, bool backward) {
  const bool second = backward && at.again == microbatch;
  if (backward) at.again = microbatch;
  for (const size_t u : at.units) {
    const SyncUnit& unit = sync_.units[u];
    if (unit.group.shard.empty()) continue;
    uint32_t& op = !backward ? ops_[u].forward : second ? ops_[u].behind_replay : ops_[u].backward;
    if (op == 0) {
      const int64_t shard = value(unit.shard * Expr(dtype_bytes(graph_.structure.dtype)), "gather of parameters: bytes");
      const char* const name = !backward ? "parameters.gather" : second ? "parameters.gather_again_behind_replay" : "parameters.gather_again";
      op = add_collective(name + unit_suffix(unit), root_name(unit), SyncOp::AllGather, unit.group.shard, shard);
    }
    at.gather = builder_.add(op, microbatch, at.layer, at.position);
  }
}

// microbatch: -1 once a step.
void SyncLowering::scatter(int microbatch, const std::vector<size_t>& units, const std::vector<const Instance*>& instances) {
  const Instance& at = *instances.front();
  uint32_t before = 0;
  for (const size_t u : units) {
    const SyncUnit& unit = sync_.units[u];
    std::vector<uint32_t>& ops = ops_[u].reductions;
    if (ops.empty()) {
      const Expr width(dtype_bytes(graph_.structure.grad_dtype));
      for (const GradReduction& r : unit.inner)
        if (const uint32_t op = add_reduction(r, root_name(unit)); op != 0) ops.push_back(op);
      const auto over = [&](SyncOp op, const MeshAxes& axes, const Expr& elements, const std::string& whose) {
        const std::string group = group_name(axes);
        if (!axes.empty())
          ops.push_back(add_collective("grad_reduce." + group + whose, root_name(unit), op, axes,
                                       value(elements * width, "gradient reduction over " + group + ": bytes")));
      };
      over(SyncOp::ReduceScatter, unit.group.shard, unit.full, "");
      over(SyncOp::AllReduce, unit.group.across, unit.shard, unit_suffix(unit));  // shards of all groups go across together
    }
    for (const uint32_t op : ops) {
      builder_.depend(before);
      if (before == 0)
        for (const Instance* instance : instances)
          for (const uint32_t node : instance->gradients) builder_.depend(node);
      before = builder_.add(op, microbatch, at.layer, at.position);
    }
  }
  if (before != 0) last_reduction_ = before;
}

// An action of the plan. microbatch: of gathers, and of reductions that every microbatch has.
void SyncLowering::run(const SyncAction& a, size_t index, int microbatch) {
  uint32_t& op = action_ops_[index];
  const bool gathers = a.op == SyncOp::AllGather;
  if (op == 0) {
    const MeshAxes& axes = axes_of(a.group);
    const int64_t bytes = a.elements * dtype_bytes(a.dtype);
    const std::string number = std::to_string(index);
    // The only one of its kind needs no number.
    const bool alone = std::count_if(plan_.actions.begin(), plan_.actions.end(), [&](const SyncAction& b) {
      return b.when == a.when && b.op == a.op && b.group == a.group;
    }) == 1;
    if (a.when == SyncWhen::AfterOptimizer)
      op = add_collective("param_gather." + a.group + (alone ? "" : ".bucket" + number), "", a.op, axes, bytes / a.group_size);
    else if (gathers)
      op = add_collective("parameters.gather", "gather" + number, a.op, axes, bytes / a.group_size);
    else
      op = add_collective("grad_reduce." + a.group + (a.root >= 0 ? ".to" + std::to_string(a.root) : ""),
                          a.when == SyncWhen::AfterBackward && alone ? "" : "bucket" + number, a.op, axes, bytes);
  }
  if (gathers) {
    const uint32_t node = builder_.add(op, microbatch, -1, 0);
    for (const SyncPart& part : a.parts) param_gather_[static_cast<size_t>(part.param)] = node;
    return;
  }
  if (a.parts.empty()) builder_.depend(last_reduction_);  // of the shard that it leaves
  std::vector<size_t> from;
  for (const SyncPart& part : a.parts) from.push_back(holders_[static_cast<size_t>(part.param)]);
  std::sort(from.begin(), from.end());
  from.erase(std::unique(from.begin(), from.end()), from.end());
  for (const size_t instance : from)
    for (const uint32_t node : instances_[instance].gradients) builder_.depend(node);
  last_reduction_ = builder_.add(op, a.turn == SyncTurn::Every ? microbatch : -1, -1, 0);
}

const MeshAxes& SyncLowering::axes_of(const std::string& group) const {
  const auto it = std::find_if(sync_.rows.begin(), sync_.rows.end(), [&](const SyncRow& row) { return group_name(row.axes) == group; });
  if (it == sync_.rows.end()) throw LoweringError("the plan of gradient sync names the group " + group + ", which the stage has not");
  return it->axes;
}

// Where what concerns a root unit is; what concerns layers has their number instead.
std::string SyncLowering::root_name(const SyncUnit& unit) const { return unit.segment == graph_.head() ? "head_root" : "root"; }

std::string SyncLowering::unit_suffix(const SyncUnit& unit) const {
  return unit.group == replica_groups(graph_).front() ? "" : "." + group_name(unit.group.axes);
}

// bytes: of an all-gather the rank's own shard, otherwise the whole local buffer.
uint32_t SyncLowering::add_collective(const std::string& name, const std::string& place, SyncOp op, const MeshAxes& axes, int64_t bytes) {
  const int role = lowering_.role_of(axes);
  if (role < 0) throw LoweringError(name + ": the group " + group_name(axes) + " has one rank");
  const int64_t ranks = lowering_.role_size(role);
  TraceOp made{.name = name, .place = place, .type = chakra::NodeType::Coll, .collective = collective_type(op), .role = role, .comm_size = bytes};
  if (program_.tensors) {
    const int64_t out = op == SyncOp::AllGather ? bytes * ranks : op == SyncOp::ReduceScatter ? bytes / ranks : bytes;
    made.inputs.push_back({name + ".local", NameScope::Microbatch, bytes});
    made.outputs.push_back({name + ".out", NameScope::Microbatch, out});
  }
  return add_op(std::move(made));
}

uint32_t SyncLowering::add_op(TraceOp op) {
  program_.ops.push_back(std::move(op));
  return static_cast<uint32_t>(program_.ops.size() - 1);
}

// place: prefix of what belongs to the root unit; "": of the whole rank. 0 where there is nothing to reduce.
uint32_t SyncLowering::add_reduction(const GradReduction& r, const std::string& place) {
  const int role = r.pair() ? lowering_.pair_role(r.mirror) : lowering_.role_of(r.axes);
  const std::string group = r.group();
  const int64_t bytes = value(r.bytes, "gradient reduction over " + group + ": bytes");
  if (role < 0 || bytes == 0) return 0;
  TraceOp op{.name = "grad_reduce." + group, .place = place, .type = chakra::NodeType::Coll,
             .collective = chakra::CollectiveType::AllReduce, .role = role, .comm_size = bytes};
  if (program_.tensors) {
    op.inputs.push_back({"gradients." + group + ".local", NameScope::Microbatch, bytes});
    op.outputs.push_back({"gradients." + group, NameScope::Microbatch, bytes});
  }
  return add_op(std::move(op));
}

// An all-reduce of one number in float32; its dependencies are set before.
uint32_t SyncLowering::add_number(const std::string& name, const MeshAxes& axes, int microbatch) {
  return builder_.add(add_collective(name, "", SyncOp::AllReduce, axes, dtype_bytes(DType::FP32)), microbatch, -1, 0);
}

void SyncLowering::depend_on_gradients() {
  for (const Instance& instance : instances_)
    for (const uint32_t node : instance.gradients) builder_.depend(node);
}

void SyncLowering::depend_on_reductions() {
  if (last_reduction_ != 0)
    builder_.depend(last_reduction_);
  else
    depend_on_gradients();
}

int64_t SyncLowering::value(const Expr& expr, const std::string& what) const {
  return bound_value(expr, stage_.binding, what);
}

}  // namespace shardscape
