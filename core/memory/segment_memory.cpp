#include "memory/segment_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "grad_sync/sync_params.h"
#include "grad_sync/sync_plan.h"
#include "graph/op_spec.h"
#include "memory/segment_walk.h"

namespace shardscape {
namespace {

constexpr int64_t kBlock = 512;
// A ring holds two blocks: the current block and the block that is received.
constexpr int64_t kRingBlocks = 2;
constexpr int kUnknown = -2;

// Workspace of a kernel in bytes, from the dimensions of its forward op.
Expr workspace_of(const Structure& structure, const Segment& segment, const Op& forward,
                  const std::vector<KernelStat>& stats) {
  if (stats.empty()) return {};
  const auto spec = parse_op_spec(forward.spec);
  if (!spec) return {};
  std::map<char, Expr> letters;
  const auto take = [&](const std::string& of, TensorId id) {
    for (size_t d = 0; d < of.size(); ++d)
      letters.emplace(of[d], local_size(segment.tensor(id), static_cast<int>(d)));
  };
  for (size_t i = 0; i < spec->in.size(); ++i) take(spec->in[i], forward.inputs[i]);
  take(spec->out, forward.outputs[0]);
  Expr out;
  for (const KernelStat& stat : stats) {
    if (!applies(structure, stat)) continue;
    if (stat.when.starts_with("sharded:")) {
      const size_t at = spec->in[0].find(stat.when.back());
      if (at == std::string::npos || segment.tensor(forward.inputs[0]).placement.shards[at].empty()) continue;
    }
    std::string over = stat.over;
    if (over == "result") over = spec->out;
    if (over.starts_with("operand ")) over = spec->in.at(static_cast<size_t>(over.back() - '0'));
    Expr bytes = Expr(stat.copies) * dtype_size(stat.dtype);
    for (char letter : over) bytes = bytes * letters.at(letter);
    out += bytes;
  }
  return out;
}

}  // namespace

int64_t total(const CategoryBytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

CategoryBytes operator+(CategoryBytes a, const CategoryBytes& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

CategoryBytes operator-(CategoryBytes a, const CategoryBytes& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

int64_t allocated_bytes(int64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

SegmentLifetimes::SegmentLifetimes(const Graph& graph, const KernelProfile& profile)
    : graph_(graph), profile_(profile) {
  std::vector<Expr> sizes;
  for (const Segment& s : graph.segments) {
    std::vector<Expr> storages;
    for (const Storage& storage : s.storages) storages.push_back(storage.bytes);
    for (const Op& op : s.ops) {
      if (op.kind == OpKind::RingPass)
        storages[static_cast<size_t>(s.tensor(op.outputs[0]).storage)] = Expr(kRingBlocks) *
                                                                         local_bytes(s.tensor(op.inputs[0]));
      if (op.kind == OpKind::RingSum)
        storages[static_cast<size_t>(s.tensor(op.inputs[0]).storage)] = Expr(kRingBlocks) *
                                                                        local_bytes(s.tensor(op.outputs[0]));
    }
    sizes.insert(sizes.end(), storages.begin(), storages.end());
    for (OpId id = 0; id < static_cast<OpId>(s.ops.size()); ++id) {
      const Op& op = s.op(id);
      const KernelRule* rule = is_redistribution(op.kind) ? nullptr
                                                          : profile.rule(std::string(template_name(op.kind)));
      const bool backward = op.grad != GradRole::None;
      sizes.push_back(rule ? workspace_of(graph.structure, s, s.op(forward_of(s, id)),
                                          backward ? rule->backward_workspace : rule->forward_workspace)
                           : Expr());
    }
    for (const Param& p : s.params)
      sizes.push_back(local_elements(s.tensor(p.tensor)) * dtype_size(s.tensor(p.tensor).dtype));
    segments_.push_back(analyse(s));
  }
  program_ = ExprProgram::compile(sizes);
  std::set<Symbol> symbols(program_.symbols().begin(), program_.symbols().end());
  for (const Segment& s : graph.segments)
    for (const FlatParam& p : flat_params(s))
      for (const Expr& size : {p.rows, p.columns, local_size(s.tensor(p.param->tensor), 0)})
        for (const Symbol symbol : size.symbols()) symbols.insert(symbol);
  symbols_.assign(symbols.begin(), symbols.end());
}

SegmentSizes SegmentLifetimes::sizes(const Binding& binding) const {
  std::vector<EvalFault> faults;
  const std::vector<Wide> values = program_.evaluate(binding, &faults);
  for (EvalFault fault : faults)
    if (fault != EvalFault::None)
      throw std::invalid_argument(std::string("a size of the graph: ") + to_string(fault));
  SegmentSizes out;
  size_t at = 0;
  const auto next = [&](size_t count) {
    std::vector<int64_t> part(count);
    for (int64_t& bytes : part) bytes = allocated_bytes(static_cast<int64_t>(values[at++]));
    return part;
  };
  for (const Segment& s : graph_.segments) {
    out.storages.push_back(next(s.storages.size()));
    out.workspaces.push_back(next(s.ops.size()));
    out.gradients.push_back(next(s.params.size()));
  }
  return out;
}

// Storages that only ops of one fused chain write and read have no memory.
void SegmentLifetimes::absorb_on_chip(const Segment& s, PerSegment& out) {
  std::vector<int> kernel(s.storages.size(), kUnknown);
  std::vector<bool> read(s.storages.size(), false);  // a replay also makes tensors that no op reads
  const auto touch = [&](TensorId tensor, int by) {
    int& known = kernel[static_cast<size_t>(s.tensor(tensor).storage)];
    known = known == kUnknown || known == by ? by : -1;
  };
  for (size_t id = 0; id < s.ops.size(); ++id) {
    const Kernel* of = s.kernel(static_cast<OpId>(id));
    const bool chain = of && of->ops.size() > 1 && !is_gradient_sum(s.op(of->ops.back()));
    const int by = chain ? s.kernel_of[id] : -1;
    for (const TensorId tensor : s.ops[id].inputs) {
      touch(tensor, by);
      read[static_cast<size_t>(s.tensor(tensor).storage)] = true;
    }
    for (const TensorId tensor : s.ops[id].outputs) touch(tensor, by);
  }
  for (const TensorId tensor : {s.input, s.output, s.input_grad, s.output_grad})
    if (tensor >= 0) touch(tensor, -1);
  for (const Carried& carried : s.carried)
    for (const TensorId tensor : {carried.in, carried.out, carried.in_grad, carried.out_grad})
      if (tensor >= 0) touch(tensor, -1);
  for (size_t storage = 0; storage < kernel.size(); ++storage)
    if (kernel[storage] >= 0 && read[storage]) out.absorbed[storage] = true;
}

SegmentLifetimes::PerSegment SegmentLifetimes::analyse(const Segment& s) const {
  PerSegment out;
  out.root.resize(s.storages.size());
  std::iota(out.root.begin(), out.root.end(), 0);
  out.merged.assign(s.storages.size(), -1);
  out.absorbed.assign(s.storages.size(), false);
  out.fixed.assign(s.storages.size(), false);
  out.category.assign(s.storages.size(), MemoryCategory::Buffers);
  const auto at = [](StorageId id) { return static_cast<size_t>(id); };
  const auto root = [&](StorageId id) {
    while (out.root[at(id)] != id) id = out.root[at(id)];
    return id;
  };
  for (const Tensor& t : s.tensors) {
    const bool parameter = t.role == TensorRole::Parameter || t.role == TensorRole::ParameterGradient ||
                           t.role == TensorRole::Cache;
    if (parameter) out.fixed[at(t.storage)] = true;
    const bool loss = t.producer >= 0 && is_loss(s.op(t.producer).kind);
    if (!parameter && (loss || std::find(t.axes.begin(), t.axes.end(), Axis::Vocab) != t.axes.end()))
      out.category[at(t.storage)] = MemoryCategory::Logits;
  }
  // Carried tensors of earlier layers are in the memory of these layers. Their gradients live from the last
  // layer that reads them to the layer that makes them (StageProfiles).
  std::set<StorageId> sums;
  if (graph_.structure.trains())
    for (const Carried& carried : s.carried) {
      if (carried.in >= 0 && !carried.held) out.fixed[at(s.tensor(carried.in).storage)] = true;
      if (carried.out_grad < 0) continue;
      sums.insert(s.tensor(carried.out_grad).storage);
      if (carried.in_grad >= 0) sums.insert(s.tensor(carried.in_grad).storage);
    }
  for (const StorageId sum : sums) out.fixed[at(sum)] = true;
  absorb_on_chip(s, out);
  std::vector<OpId> last_read(s.storages.size(), -1);
  for (size_t i = 0; i < s.ops.size(); ++i)
    for (TensorId id : s.ops[i].inputs) last_read[at(s.tensor(id).storage)] = static_cast<OpId>(i);
  for (size_t i = static_cast<size_t>(s.backward_begin); i < s.ops.size(); ++i) {
    const Op& op = s.ops[i];
    if (op.grad != GradRole::None && op.forward >= 0) {
      const KernelRule* rule = profile_.rule(std::string(template_name(op.kind)));
      const StorageId gradient = s.tensor(op.outputs[0]).storage;
      if (rule && rule->gradient == KernelRule::Gradient::Shared) out.absorbed[at(gradient)] = true;
      if (rule && rule->gradient == KernelRule::Gradient::OverInput)
        out.root[at(gradient)] = root(s.tensor(s.op(op.forward).inputs[0]).storage);
    }
    if (!is_gradient_sum(op)) continue;
    // The other summands are added to the first summand with memory of its own, unless a later op reads them.
    StorageId first = -1;
    for (TensorId id : op.inputs)
      if (const StorageId storage = s.tensor(id).storage; first < 0 && !out.absorbed[at(storage)])
        first = storage;
    if (first < 0) continue;
    const OpId first_maker = s.tensor(op.inputs[0]).producer;
    for (TensorId id : op.inputs) {
      const StorageId storage = s.tensor(id).storage;
      const OpId maker = s.tensor(id).producer;
      if (storage == first || maker < s.backward_begin || out.fixed[at(storage)] ||
          last_read[at(storage)] != static_cast<OpId>(i))
        continue;
      // One kernel sums the input gradients of packed GEMMs (for example QKV) on chip.
      if (maker >= 0 && first_maker >= 0 && s.kernel(maker) && s.kernel(maker) == s.kernel(first_maker))
        out.absorbed[at(storage)] = true;
      else if (!profile_.adds_gradients_at_once)
        out.merged[at(storage)] = maker;
    }
    if (last_read[at(first)] == static_cast<OpId>(i))
      out.root[at(s.tensor(op.outputs[0]).storage)] = root(first);
  }
  for (StorageId id = 0; id < static_cast<StorageId>(out.root.size()); ++id) {
    out.root[at(id)] = root(id);
    if (sums.contains(out.root[at(id)])) out.fixed[at(id)] = true;
  }
  return out;
}

SegmentEvents SegmentLifetimes::events(int segment, CheckpointPolicy checkpoint_policy,
                                       const SegmentSizes& sizes, Part part) const {
  SegmentEvents out;
  Walk(*this, segment, checkpoint_policy, sizes, part, {.events = &out}).run();
  return out;
}

std::set<StorageId> SegmentLifetimes::saved_storages(int segment, CheckpointPolicy checkpoint_policy) const {
  std::set<StorageId> out;
  for (const SavedStorage& saved : saved_by(graph_.segments[static_cast<size_t>(segment)], checkpoint_policy))
    out.insert(segments_[static_cast<size_t>(segment)].root[static_cast<size_t>(saved.storage)]);
  return out;
}

bool SegmentLifetimes::saves_input(int segment, CheckpointPolicy checkpoint_policy) const {
  const Segment& s = graph_.segments[static_cast<size_t>(segment)];
  return s.input >= 0 && saved_storages(segment, checkpoint_policy)
                             .contains(segments_[static_cast<size_t>(segment)]
                                           .root[static_cast<size_t>(s.tensor(s.input).storage)]);
}

SegmentMemory SegmentLifetimes::memory(int segment, CheckpointPolicy checkpoint_policy,
                                       const SegmentSizes& sizes, LiveBlocks* live) const {
  const Segment& s = graph_.segments[static_cast<size_t>(segment)];
  SegmentMemory out;
  const auto walked = [&](Part part) {
    std::vector<int64_t>* blocks = live ? &(*live)[static_cast<size_t>(part)] : nullptr;
    return Walk(*this, segment, checkpoint_policy, sizes, part, {.blocks = blocks}).run();
  };
  out.forward = walked(Part::Forward);
  out.backward = walked(Part::Backward);
  if (graph_.structure.split_backward) out.input_backward = walked(Part::InputBackward);
  if (!sizes.new_gradients.empty()) out.first_backward = walked(Part::FirstBackward);
  if (s.replay_end > s.backward_begin && checkpoint_policy != CheckpointPolicy::Activations) {
    out.replay = walked(Part::Replay);
    out.replay_in_group = walked(Part::ReplayInGroup);
  }
  if (s.output_grad >= 0) {
    const auto storage = static_cast<size_t>(s.tensor(s.output_grad).storage);
    const auto& per = segments_[static_cast<size_t>(segment)];
    out.output_grad[static_cast<size_t>(per.category[storage])] = sizes.storages[static_cast<size_t>(segment)]
                                                                                [storage];
  }
  out.saved = out.forward.end;
  out.saves_input = saves_input(segment, checkpoint_policy);
  if (s.kind != SegmentKind::Head && s.output >= 0) {
    // The next instance owns the result. `saved` includes the result only if this segment saves it too.
    const auto& per = segments_[static_cast<size_t>(segment)];
    const StorageId result = per.root[static_cast<size_t>(s.tensor(s.output).storage)];
    out.saves_output = saved_storages(segment, checkpoint_policy).contains(result);
    if (!out.saves_output)
      out.saved[static_cast<size_t>(per.category[static_cast<size_t>(
          result)])] -= sizes.storages[static_cast<size_t>(segment)][static_cast<size_t>(result)];
  }
  return out;
}

MemoryCategory SegmentLifetimes::saved_category(int segment, StorageId saved) const {
  const PerSegment& of = segments_[static_cast<size_t>(segment)];
  const MemoryCategory category = of.category[static_cast<size_t>(of.root[static_cast<size_t>(saved)])];
  return category == MemoryCategory::Buffers ? MemoryCategory::Activations : category;
}

std::vector<LiveStorage> SegmentLifetimes::live(int segment, CheckpointPolicy checkpoint_policy,
                                                const SegmentSizes& sizes, Part part) const {
  std::vector<LiveStorage> out;
  Walk(*this, segment, checkpoint_policy, sizes, part, {.at_peak = &out}).run();
  std::stable_sort(out.begin(), out.end(),
                   [](const LiveStorage& a, const LiveStorage& b) { return a.bytes > b.bytes; });
  return out;
}

}  // namespace shardscape
