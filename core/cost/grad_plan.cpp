#include "cost/grad_plan.h"

#include <algorithm>
#include <map>

#include "cost/sync_model.h"

namespace shardscape {

std::vector<StageSegment> stage_segments(const Graph& graph, bool first, bool last, bool has_layers) {
  std::vector<StageSegment> out;
  if (first) out.push_back({0, Expr(1)});
  if (has_layers)
    for (int kind = 0; kind + 2 < static_cast<int>(graph.segments.size()); ++kind)
      out.push_back({kind + 1, Expr(stage_layers_symbol(graph, kind))});
  if (last) out.push_back({graph.head(), Expr(1)});
  return out;
}

std::vector<StageParam> stage_params(const Graph& graph, bool first, bool last, bool has_layers) {
  std::vector<StageParam> out;
  for (const StageSegment& part : stage_segments(graph, first, last, has_layers)) {
    const Segment& segment = graph.segments[static_cast<size_t>(part.segment)];
    for (const Param& param : segment.params) {
      const bool here = !param.tied.empty() && std::any_of(out.begin(), out.end(), [&](const StageParam& other) {
        return other.param->tied == param.tied;
      });
      if (!here) out.push_back({&segment, &param, part.count});
    }
  }
  return out;
}

Expr stage_parameters(const Graph& graph, bool first, bool last, bool has_layers) {
  Expr out;
  for (const StageParam& p : stage_params(graph, first, last, has_layers))
    out += p.count * local_elements(p.segment->tensor(p.param->tensor));
  return out;
}

std::vector<GradReduction> reductions_of(const Graph& graph, const std::vector<StageParam>& params, bool ends) {
  std::map<std::pair<int, MeshAxes>, Expr> elements;  // order: dp, then groups inside tp
  Expr tied;
  for (const StageParam& p : params) {
    const Tensor& grad = p.segment->tensor(p.param->gradient);
    const Expr size = p.count * local_elements(grad);
    MeshAxes inner, outer;
    for (MeshAxis axis : grad.placement.partial)
      (axis == MeshAxis::Dp || is_cp_axis(axis) ? outer : inner).push_back(axis);
    if (!outer.empty()) elements[{0, outer}] += size;
    if (!inner.empty()) elements[{inner == MeshAxes{MeshAxis::TpRep} ? 2 : 1, inner}] += size;
    if (!p.param->tied.empty() && ends) tied += size;
  }
  const DType type = graph.structure.grad_dtype;
  const Expr bytes(dtype_bytes(type));
  std::vector<GradReduction> out;
  for (const auto& [key, size] : elements) {
    const char* why = key.first == 0   ? "Replicas saw different samples: every gradient is Partial on dp, in one flat buffer."
                      : key.first == 1 ? "Parameters that are Replicate on tp beside sequence shards have gradients that are Partial on tp."
                                       : "Ranks that share a KV head each hold a summand of its projection's gradient.";
    out.push_back({key.second, false, size, size * bytes, type, why, false});
  }
  if (!tied.is_zero())
    out.push_back({{}, true, tied, tied * bytes, type, "The embedding and the head share one table, which lives on the first and the last stage.", false});
  return out;
}

std::vector<GradReduction> plan_grad_reduce(const Graph& graph, bool first, bool last, bool has_layers) {
  const SyncStrategy sync = graph.structure.sync;
  if (sync == SyncStrategy::Fsdp1) return {};
  std::vector<GradReduction> out = reductions_of(graph, stage_params(graph, first, last, has_layers), first != last);
  const StageSync stage = stage_sync(graph, first, last, has_layers);
  const auto over_replicas = [&](const GradReduction& r) { return !r.embedding_group && r.axes == replica_axes(graph.structure); };
  if (stage.buckets) std::erase_if(out, over_replicas);
  if (sync != SyncStrategy::DistributedOptimizer) return out;
  for (GradReduction& r : out) {
    if (!over_replicas(r)) continue;
    r.scatter = true;
    r.elements = stage.owned * stage.replicas;
    r.bytes = r.elements * Expr(dtype_bytes(r.dtype));
    r.why = "Every replica keeps the sum of the part whose optimizer states it owns.";
  }
  return out;
}

OptimizerCost optimizer_cost(const Graph& graph, bool first, bool last, bool has_layers) {
  const Expr parameters = stage_sync(graph, first, last, has_layers).owned;
  // FSDP keeps its shards in float32 and casts what it gathers.
  const bool master = dtype_bytes(graph.structure.dtype) < 4 && graph.structure.sync != SyncStrategy::Fsdp1;
  const int64_t weight = master ? dtype_bytes(graph.structure.dtype) : 4, grad = dtype_bytes(graph.structure.grad_dtype);
  const int64_t states = master ? 12 : 8;  // moments, and master weights beside 16-bit parameters
  return {parameters * Expr(12), parameters * Expr(grad + states + (master ? 0 : 4)), parameters * Expr(states + weight)};
}

}  // namespace shardscape
