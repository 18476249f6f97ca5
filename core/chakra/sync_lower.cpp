#include "chakra/sync_lower.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "chakra/bound_segment.h"
#include "chakra/segment_tensors.h"

namespace shardscape {
SyncLowering::SyncLowering(const Lowering& lowering, int stage, RankProgram& program, ProgramBuilder& builder)
    : lowering_(lowering),
      graph_(lowering.report().graph()),
      stage_(lowering.report().stages[static_cast<size_t>(stage)]),
      first_(stage_.first),
      last_(stage_.last),
      sync_(stage_sync(graph_, first_, last_, stage_.layers > 0)),
      program_(program),
      builder_(builder),
      ops_(sync_.units.size()),
      pool_(program.tensors ? gathered_bytes(lowering.report(), stage_) : 0),
      walk_(graph_, sync_, lowering.schedule().places().microbatches(lowering.schedule().microbatches),
            *this) {}

void SyncLowering::plan(const StageLayout& layout) {
  for (const StageInstance& i : layout.instances)
    instances_.push_back({static_cast<int32_t>(i.layer), static_cast<int32_t>(i.position), {}});
  walk_.plan(layout, placed_plan(lowering_.report(), stage_, sync_));
  action_ops_.resize(walk_.actions().size());
}

uint32_t SyncLowering::enter(int microbatch, size_t instance, bool backward) {
  return gathered_ = static_cast<uint32_t>(walk_.enter(microbatch, instance, backward));
}

void SyncLowering::leave(int microbatch, size_t instance, bool backward, uint32_t last_node) {
  left_ = last_node;
  if (last_node != 0) before_ = last_node;
  walk_.leave(microbatch, instance, backward);
}

uint32_t SyncLowering::enter_replay(int microbatch, size_t instance) {
  const auto gather = static_cast<uint32_t>(walk_.enter_replay(microbatch, instance));
  if (gather != 0) gathered_ = gather;
  return gather;
}

void SyncLowering::average_loss(int microbatch) {
  builder_.depend(left_);
  add_number("loss.average", loss_group(graph_), microbatch);
}

void SyncLowering::set_gradients(size_t instance, std::vector<uint32_t> nodes,
                                 std::vector<NamedTensor> tensors) {
  instances_[instance].gradients = std::move(nodes);
  instances_[instance].tensors = std::move(tensors);
}

void SyncLowering::read_gradients(uint32_t node, const std::vector<size_t>& instances) {
  if (!program_.tensors) return;
  std::vector<NamedTensor>& inputs = program_.extra[node - 1].inputs;
  for (const size_t instance : instances)
    inputs.insert(inputs.end(), instances_[instance].tensors.begin(), instances_[instance].tensors.end());
}

void SyncLowering::add_to_buffer(const StageRange& instances) {
  for (size_t i = instances.first; i < instances.end; ++i) {
    read_gradients(static_cast<uint32_t>(program_.nodes.size() + 1), {i});
    instances_[i].tensors.clear();
  }
}

// PyTorch's FSDP: the first reduction makes the shard, later ones add to it. Other shards are in buffers.
void SyncLowering::write_shard(uint32_t node, const SyncUnit& unit, size_t instance) {
  if (!program_.tensors || !is_torch_fsdp(graph_.structure.sync) || unit.frozen) return;
  const NamedTensor shard{"shard." + std::to_string(&unit - sync_.units.data()) + "." +
                              (unit.root ? "root" : std::to_string(instance)) + ".grad",
                          value(unit.shard * Expr(dtype_bytes(DType::FP32)), "sharded gradient: bytes")};
  const bool known = std::any_of(shards_.begin(), shards_.end(),
                                 [&](const NamedTensor& t) { return t.name == shard.name; });
  NodeTensors& of = program_.extra[node - 1];
  (known ? of.inputs : of.outputs).push_back(shard);
  if (!known) shards_.push_back(shard);
}

void SyncLowering::reduce() {
  walk_.reduce();
  for (const GradReduction& r : plan_grad_reduce(graph_, sync_.owned, first_, last_, stage_.layers > 0)) {
    const uint32_t op = add_reduction(r, "");
    if (op == 0) continue;
    depend_on_reductions();
    last_reduction_ = builder_.add(op, -1, -1, 0);
  }
}

// device: node of the device's update; 0 if the host updates all parameters.
uint32_t SyncLowering::update_on_host(uint32_t device) {
  const OffloadedStep step = offloaded_step(graph_, sync_.owned);
  const auto add = [&](const char* name, chakra::NodeType type, const Expr& bytes) {
    TraceOp op{.name = name, .type = type, .tensor_size = value(bytes, std::string(name) + ": bytes")};
    return builder_.add(add_op(std::move(op)), -1, -1, 0);
  };
  const uint32_t stored = add("optimizer.gradients", chakra::NodeType::MemStore, step.gradient_bytes);
  builder_.depend(stored);
  builder_.depend(device);
  return add("optimizer.parameters", chakra::NodeType::MemLoad, step.parameter_bytes);
}

uint32_t SyncLowering::update() {
  for (const MeshAxes& norm : norm_groups(graph_)) {
    depend_on_reductions();
    last_reduction_ = add_number("gradients.norm." + group_name(norm), norm, -1);
  }
  depend_on_reductions();
  if (!sync_.muon.matrices.empty()) orthogonalize();
  uint32_t device = 0;
  if (updates_on_device(graph_.structure)) {
    device = update_on_device();
    if (graph_.structure.offload_optimizer) depend_on_reductions();
  }
  return graph_.structure.offload_optimizer ? update_on_host(device) : device;
}

// Muon: gathers of momentum one after another, then the Newton-Schulz iterations.
void SyncLowering::orthogonalize() {
  for (const MuonWork::Gather& gather : sync_.muon.gathers) {
    const int64_t bytes = value(gather.elements, "gather of momentum: elements") * dtype_bytes(DType::BF16),
                  ranks = lowering_.role_size(lowering_.role_of(gather.axes));
    last_reduction_ = builder_.add(add_collective("momentum.gather." + group_name(gather.axes), "",
                                                  CollectiveKind::AllGather, gather.axes, bytes / ranks),
                                   -1, -1, 0);
    builder_.depend(last_reduction_);
  }
  const int64_t bytes = value(sync_.muon.owned, "Muon: elements") * dtype_bytes(DType::BF16);
  TraceOp op{.name = "optimizer.newton_schulz",
             .num_ops = value(sync_.muon.flops, "Muon: FLOPs"),
             .tensor_size = std::max<int64_t>(1, 2 * bytes),
             .seconds = lowering_.newton_schulz_seconds(sync_.muon, stage_.binding)};
  builder_.depend(builder_.add(add_op(std::move(op)), -1, -1, 0));
}

uint32_t SyncLowering::update_on_device() {
  const OptimizerCost cost = optimizer_cost(graph_, sync_.owned, sync_.muon.owned, first_, last_,
                                            stage_.layers > 0);
  // 8-bit moments: the scale of a block that is not full is a part of a byte.
  const auto whole_bytes = [&](const Expr& bytes) {
    return static_cast<int64_t>(std::ceil(number(bytes, stage_.binding)));
  };
  const int64_t read = whole_bytes(cost.read_bytes), written = whole_bytes(cost.written_bytes);
  TraceOp op{.name = "optimizer.adam",
             .num_ops = std::max<int64_t>(1, value(cost.flops, "optimizer: FLOPs")),
             .tensor_size = std::max<int64_t>(1, read + written),
             .seconds = lowering_.seconds_of_bytes(static_cast<double>(read) + static_cast<double>(written))};
  return builder_.add(add_op(std::move(op)), -1, -1, 0);
}

void SyncLowering::optimize() {
  updated_ = update();
  walk_.run_all(SyncWhen::AfterOptimizer);
}

SyncWalk::Handle SyncLowering::gather(const std::vector<size_t>& units, SyncWalk::GatherPurpose purpose,
                                      int microbatch, size_t instance, bool ahead) {
  static const Instance root;
  const Instance& at = instance == SyncWalk::kRoot ? root : instances_[instance];
  const bool backward = purpose != SyncWalk::GatherPurpose::Forward,
             after_recompute = purpose == SyncWalk::GatherPurpose::BackwardAfterReplay;
  uint32_t made = 0;
  if (ahead) builder_.depend(before_);
  for (const size_t u : units) {
    const SyncUnit& unit = sync_.units[u];
    if (unit.group.shard.empty()) continue;
    uint32_t& op = !backward ? ops_[u].forward : after_recompute ? ops_[u].after_replay : ops_[u].backward;
    if (op == 0) {
      const int64_t shard = value(unit.shard * Expr(dtype_bytes(graph_.structure.dtype)),
                                  "gather of parameters: bytes");
      const char* const name = !backward         ? "parameters.gather"
                               : after_recompute ? "parameters.gather_backward_after_recompute"
                                                 : "parameters.gather_backward";
      op = add_collective(name + unit_suffix(unit), root_name(unit), CollectiveKind::AllGather,
                          unit.group.shard, shard);
    }
    made = builder_.add(op, microbatch, at.layer, at.position);
  }
  return made;
}

// microbatch: -1 if the reduction occurs once a step.
void SyncLowering::scatter(const std::vector<size_t>& units, int microbatch,
                           const std::vector<size_t>& instances, bool crosses) {
  const Instance& at = instances_[instances.front()];
  uint32_t before = 0;
  for (const size_t u : units) {
    const SyncUnit& unit = sync_.units[u];
    // The others only have to end before.
    std::vector<size_t> holders{instances.front()};
    if (unit.root) {
      holders = instances;
      std::erase_if(holders, [&](size_t i) { return instances_[i].layer >= 0; });
    }
    std::vector<uint32_t>& ops = ops_[u].reductions;
    if (ops.empty() && !unit.frozen) {
      const Expr width(dtype_bytes(graph_.structure.grad_dtype));
      for (const GradReduction& r : unit.inner)
        if (const uint32_t op = add_reduction(r, root_name(unit)); op != 0) ops.push_back(op);
      const auto over = [&](CollectiveKind op, const MeshAxes& axes, const Expr& elements,
                            const std::string& whose) {
        const std::string group = group_name(axes);
        if (!axes.empty())
          ops.push_back(
              add_collective("grad_reduce." + group + whose, root_name(unit), op, axes,
                             value(elements * width, "gradient reduction over " + group + ": bytes")));
      };
      over(CollectiveKind::ReduceScatter, unit.group.shard, unit.full, "");
      // The shards of all replica groups share one group across copies, so the suffix makes names unique.
      over(CollectiveKind::AllReduce, unit.group.across, unit.shard, unit_suffix(unit));
    }
    // The last op reduces across groups.
    const size_t due = ops.size() - (!crosses && !unit.group.across.empty() ? 1 : 0);
    for (const uint32_t op : std::span(ops).first(due)) {
      builder_.depend(before);
      if (before == 0)
        for (const size_t instance : instances)
          for (const uint32_t node : instances_[instance].gradients) builder_.depend(node);
      before = builder_.add(op, microbatch, at.layer, at.position);
      read_gradients(before, holders);
    }
    if (due > 0) write_shard(before, unit, instances.front());
  }
  if (before != 0) last_reduction_ = before;
}

// Issues an action of the plan. microbatch: for gathers, and for reductions of every microbatch.
SyncWalk::Handle SyncLowering::run(const PlacedPlan::PlacedAction& placed, size_t index, int microbatch) {
  const SyncAction& a = placed.action;
  uint32_t& op = action_ops_[index];
  const bool gathers = collective_result(a.op) == CollectiveResult::Gathered;
  if (op == 0) {
    const MeshAxes& axes = placed.axes;
    const int64_t bytes = a.elements * dtype_bytes(a.dtype);
    const std::string number = std::to_string(index);
    // If there is only one action of this kind, its name has no number.
    const bool only_one = std::count_if(walk_.actions().begin(), walk_.actions().end(),
                                        [&](const PlacedPlan::PlacedAction& b) {
                                          return b.action.when == a.when && b.action.op == a.op &&
                                                 b.action.group == a.group;
                                        }) == 1;
    if (a.when == SyncWhen::AfterOptimizer)
      op = add_collective("param_gather." + a.group + (only_one ? "" : ".bucket" + number), "", a.op, axes,
                          bytes / a.group_size);
    else if (gathers)
      op = add_collective("parameters.gather", "gather" + number, a.op, axes, bytes / a.group_size);
    else
      op = add_collective("grad_reduce." + a.group + (a.root >= 0 ? ".to" + std::to_string(a.root) : ""),
                          a.when == SyncWhen::AfterBackward && only_one ? "" : "bucket" + number, a.op, axes,
                          bytes);
  }
  if (a.when == SyncWhen::BeforeForward || a.when == SyncWhen::BeforeBackward) builder_.depend(before_);
  if (a.when == SyncWhen::AfterOptimizer) builder_.depend(updated_);
  if (gathers) return builder_.add(op, microbatch, -1, 0);
  if (placed.holders.empty())
    builder_.depend(last_reduction_);  // reduces the shard that the last scatter left
  for (const size_t instance : placed.holders)
    for (const uint32_t node : instances_[instance].gradients) builder_.depend(node);
  last_reduction_ = builder_.add(op, a.occurrence == SyncOccurrence::Every ? microbatch : -1, -1, 0);
  read_gradients(last_reduction_, placed.holders);
  return 0;
}

// Prefix of the names of a root unit's nodes; nodes of layers have the layer's number instead.
std::string SyncLowering::root_name(const SyncUnit& unit) const {
  return unit.segment == graph_.head() ? "head_root" : "root";
}

std::string SyncLowering::unit_suffix(const SyncUnit& unit) const {
  return std::string(unit.group == replica_groups(graph_).front() ? "" : "." + group_name(unit.group.axes)) +
         (unit.frozen ? ".frozen" : "");
}

// bytes: an all-gather's own shard; the whole local buffer of other collectives.
uint32_t SyncLowering::add_collective(const std::string& name, const std::string& place, CollectiveKind op,
                                      const MeshAxes& axes, int64_t bytes) {
  const int role = lowering_.role_of(axes);
  if (role < 0) throw LoweringError(name + ": the group " + group_name(axes) + " has one rank");
  TraceOp made{.name = name,
               .place = place,
               .type = chakra::NodeType::Coll,
               .collective = chakra::collective_type(op),
               .role = role,
               .comm_size = bytes};
  if (pool_ > 0 && op == CollectiveKind::AllGather) made.inputs.push_back(gathered_tensor(pool_));
  return add_op(std::move(made));
}

uint32_t SyncLowering::add_op(TraceOp op) {
  program_.ops.push_back(std::move(op));
  return static_cast<uint32_t>(program_.ops.size() - 1);
}

// place: prefix of the op's name, "" for the whole rank. Returns 0 if there is nothing to reduce.
uint32_t SyncLowering::add_reduction(const GradReduction& r, const std::string& place) {
  const int role = r.pair() ? lowering_.pair_role(r.mirror) : lowering_.role_of(r.axes);
  const std::string group = r.group();
  const int64_t bytes = value(r.bytes, "gradient reduction over " + group + ": bytes");
  if (role < 0 || bytes == 0) return 0;
  TraceOp op{.name = "grad_reduce." + group,
             .place = place,
             .type = chakra::NodeType::Coll,
             .collective = chakra::CollectiveType::AllReduce,
             .role = role,
             .comm_size = bytes};
  return add_op(std::move(op));
}

// An all-reduce of one float32 number. Set its dependencies before the call.
uint32_t SyncLowering::add_number(const std::string& name, const MeshAxes& axes, int microbatch) {
  return builder_.add(add_collective(name, "", CollectiveKind::AllReduce, axes, dtype_bytes(DType::FP32)),
                      microbatch, -1, 0);
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
