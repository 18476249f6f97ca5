#include "grad_sync/grad_plan.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "grad_sync/sync_model.h"

namespace shardscape {

std::vector<StageSegment> stage_segments(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  std::vector<StageSegment> out;
  if (first.tower)
    for (int part = graph.head() + 1; part < static_cast<int>(graph.segments.size()); ++part)
      out.push_back({part, graph.segments[static_cast<size_t>(part)].copies});
  if (first.embedding) out.push_back({0, Expr(1)});
  if (has_layers)
    for (int kind = 0; kind < graph.kinds(); ++kind)
      out.push_back({kind + 1, Expr(stage_layers_symbol(graph, kind))});
  if (last) out.push_back({graph.head(), Expr(1)});
  return out;
}

namespace {

// Whether both the embedding and the head have a parameter with this key.
bool at_both_ends(const Graph& graph, const std::string& tied) {
  const auto has_key = [&](const Segment& segment) {
    return std::any_of(segment.params.begin(), segment.params.end(),
                       [&](const Param& p) { return p.tied == tied; });
  };
  return !tied.empty() && has_key(graph.segments.front()) &&
         has_key(graph.segments[static_cast<size_t>(graph.head())]);
}

constexpr int64_t kOffloadBlock = 256;  // elements

int64_t weight_copies(const Structure& s) { return s.compute == DType::FP8 && !s.transposed_weights ? 1 : 2; }

}  // namespace

std::vector<StageParam> stage_params(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  std::vector<StageParam> out;
  for (const StageSegment& part : stage_segments(graph, first, last, has_layers)) {
    const Segment& segment = graph.segments[static_cast<size_t>(part.segment)];
    for (const Param& param : segment.params) {
      const bool listed = !param.tied.empty() &&
                          std::any_of(out.begin(), out.end(), [&](const StageParam& other) {
                            return other.param->tied == param.tied;
                          });
      if (!listed) out.push_back({&segment, &param, part.count});
    }
  }
  return out;
}

std::vector<StageParam> trained_params(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  std::vector<StageParam> out = stage_params(graph, first, last, has_layers);
  std::erase_if(out, [](const StageParam& p) { return p.param->gradient < 0; });
  return out;
}

Expr frozen_parameters(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  Expr out;
  for (const StageParam& p : stage_params(graph, first, last, has_layers))
    if (p.param->gradient < 0) out += p.count * local_elements(p.segment->tensor(p.param->tensor));
  return out;
}

Expr stage_parameters(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  Expr out;
  for (const StageParam& p : stage_params(graph, first, last, has_layers))
    out += p.count * local_elements(p.segment->tensor(p.param->tensor));
  return out;
}

std::vector<GradReduction> reductions_of(const Graph& graph, const std::vector<StageParam>& params,
                                         bool ends) {
  // By order of issue and axes. 1, tp: a parameter that is Replicate on tp, in a block whose sequence is
  // sharded over tp, has a gradient that is Partial on tp. 2, KV replicas: the ranks that share a KV head
  // each hold a summand of the gradient of its projection.
  std::map<std::pair<int, MeshAxes>, Expr> elements;
  Expr tied;  // the embedding and the head share one table, on the first and the last stage
  for (const StageParam& p : params) {
    const Tensor& grad = p.segment->tensor(p.param->gradient);
    const Expr size = p.count * local_elements(grad);
    MeshAxes inner;
    std::copy_if(grad.placement.partial.begin(), grad.placement.partial.end(), std::back_inserter(inner),
                 [](MeshAxis axis) { return !is_replica_axis(axis); });
    const bool copies = std::any_of(kKvSplits.begin(), kKvSplits.end(),
                                    [&](const KvSplit& split) { return inner == MeshAxes{split.copies}; });
    if (!inner.empty()) elements[{copies ? 2 : 1, inner}] += size;
    if (ends && at_both_ends(graph, p.param->tied)) tied += size;
  }
  const DType type = graph.structure.grad_dtype;
  const Expr bytes(dtype_bytes(type));
  std::vector<GradReduction> out;
  out.reserve(elements.size() + 1);
  for (const auto& [key, size] : elements)
    out.push_back({key.second, false, false, size, size * bytes, type});
  if (!tied.is_zero()) out.push_back({{}, true, false, tied, tied * bytes, type});
  return out;
}

std::vector<GradReduction> plan_grad_reduce(const Graph& graph, const Expr& owned, ModelStart first,
                                            bool last, bool has_layers) {
  if (is_fsdp(graph.structure.sync) || !graph.structure.trains()) return {};
  std::vector<GradReduction> out = reductions_of(graph, trained_params(graph, first, last, has_layers),
                                                 first.embedding != last);
  if (graph.structure.layout != ChunkLayout::BothWays) return out;
  // Two stages hold the same parameters, and each has run half of the microbatches.
  const DType type = graph.structure.grad_dtype;
  out.push_back({{}, false, true, owned, owned * Expr(dtype_bytes(type)), type});
  return out;
}

Expr quantized_weights(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  Expr elements;
  for (const StageParam& p : stage_params(graph, first, last, has_layers))
    if (p.param->quantized) elements += p.count * local_elements(p.segment->tensor(p.param->tensor));
  return elements;
}

Expr quantized_weight_bytes(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  if (graph.structure.sync == SyncStrategy::Fsdp1) return {};
  return quantized_weights(graph, first, last, has_layers) * Expr(weight_copies(graph.structure)) *
         dtype_size(graph.structure.compute);
}

DType gathered_weight_type(const Structure& s) {
  const bool eight_bits = s.compute == DType::FP8 || s.compute == DType::FP8Block;
  return s.fp8_params && eight_bits ? DType::FP8 : s.dtype;
}

OptimizerCost optimizer_cost(const Graph& graph, const Expr& owned, const Expr& matrices, ModelStart first,
                             bool last, bool has_layers) {
  const Structure& s = graph.structure;
  const Expr updated = s.offload_part ? owned - offloaded_elements(s, owned) : owned;
  // PyTorch's FSDP stores float32 shards and casts the gathered units.
  const bool fsdp = is_torch_fsdp(s.sync), master = dtype_bytes(s.dtype) < 4 && !fsdp && s.master_weights;
  const Expr weight(fsdp ? 4 : dtype_bytes(s.dtype)), grad(dtype_bytes(s.grad_dtype));
  const Expr states = Expr(2) * dtype_size(s.moment_dtype) + Expr(master ? 4 : 0);
  // Frozen weights have been quantized before the first step; adapters are not quantized.
  const Expr copies = s.lora ? Expr() : quantized_weight_bytes(graph, first, last, has_layers);
  const Expr elements = copies.is_zero() ? Expr() : quantized_weights(graph, first, last, has_layers);
  // The copies are made from gathered weights. Gathered FP8 data is a copy already, from which only the
  // transposed copy is made.
  const DType gathered = gathered_weight_type(s);
  const bool quantizes = gathered == s.dtype;
  const Expr read = quantizes || weight_copies(s) > 1 ? elements * Expr(dtype_bytes(gathered)) : Expr();
  const Expr made = quantizes ? copies : copies - elements * dtype_size(s.compute);
  const Expr absent = matrices * dtype_size(s.moment_dtype);  // second moments
  return {updated * Expr(12), updated * (grad + states + (master ? Expr() : weight)) + read - absent,
          updated * (states + weight) + made - absent};
}

Expr offloaded_elements(const Structure& structure, const Expr& owned, Symbol blocks) {
  return structure.offload_part ? Expr(blocks) * Expr(kOffloadBlock) : owned;
}

DerivedSymbol offloaded_blocks(Symbol name, const Expr& owned) {
  return {name, DerivedRule::FloorDiv, owned * Expr(Symbol::intern("Of")), Expr(1000 * kOffloadBlock)};
}

OffloadedStep offloaded_step(const Graph& graph, const Expr& owned) {
  const Structure& s = graph.structure;
  const bool fsdp = is_torch_fsdp(s.sync);  // float32 shards and gradients
  const Expr moved = offloaded_elements(s, owned);
  return {moved * Expr(fsdp ? 4 : dtype_bytes(s.grad_dtype)), moved * Expr(fsdp ? 4 : dtype_bytes(s.dtype))};
}

}  // namespace shardscape
