#include "memory/segment_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "grad_sync/sync_params.h"
#include "grad_sync/sync_plan.h"
#include "graph/kernel_label.h"
#include "graph/op_spec.h"

namespace shardscape {
namespace {

constexpr int64_t kBlock = 512;
// A ring holds two blocks: the current block and the block that arrives.
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
    for (const Op& op : s.ops) {
      const KernelRule* rule = is_redistribution(op.kind) ? nullptr
                                                          : profile.rule(std::string(template_name(op.kind)));
      const bool backward = op.grad != GradRole::None;
      const Op& forward = backward && op.forward >= 0 ? s.op(op.forward) : op;
      sizes.push_back(rule ? workspace_of(graph.structure, s, forward,
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
  const auto touch = [&](TensorId tensor, int by) {
    int& known = kernel[static_cast<size_t>(s.tensor(tensor).storage)];
    known = known == kUnknown || known == by ? by : -1;
  };
  for (size_t id = 0; id < s.ops.size(); ++id) {
    const Kernel* of = s.kernel(static_cast<OpId>(id));
    const bool chain = of && of->ops.size() > 1 && !is_gradient_sum(s.op(of->ops.back()));
    const int by = chain ? s.kernel_of[id] : -1;
    for (const TensorId tensor : s.ops[id].inputs) touch(tensor, by);
    for (const TensorId tensor : s.ops[id].outputs) touch(tensor, by);
  }
  for (const TensorId tensor : {s.input, s.output, s.input_grad, s.output_grad})
    if (tensor >= 0) touch(tensor, -1);
  for (size_t storage = 0; storage < kernel.size(); ++storage)
    if (kernel[storage] >= 0) out.absorbed[storage] = true;
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
    // The first summand with memory of its own takes in the other summands, unless another op reads them
    // later.
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
      if (maker >= 0 && first_maker >= 0 && s.kernel(maker) == s.kernel(first_maker))
        out.absorbed[at(storage)] = true;
      else if (!profile_.adds_gradients_at_once)
        out.merged[at(storage)] = maker;
    }
    if (last_read[at(first)] == static_cast<OpId>(i))
      out.root[at(s.tensor(op.outputs[0]).storage)] = root(first);
  }
  for (StorageId id = 0; id < static_cast<StorageId>(out.root.size()); ++id) out.root[at(id)] = root(id);
  return out;
}

// The storages that are allocated while the ops of a part run.
struct SegmentLifetimes::Walk {
  const Segment& s;
  const PerSegment& of;
  const std::vector<int64_t>& bytes;
  std::vector<MemoryCategory> category;
  std::vector<bool> alive;
  CategoryBytes now{};
  SegmentEvents* events = nullptr;

  Walk(const Segment& segment, const PerSegment& per, const std::vector<int64_t>& sizes)
      : s(segment), of(per), bytes(sizes), category(per.category), alive(per.root.size(), false) {}
  StorageId memory(TensorId tensor) const {
    const StorageId storage = s.tensor(tensor).storage;
    return of.absorbed[static_cast<size_t>(storage)] || of.fixed[static_cast<size_t>(storage)]
               ? -1
               : of.root[static_cast<size_t>(storage)];
  }
  void allocate(StorageId id) {
    const auto i = static_cast<size_t>(id);
    if (id < 0 || alive[i]) return;
    alive[i] = true;
    now[static_cast<size_t>(category[i])] += bytes[i];
    record(id, bytes[i]);
  }
  void free(StorageId id) {
    const auto i = static_cast<size_t>(id);
    if (id < 0 || !alive[i]) return;
    alive[i] = false;
    now[static_cast<size_t>(category[i])] -= bytes[i];
    record(id, -bytes[i]);
  }
  void record(StorageId id, int64_t change) {
    if (events && change != 0) events->events.push_back({id, change});
  }
};

SegmentPart SegmentLifetimes::walk(int index, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                                   Part part, std::vector<LiveStorage>* at_peak, std::vector<int64_t>* blocks,
                                   SegmentEvents* events) const {
  const auto which = static_cast<size_t>(index);
  const Segment& s = graph_.segments[which];
  const PerSegment& of = segments_[which];
  Walk w(s, of, sizes.storages[which]);
  w.events = events;
  const auto held = [&](StorageId id) { return of.root[static_cast<size_t>(id)]; };
  const auto activation = [&](StorageId id) {
    auto& category = w.category[static_cast<size_t>(id)];
    if (category == MemoryCategory::Buffers) category = MemoryCategory::Activations;
  };
  // The ops that run in this part. Where nothing was replayed, a recomputed tensor means the forward tensor
  // that it repeats.
  const bool forward = part == Part::Forward, comes = part == Part::FirstBackward,
             of_input = part == Part::InputBackward, backward = part == Part::Backward || comes || of_input;
  const OpId first = forward ? 0 : backward ? s.replay_end : s.backward_begin;
  const OpId last = forward ? s.backward_begin : backward ? static_cast<OpId>(s.ops.size()) : s.replay_end;
  const auto runs_here = [&](OpId id) {
    return runs(s.op(id), checkpoint_policy) && !(of_input && s.op(id).deferrable);
  };
  const auto reads = [&](TensorId id) {
    const OpId maker = s.tensor(id).producer;
    return w.memory(maker >= 0 && !runs_here(maker) ? forward_original(s, id) : id);
  };

  const std::set<StorageId> kept = this->kept(index, checkpoint_policy);
  std::set<StorageId> stays;
  for (StorageId id : kept) activation(id);
  const StorageId input = s.input >= 0 ? held(s.tensor(s.input).storage) : -1;
  if (forward) {
    stays = kept;
    if (s.kind != SegmentKind::Head && s.output >= 0) stays.insert(w.memory(s.output));
    w.allocate(input);
  } else {
    for (StorageId id : kept) w.allocate(id);
    if (checkpoint_policy != CheckpointPolicy::Activations && s.replay_end > s.backward_begin) {
      if (checkpoint_policy == CheckpointPolicy::Nothing) w.allocate(input);
      // Tensors that the replay leaves for the backward.
      for (OpId id = s.replay_end; id < static_cast<OpId>(s.ops.size()); ++id)
        for (TensorId in : s.op(id).inputs) {
          const StorageId storage = w.memory(in);
          const OpId maker = s.tensor(in).producer;
          if (storage < 0 || maker < s.backward_begin || maker >= s.replay_end || !runs_here(maker)) continue;
          activation(storage);
          if (backward)
            w.allocate(storage);
          else
            stays.insert(storage);
        }
    }
    if (backward && s.output_grad >= 0) w.allocate(w.memory(s.output_grad));
    if (!backward) {
      stays.insert(kept.begin(), kept.end());
      if (input >= 0) stays.insert(input);
      if (part == Part::ReplayInGroup)
        for (const Tensor& t : s.tensors)
          if (t.repeat_of == s.output && w.memory(static_cast<TensorId>(&t - s.tensors.data())) >= 0)
            stays.insert(w.memory(static_cast<TensorId>(&t - s.tensors.data())));
    } else if (s.input_grad >= 0) {
      stays.insert(w.memory(s.input_grad));
    }
    if (of_input)
      for (const SavedStorage& waits : deferred_in(s, checkpoint_policy)) stays.insert(held(waits.storage));
  }

  std::map<StorageId, OpId> last_use;
  for (OpId id = first; id < last; ++id) {
    if (!runs_here(id)) continue;
    for (TensorId in : s.op(id).inputs) last_use[reads(in)] = id;
    for (TensorId out : s.op(id).outputs) last_use.try_emplace(w.memory(out), id);
  }
  for (auto& [storage, id] : last_use)
    if (storage >= 0 && of.merged[static_cast<size_t>(storage)] >= first)
      id = std::min(id, of.merged[static_cast<size_t>(storage)]);

  // Whether a gradient has been added to another one before op `by`, which freed its memory.
  const auto gone = [&](StorageId id, OpId by) {
    const OpId merged = id >= 0 ? of.merged[static_cast<size_t>(id)] : -1;
    return merged >= first && merged < by;
  };

  // Tensors and workspaces that Python variables of the block's code hold longer.
  std::map<OpId, int64_t> workspaces_until;
  std::map<OpId, std::vector<StorageId>> held_storages;
  const auto held_until = [&](OpId id) {
    const Op& op = s.op(id);
    const KernelRule* rule = op.grad != GradRole::None || is_redistribution(op.kind)
                                 ? nullptr
                                 : profile_.rule(std::string(template_name(op.kind)));
    if (!rule || rule->held_until.empty()) return OpId{-1};
    for (OpId until = id + 1; until < last; ++until)
      if (s.op(until).block == op.block && s.op(until).phase == op.phase &&
          template_name(s.op(until).kind) == rule->held_until)
        return until;
    return OpId{-1};
  };
  for (OpId id = first; id < last; ++id)
    if (const OpId until = runs_here(id) ? held_until(id) : -1; until >= 0)
      for (TensorId made : s.op(id).outputs) {
        OpId& use = last_use[w.memory(made)];
        use = std::max(use, until);
        held_storages[use].push_back(w.memory(made));
      }

  SegmentPart out;
  out.begin = out.peak = w.now;
  const auto note = [&](OpId id, int64_t temporary, const char* temporary_name) {
    CategoryBytes here = w.now;
    here[static_cast<size_t>(MemoryCategory::Buffers)] += temporary;
    if (total(here) < total(out.peak) || (id >= 0 && total(here) == total(out.peak))) return;
    out.peak = here;
    out.peak_op = id;
    if (events) events->peak = events->events.size();
    if (blocks) {
      blocks->assign(temporary > 0 ? 1 : 0, temporary);
      for (size_t i = 0; i < w.alive.size(); ++i)
        if (w.alive[i]) blocks->push_back(w.bytes[i]);
    }
    if (!at_peak) return;
    at_peak->clear();
    for (size_t i = 0; i < w.alive.size(); ++i)
      if (w.alive[i]) at_peak->push_back({s.storages[i].name, w.category[i], w.bytes[i]});
    if (temporary > 0)
      at_peak->push_back({kernel_label(s, id) + temporary_name, MemoryCategory::Buffers, temporary});
  };
  note(-1, 0, "");
  if (events) events->begin = events->events.size();
  StorageId temporaries = 0;
  std::map<OpId, std::vector<MemoryEvent>> temporaries_until;
  const bool units = is_fsdp(graph_.structure.sync);  // FSDP adds to gradients in place
  std::vector<bool> came(s.params.size(), false);
  const auto makes_gradient = [&](const Op& op, size_t p) {
    return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId t) {
      return s.tensor(t).role == TensorRole::ParameterGradient &&
             s.tensor(t).gradient_of == s.params[p].tensor;
    });
  };
  for (OpId id = first; id < last; ++id) {
    if (!runs_here(id)) continue;
    const Op& op = s.op(id);
    for (TensorId in : op.inputs)
      if (!gone(reads(in), id)) w.allocate(reads(in));
    for (TensorId produced : op.outputs) w.allocate(w.memory(produced));
    int64_t temporary = 0;
    std::vector<MemoryEvent> pieces;
    const auto add = [&](int64_t bytes) {
      temporary += bytes;
      if (!events || bytes == 0) return;
      pieces.push_back({--temporaries, bytes});
      w.record(temporaries, bytes);
    };
    add(sizes.workspaces[which][static_cast<size_t>(id)]);
    const char* name = ", workspace";
    if (comes) {
      for (size_t p = 0; p < s.params.size(); ++p) {
        const int64_t bytes = sizes.coming[which][p];
        if (bytes == 0 || came[p] || !makes_gradient(op, p)) continue;
        came[p] = true;
        w.now[static_cast<size_t>(MemoryCategory::Gradients)] += bytes;
        w.record(SegmentEvents::gradient(p), bytes);
      }
    } else if (!units) {
      for (size_t p = 0; p < s.params.size(); ++p) {
        if (!makes_gradient(op, p)) continue;
        const bool product = op.kind == OpKind::Einsum;
        if (product && (profile_.weight_gradient == WeightGradient::None ||
                        profile_.weight_gradient == WeightGradient::SharedDummy))
          continue;
        add(sizes.gradients[which][p]);
        name = "";
      }
    }
    note(id, temporary, name);
    const OpId until = temporary > 0 ? held_until(id) : -1;
    if (until >= 0) {
      workspaces_until[until] += temporary;
      w.now[static_cast<size_t>(MemoryCategory::Buffers)] += temporary;
    }
    w.now[static_cast<size_t>(MemoryCategory::Buffers)] -= workspaces_until[id];
    if (events) {
      std::vector<MemoryEvent>& gone = temporaries_until[std::max(until, id)];
      gone.insert(gone.end(), pieces.begin(), pieces.end());
      for (const MemoryEvent& piece : temporaries_until[id]) w.record(piece.storage, -piece.bytes);
    }
    const auto release = [&](StorageId storage) {
      if (storage >= 0 && !stays.contains(storage) && last_use.at(storage) == id) w.free(storage);
    };
    for (TensorId in : op.inputs) release(reads(in));
    for (TensorId produced : op.outputs) release(w.memory(produced));
    for (StorageId storage : held_storages[id]) release(storage);
  }
  if (backward)  // tensors that no op read
    for (size_t i = 0; i < w.alive.size(); ++i)
      if (w.alive[i] && !stays.contains(static_cast<StorageId>(i))) w.free(static_cast<StorageId>(i));
  out.end = w.now;
  if (events) {
    const auto memory = [&](TensorId tensor) { return tensor >= 0 ? w.memory(tensor) : -1; };
    events->takes = backward ? memory(s.output_grad) : input;
    if (forward && s.kind != SegmentKind::Head) events->gives = memory(s.output);
    if (backward) events->gives = memory(s.input_grad);
    if (part == Part::ReplayInGroup)
      for (const Tensor& t : s.tensors)
        if (t.repeat_of == s.output) events->gives = memory(static_cast<TensorId>(&t - s.tensors.data()));
  }
  return out;
}

SegmentEvents SegmentLifetimes::events(int segment, CheckpointPolicy checkpoint_policy,
                                       const SegmentSizes& sizes, Part part) const {
  SegmentEvents out;
  walk(segment, checkpoint_policy, sizes, part, nullptr, nullptr, &out);
  return out;
}

std::set<StorageId> SegmentLifetimes::kept(int segment, CheckpointPolicy checkpoint_policy) const {
  std::set<StorageId> out;
  for (const SavedStorage& saved : saved_by(graph_.segments[static_cast<size_t>(segment)], checkpoint_policy))
    out.insert(segments_[static_cast<size_t>(segment)].root[static_cast<size_t>(saved.storage)]);
  return out;
}

bool SegmentLifetimes::saves_input(int segment, CheckpointPolicy checkpoint_policy) const {
  const Segment& s = graph_.segments[static_cast<size_t>(segment)];
  return s.input >= 0 && kept(segment, checkpoint_policy)
                             .contains(segments_[static_cast<size_t>(segment)]
                                           .root[static_cast<size_t>(s.tensor(s.input).storage)]);
}

SegmentMemory SegmentLifetimes::memory(int segment, CheckpointPolicy checkpoint_policy,
                                       const SegmentSizes& sizes, LiveBlocks* live) const {
  const Segment& s = graph_.segments[static_cast<size_t>(segment)];
  SegmentMemory out;
  const auto walked = [&](Part part) {
    return walk(segment, checkpoint_policy, sizes, part, nullptr,
                live ? &(*live)[static_cast<size_t>(part)] : nullptr);
  };
  out.forward = walked(Part::Forward);
  out.backward = walked(Part::Backward);
  if (graph_.structure.split_backward) out.input_backward = walked(Part::InputBackward);
  if (!sizes.coming.empty()) out.first_backward = walked(Part::FirstBackward);
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
  out.kept = out.forward.end;
  if (s.kind != SegmentKind::Head && s.output >= 0) {
    // The next instance owns the result. `kept` includes the result only if this segment saves it too.
    const auto& per = segments_[static_cast<size_t>(segment)];
    const StorageId result = per.root[static_cast<size_t>(s.tensor(s.output).storage)];
    const auto saved = saved_by(s, checkpoint_policy);
    const bool keeps_result = std::any_of(saved.begin(), saved.end(), [&](const SavedStorage& k) {
      return per.root[static_cast<size_t>(k.storage)] == result;
    });
    if (!keeps_result)
      out.kept[static_cast<size_t>(per.category[static_cast<size_t>(
          result)])] -= sizes.storages[static_cast<size_t>(segment)][static_cast<size_t>(result)];
  }
  return out;
}

MemoryCategory SegmentLifetimes::saved_category(int segment, StorageId kept) const {
  const PerSegment& of = segments_[static_cast<size_t>(segment)];
  const MemoryCategory category = of.category[static_cast<size_t>(of.root[static_cast<size_t>(kept)])];
  return category == MemoryCategory::Buffers ? MemoryCategory::Activations : category;
}

std::vector<LiveStorage> SegmentLifetimes::live(int segment, CheckpointPolicy checkpoint_policy,
                                                const SegmentSizes& sizes, Part part) const {
  std::vector<LiveStorage> out;
  walk(segment, checkpoint_policy, sizes, part, &out, nullptr);
  std::stable_sort(out.begin(), out.end(),
                   [](const LiveStorage& a, const LiveStorage& b) { return a.bytes > b.bytes; });
  return out;
}

}  // namespace shardscape
