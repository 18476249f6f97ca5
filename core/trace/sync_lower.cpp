#include "trace/sync_lower.h"

#include <algorithm>

#include "trace/bound_segment.h"

namespace shardscape {

SyncLowering::SyncLowering(const Lowering& lowering, int stage, RankProgram& program, ProgramBuilder& builder)
    : lowering_(lowering), graph_(lowering.report().graph()), stage_(lowering.report().stages[static_cast<size_t>(stage)]),
      first_(stage == 0), last_(stage + 1 == static_cast<int>(lowering.report().stages.size())),
      sync_(stage_sync(graph_, first_, last_, stage_.layers > 0)), program_(program), builder_(builder),
      ops_(sync_.units.size()) {
  if (!sync_.units.empty() && sync_.units.front().segment < 0) root_.unit = 0;
}

void SyncLowering::add_instance(int segment, int32_t layer, int32_t position) {
  Instance instance;
  instance.layer = layer;
  instance.position = position;
  for (size_t u = 0; u < sync_.units.size(); ++u)
    if (sync_.units[u].segment == (layer < 0 ? -1 : segment)) instance.unit = static_cast<int>(u);
  instances_.push_back(std::move(instance));
}

void SyncLowering::enter(int microbatch, size_t instance, bool backward) {
  gathered_ = 0;
  if (sync_.units.empty()) return;
  const bool start = instance == (backward ? instances_.size() - 1 : 0);
  if (start && root_.unit >= 0 && root_.gather == 0) gather(microbatch, root_, backward);
  if (!is_root(instance) && instances_[instance].gather == 0) gather(microbatch, instances_[instance], backward);
  // One unit ahead, once the unit before this one is done: two are gathered at a time.
  if (const size_t next = next_unit(instance, backward); next < instances_.size()) {
    builder_.depend(before_);
    gather(microbatch, instances_[next], backward);
  }
  gathered_ = is_root(instance) ? root_.gather : instances_[instance].gather;
}

void SyncLowering::leave(size_t instance, bool backward, uint32_t last_node) {
  const bool reduces = backward && ++instances_[instance].backwards == lowering_.schedule().microbatches;
  if (reduces && sync_.buckets) reduce_buckets(instance);
  if (sync_.units.empty()) return;
  instances_[instance].gather = 0;
  if (last_node != 0) before_ = last_node;
  if (!backward) return;
  if (reduces && !is_root(instance)) scatter({&instances_[instance]});
  if (instance == 0) root_.gather = 0;  // freed with its backward, which ends last
}

void SyncLowering::set_gradients(size_t instance, std::vector<uint32_t> nodes) {
  instances_[instance].gradients = std::move(nodes);
}

void SyncLowering::reduce() {
  if (root_.unit >= 0) {
    // After the last message of the stage: tied embeddings wait for the other end of the pipeline.
    std::vector<const Instance*> parts;
    for (size_t i = 0; i < instances_.size(); ++i)
      if (is_root(i)) parts.push_back(&instances_[i]);
    scatter(std::move(parts));
  }
  for (const GradReduction& r : plan_grad_reduce(graph_, first_, last_, stage_.layers > 0)) {
    const uint32_t op = add_reduction(r, "");
    if (op == 0) continue;
    if (last_reduction_ != 0)
      builder_.depend(last_reduction_);
    else
      depend_on_gradients();
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
  if (last_reduction_ != 0)
    builder_.depend(last_reduction_);
  else
    depend_on_gradients();
  if (graph_.structure.offload_optimizer) return update_on_host();
  const OptimizerCost cost = optimizer_cost(graph_, first_, last_, stage_.layers > 0);
  const int64_t read = value(cost.read_bytes, "optimizer: bytes"), written = value(cost.written_bytes, "optimizer: bytes");
  TraceOp op{.name = "optimizer.adam", .num_ops = std::max<int64_t>(1, value(cost.flops, "optimizer: FLOPs")),
             .tensor_size = std::max<int64_t>(1, read + written)};
  if (program_.tensors) {
    op.inputs.push_back({"optimizer.state", NameScope::Rank, read});
    op.outputs.push_back({"optimizer.updated", NameScope::Rank, written});
  }
  return builder_.add(add_op(std::move(op)), -1, -1, 0);
}

void SyncLowering::optimize() {
  const uint32_t updated = update();
  if (sync_.strategy != SyncStrategy::DistributedOptimizer) return;
  const int64_t width = dtype_bytes(graph_.structure.dtype);
  std::vector<int64_t> shards;
  if (!sync_.buckets) shards.push_back(value(sync_.owned * Expr(width), "gather of updated parameters: bytes"));
  for (const SyncAction& a : plan_.actions)
    if (a.when == SyncWhen::AfterOptimizer) shards.push_back(a.elements / a.group_size * width);
  for (size_t i = 0; i < shards.size(); ++i) {
    if (shards[i] == 0) continue;
    builder_.depend(updated);
    builder_.add(add_gather(shards[i], sync_.buckets ? ".bucket" + std::to_string(i) : ""), -1, -1, 0);
  }
}

bool SyncLowering::is_root(size_t instance) const { return root_.unit >= 0 && instances_[instance].unit == root_.unit; }

// The next instance in this direction that is not gathered yet, if it is a layer; otherwise past the end.
size_t SyncLowering::next_unit(size_t instance, bool backward) const {
  if (backward ? instance == 0 : instance + 1 == instances_.size()) return instances_.size();
  const size_t next = backward ? instance - 1 : instance + 1;
  return is_root(next) || instances_[next].gather != 0 ? instances_.size() : next;
}

void SyncLowering::gather(int microbatch, Instance& at, bool backward) {
  const SyncUnit& unit = sync_.units[static_cast<size_t>(at.unit)];
  UnitOps& ops = ops_[static_cast<size_t>(at.unit)];
  uint32_t& op = backward ? ops.backward : ops.forward;
  if (op == 0) {
    const int role = lowering_.role_of(replica_axes(graph_.structure));
    const int64_t shard = value(unit.shard * Expr(dtype_bytes(graph_.structure.dtype)), "gather of parameters: bytes");
    const std::string name = backward ? "parameters.gather_again" : "parameters.gather";
    TraceOp made{.name = name, .place = "root", .type = chakra::NodeType::Coll,
                 .collective = chakra::CollectiveType::AllGather, .role = role, .comm_size = shard};
    if (program_.tensors) {
      made.inputs.push_back({"parameters.shard", NameScope::Layer, shard});
      made.outputs.push_back({name + ".out", NameScope::Microbatch, shard * lowering_.role_size(role)});
    }
    op = add_op(std::move(made));
  }
  at.gather = builder_.add(op, microbatch, at.layer, at.position);
}

void SyncLowering::scatter(std::vector<const Instance*> instances) {
  const Instance& at = *instances.front();
  const SyncUnit& unit = sync_.units[static_cast<size_t>(at.unit)];
  UnitOps& ops = ops_[static_cast<size_t>(at.unit)];
  if (ops.scatter == 0) {
    for (const GradReduction& r : unit.inner)
      if (const uint32_t op = add_reduction(r, "root"); op != 0) ops.inner.push_back(op);
    GradReduction r;
    r.axes = replica_axes(graph_.structure);
    r.bytes = unit.full * Expr(dtype_bytes(graph_.structure.grad_dtype));
    r.scatter = true;
    ops.scatter = add_reduction(r, "root");
  }
  std::vector<uint32_t> order = ops.inner;
  order.push_back(ops.scatter);
  uint32_t before = 0;
  for (const uint32_t op : order) {
    builder_.depend(before);
    if (before == 0)
      for (const Instance* instance : instances)
        for (const uint32_t node : instance->gradients) builder_.depend(node);
    before = builder_.add(op, -1, at.layer, at.position);
  }
  last_reduction_ = before;
}

void SyncLowering::plan_buckets() {
  std::vector<int> layers;
  for (const Instance& instance : instances_)
    if (instance.layer >= 0)
      layers.push_back(graph_.layer_pattern[static_cast<size_t>(instance.layer) % graph_.layer_pattern.size()]);
  auto plan = plan_sync(sync_input(graph_, stage_.binding, first_, last_, layers, &holders_), sync_policy(graph_.structure, 1));
  if (const auto* problem = std::get_if<Problem>(&plan)) throw LoweringError(to_string(*problem));
  plan_ = std::get<SyncPlan>(std::move(plan));
}

// The buckets that gradients of this instance, the last ones they waited for, have filled.
void SyncLowering::reduce_buckets(size_t instance) {
  if (holders_.empty()) plan_buckets();
  for (size_t i = 0; i < plan_.actions.size(); ++i) {
    const SyncAction& a = plan_.actions[i];
    if (a.when != SyncWhen::AfterGradient || holders_[static_cast<size_t>(a.param)] != instance) continue;
    GradReduction r;
    r.axes = replica_axes(graph_.structure);
    r.bytes = Expr(a.elements) * Expr(dtype_bytes(a.dtype));
    r.scatter = a.op == SyncOp::ReduceScatter;
    const uint32_t op = add_reduction(r, "bucket" + std::to_string(i));
    if (op == 0) continue;
    for (const SyncPart& part : a.parts)
      for (const uint32_t node : instances_[holders_[static_cast<size_t>(part.param)]].gradients) builder_.depend(node);
    last_reduction_ = builder_.add(op, -1, -1, 0);
  }
}

// number: ".bucket3", or nothing where there is one buffer.
uint32_t SyncLowering::add_gather(int64_t shard, const std::string& number) {
  const int role = lowering_.role_of(replica_axes(graph_.structure));
  TraceOp gather{.name = "param_gather." + group_name(replica_axes(graph_.structure)) + number, .type = chakra::NodeType::Coll,
                 .collective = chakra::CollectiveType::AllGather, .role = role, .comm_size = shard};
  if (program_.tensors) {
    gather.inputs.push_back({"parameters.updated.shard" + number, NameScope::Rank, shard});
    gather.outputs.push_back({"parameters.updated" + number, NameScope::Rank, shard * lowering_.role_size(role)});
  }
  return add_op(std::move(gather));
}

uint32_t SyncLowering::add_op(TraceOp op) {
  program_.ops.push_back(std::move(op));
  return static_cast<uint32_t>(program_.ops.size() - 1);
}

// place: prefix of what belongs to the root unit or a bucket; "": of the whole rank. 0 where there is nothing to reduce.
uint32_t SyncLowering::add_reduction(const GradReduction& r, const std::string& place) {
  const int role = r.embedding_group ? lowering_.embedding_role() : lowering_.role_of(r.axes);
  const std::string group = r.embedding_group ? "embedding" : group_name(r.axes);
  const int64_t bytes = value(r.bytes, "gradient reduction over " + group + ": bytes");
  if (role < 0 || bytes == 0) return 0;
  TraceOp op{.name = "grad_reduce." + group, .place = place, .type = chakra::NodeType::Coll,
             .collective = r.scatter ? chakra::CollectiveType::ReduceScatter : chakra::CollectiveType::AllReduce,
             .role = role, .comm_size = bytes};
  if (program_.tensors) {
    const NameScope scope = place.empty() ? NameScope::Rank : NameScope::Layer;
    op.inputs.push_back({"gradients." + group + ".local", scope, bytes});
    op.outputs.push_back({"gradients." + group, scope, r.scatter ? bytes / lowering_.role_size(role) : bytes});
  }
  return add_op(std::move(op));
}

void SyncLowering::depend_on_gradients() {
  for (const Instance& instance : instances_)
    for (const uint32_t node : instance.gradients) builder_.depend(node);
}

int64_t SyncLowering::value(const Expr& expr, const std::string& what) const {
  return bound_value(expr, stage_.binding, what);
}

}  // namespace shardscape
