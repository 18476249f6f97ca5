#include "cost/sync_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

namespace shardscape {
namespace {

Expr elements_of(const std::vector<StageParam>& params) {
  Expr out;
  for (const StageParam& p : params) out += local_elements(p.segment->tensor(p.param->tensor));
  return out;
}

Expr shard_symbol(StageSync& sync, const std::string& name, const Expr& elements) {
  const Symbol symbol = Symbol::intern(name);
  sync.derived.push_back({symbol, DerivedRule::CeilDiv, elements, sync.replicas});
  return Expr(symbol);
}

SyncUnit make_unit(StageSync& sync, const Graph& graph, const std::vector<StageParam>& params, int segment,
                   const Expr& count, bool ends) {
  SyncUnit unit;
  unit.segment = segment;
  unit.count = count;
  unit.elements = elements_of(params);
  // The root shards into Pr, layers into Pl (one kind) or Pl0, Pl1, ... (several).
  const bool one_kind = graph.segments.size() == 3;
  unit.shard = shard_symbol(sync, segment < 0 ? "Pr" : one_kind ? "Pl" : "Pl" + std::to_string(segment - 1), unit.elements);
  unit.full = unit.shard * sync.replicas;
  for (GradReduction& r : reductions_of(graph, params, ends))
    if (r.embedding_group || r.axes != replica_axes(graph.structure)) unit.inner.push_back(std::move(r));
  return unit;
}

// What parameters that the kernel profile packs into one have in common: the buffer of their products, or of the biased
// products.
std::optional<std::pair<StorageId, OpKind>> packed_output(const Segment& segment, TensorId param) {
  for (const Op& op : segment.ops) {
    if (op.phase != Phase::Forward || (op.kind != OpKind::Einsum && op.kind != OpKind::BiasAdd)) continue;
    if (std::find(op.inputs.begin(), op.inputs.end(), param) == op.inputs.end()) continue;
    return std::pair{segment.tensor(op.outputs.front()).storage, op.kind};
  }
  return std::nullopt;
}

void make_units(StageSync& sync, const Graph& graph, bool first, bool last, bool has_layers) {
  std::vector<StageParam> root;
  const std::vector<StageParam> all = stage_params(graph, first, last, has_layers);
  const auto in = [&](int segment, std::vector<StageParam>& out) {
    for (StageParam p : all) {
      if (p.segment != &graph.segments[static_cast<size_t>(segment)]) continue;
      p.count = Expr(1);
      out.push_back(p);
    }
  };
  std::vector<SyncUnit> layers;
  for (const StageSegment& part : stage_segments(graph, first, last, has_layers)) {
    if (graph.segments[static_cast<size_t>(part.segment)].kind != SegmentKind::Layer) {
      in(part.segment, root);
      continue;
    }
    std::vector<StageParam> params;
    in(part.segment, params);
    layers.push_back(make_unit(sync, graph, params, part.segment, part.count, false));
  }
  Expr largest;
  for (size_t k = 0; k < layers.size(); ++k) {
    const std::string index = layers.size() == 1 ? "" : std::to_string(k);
    const Symbol held = Symbol::intern("Lg" + index);
    sync.derived.push_back({held, DerivedRule::Min, Expr(2), layers[k].count});
    sync.gathered += Expr(held) * layers[k].full;
    if (k > 0) sync.derived.push_back({Symbol::intern("Pm" + index), DerivedRule::Max, largest, layers[k].shard});
    largest = k > 0 ? Expr(Symbol::intern("Pm" + index)) : layers[k].shard;
  }
  sync.unreduced = largest * sync.replicas;
  if (!root.empty()) {
    sync.units.push_back(make_unit(sync, graph, root, -1, Expr(1), first != last));
    sync.gathered += sync.units.front().full;
    sync.unreduced += sync.units.front().full;
  }
  sync.units.insert(sync.units.end(), layers.begin(), layers.end());
}

}  // namespace

MeshAxes replica_axes(const Structure& structure) {
  MeshAxes axes;
  if (structure.dp) axes.push_back(MeshAxis::Dp);
  for (MeshAxis axis : cp_axes(structure)) axes.push_back(axis);
  return axes;
}

StageSync stage_sync(const Graph& graph, bool first, bool last, bool has_layers) {
  StageSync sync;
  sync.strategy = graph.structure.sync;
  sync.replicas = group_size(replica_axes(graph.structure));
  sync.owned = stage_parameters(graph, first, last, has_layers);
  sync.buckets = graph.structure.overlap || sync.strategy == SyncStrategy::DdpBuckets;
  if (sync.buckets) sync.bucket_count = Expr(Symbol::intern("nb"));
  if (sync.strategy == SyncStrategy::DistributedOptimizer)
    sync.owned = sync.buckets ? Expr(Symbol::intern("Pb")) : shard_symbol(sync, "Pd", sync.owned);
  if (sync.strategy == SyncStrategy::Fsdp1) {
    make_units(sync, graph, first, last, has_layers);
    sync.owned = Expr();
    for (const SyncUnit& unit : sync.units) sync.owned += unit.count * unit.shard;
    const Expr m{Symbol::intern("m")}, in_flight{Symbol::intern("nf")};
    sync.root_forward = m - in_flight + Expr(1);
    sync.root_backward = in_flight - Expr(1);
  }
  return sync;
}

SyncInput sync_input(const Graph& graph, const Binding& binding, bool first, bool last, const std::vector<int>& layers,
                     std::vector<size_t>* segments) {
  SyncInput input;
  size_t place = 0;
  const auto number = [&](const Expr& expr) {
    const auto value = evaluate(expr, binding);
    if (const auto* error = std::get_if<EvalError>(&value)) throw std::invalid_argument(error->message);
    return static_cast<int64_t>(std::get<Wide>(value));
  };
  std::vector<std::string> tied;
  const auto add = [&](const Segment& segment, const std::string& unit) {
    std::map<std::pair<StorageId, OpKind>, size_t> packs;
    for (const Param& p : segment.params) {
      if (!p.tied.empty()) {
        if (std::find(tied.begin(), tied.end(), p.tied) != tied.end()) continue;
        tied.push_back(p.tied);
      }
      const Tensor& t = segment.tensor(p.tensor);
      SyncParam out;
      out.name = (unit.empty() ? segment.name : unit) + "." + t.name;
      out.module = out.name.substr(0, out.name.rfind('.'));
      out.unit = unit;
      for (int d = 0; d < static_cast<int>(t.axes.size()); ++d) out.shape.push_back(number(local_size(t, d)));
      if (const auto pack = packed_output(segment, p.tensor)) {
        const auto [at, fresh] = packs.try_emplace(*pack, input.params.size());
        if (!fresh) {  // one tensor of the code base: linear_qkv, gate and up
          SyncParam& whole = input.params[at->second];
          whole.shape = {whole.elements() + out.elements(), 1};
          continue;
        }
      }
      input.params.push_back(std::move(out));
      if (segments) segments->push_back(place);
    }
    ++place;
  };
  if (first) add(graph.segments.front(), "");
  for (size_t i = 0; i < layers.size(); ++i)
    add(graph.segments[static_cast<size_t>(1 + layers[i])], "layers." + std::to_string(i));
  if (last) add(graph.segments[static_cast<size_t>(graph.head())], "");
  const MeshAxes axes = replica_axes(graph.structure);
  if (!axes.empty()) input.groups = {{group_name(axes), number(group_size(axes))}};
  return input;
}

SyncPolicy sync_policy(const Structure& structure, int64_t microbatches) {
  SyncPolicy policy;
  policy.strategy = structure.sync;
  policy.param_dtype = structure.dtype;
  policy.grad_dtype = structure.grad_dtype;
  policy.microbatches = microbatches;
  policy.overlap = structure.overlap;
  // The one buffer is padded to the group's size as in Megatron-LM; Megatron-core, which has the buckets, aligns more, but
  // that changes nothing for sizes that are multiples of 128.
  if (!structure.overlap) policy.param_alignment = policy.bucket_alignment = 1;
  return policy;
}

void bind_sync(Binding& binding, const Graph& graph, bool first, bool last, const std::vector<int>& layers) {
  if (!stage_sync(graph, first, last, !layers.empty()).buckets) return;
  const SyncInput input = sync_input(graph, binding, first, last, layers);
  const auto plan = plan_sync(input, sync_policy(graph.structure, 1));
  if (const auto* problem = std::get_if<Problem>(&plan)) throw std::invalid_argument(to_string(*problem));
  int64_t buckets = 0, elements = 0;
  for (const SyncAction& a : std::get<SyncPlan>(plan).actions) {
    if (a.op == SyncOp::AllGather) continue;
    ++buckets;
    elements += a.elements;
  }
  binding.set(Symbol::intern("nb"), buckets);
  binding.set(Symbol::intern("Pb"), elements / input.groups.front().size);
}

}  // namespace shardscape
