#include "grad_sync/stage_gradients.h"

#include <stdexcept>

#include "graph/build.h"
#include "model/library.h"
#include "symbolic/program.h"

namespace shardscape {
namespace {

const KernelProfile& profile_of(const Structure& structure) {
  return *ModelLibrary::instance().profile(structure.profile);
}

// StageGradients::always.
Expr always_allocated(const Graph& graph, const StageSync& sync, ModelStart first, bool last,
                      bool has_layers) {
  const Structure& s = graph.structure;
  const Expr width(dtype_bytes(s.grad_dtype));
  if (s.sync == SyncStrategy::DdpBuckets) return bucket_bytes(graph, s.grad_dtype, first, last, has_layers);
  if (s.sync == SyncStrategy::MegatronFsdp) return sync.owned * width;
  if (!adds_gradients_after_pass(graph)) return {};
  const bool buckets = profile_of(s).reducer_buckets;
  return sync.buffers * width + (buckets ? bucket_bytes(graph, s.dtype, first, last, has_layers) : Expr());
}

// The values of StageGradients as expressions: `reduced` of every segment, then always, shards, bucket,
// owned.
ExprProgram program_of(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  const Structure& s = graph.structure;
  const GradientLife life = gradient_life(graph);
  const StageSync sync = stage_sync(graph, first, last, has_layers);
  const Expr type(dtype_bytes(s.dtype));
  std::vector<Expr> all(graph.segments.size());  // reduced
  for (const SyncUnit& unit : sync.units) {
    if (unit.frozen) continue;
    const int root = first.embedding ? 0 : first ? graph.head() + graph.tower_parts : graph.head();
    const int at = unit.segment >= 0 ? unit.segment : root;
    if (is_torch_fsdp(s.sync)) all[static_cast<size_t>(at)] += unit.shard * Expr(4);
  }
  const bool buckets = life == GradientLife::InBuckets;
  all.push_back(always_allocated(graph, sync, first, last, has_layers));
  all.push_back(buckets ? sync.owned * type : Expr());
  all.push_back(buckets ? Expr(Symbol::intern("Zb")) * type : Expr());
  all.push_back(sync.owned);
  return ExprProgram::compile(all);
}

}  // namespace

bool adds_gradients_after_pass(const Graph& graph) {
  const Structure& s = graph.structure;
  return s.trains() && is_megatron(s.sync) && profile_of(s).weight_gradient == WeightGradient::UntilPassEnds;
}

GradientLife gradient_life(const Graph& graph) {
  const Structure& s = graph.structure;
  if (!s.trains()) return GradientLife::Always;
  if (adds_gradients_after_pass(graph)) return GradientLife::UntilReduced;
  switch (s.sync) {
    case SyncStrategy::DdpFlat:
    case SyncStrategy::DistributedOptimizer:
    case SyncStrategy::Zero3: return GradientLife::Always;
    case SyncStrategy::Zero2: return GradientLife::InBuckets;
    case SyncStrategy::Fsdp1:
    case SyncStrategy::Fsdp2:
    case SyncStrategy::MegatronFsdp: return GradientLife::UntilReduced;
    case SyncStrategy::DdpBuckets:
    case SyncStrategy::Zero0:
    case SyncStrategy::Zero1: break;
  }
  return GradientLife::UntilOptimizer;
}

// FSDP2 accumulates in the type in which it reduces (PyTorch fully_shard, unsharded_accumulated_grad). GEMMs
// under Megatron-FSDP add to the buffer that the reduction reads (get_main_grad, in the type of grad_comm).
DType unreduced_dtype(const Structure& structure) {
  const bool accumulates = structure.accumulates && structure.sync == SyncStrategy::Fsdp2;
  return accumulates || structure.sync == SyncStrategy::MegatronFsdp ? structure.grad_dtype : structure.dtype;
}

Expr bucket_bytes(const Graph& graph, DType type, ModelStart first, bool last, bool has_layers) {
  Expr out;
  for (const StageParam& p : trained_params(graph, first, last, has_layers))
    if (!replica_group(graph.structure, p.segment->tensor(p.param->gradient)).axes.empty())
      out += p.count * local_elements(p.segment->tensor(p.param->tensor));
  return out * Expr(dtype_bytes(type));
}

StageGradients stage_gradients(const Graph& graph, ModelStart first, bool last, bool has_layers,
                               const Binding& stage, PlanCache& cache, bool owned) {
  const Structure& s = graph.structure;
  StageGradients out;
  out.life = gradient_life(graph);
  if (out.life == GradientLife::Always && !owned) return out;
  const bool after_pass = adds_gradients_after_pass(graph);
  out.every_backward = s.every_microbatch || after_pass;
  out.with_chunk = s.whole_until_reduced || after_pass;
  CacheKey key = key_of(s);
  for (const bool word : {first.tower, first.embedding, last, has_layers}) key.add(int64_t{word});
  const auto program = cache.get<ExprProgram>(
      CacheKind::GradientProgram, key,
      [&] { return std::make_shared<const ExprProgram>(program_of(graph, first, last, has_layers)); },
      [](const ExprProgram&) { return size_t{4096}; });
  std::vector<EvalFault> faults;
  const std::vector<Wide> values = program->evaluate(stage, &faults);
  for (const EvalFault fault : faults)
    if (fault != EvalFault::None)
      throw std::invalid_argument(std::string("a size of gradients: ") + to_string(fault));
  size_t at = 0;
  const auto next = [&] { return static_cast<int64_t>(values[at++]); };
  for (size_t i = 0; i < graph.segments.size(); ++i) out.reduced.push_back(next());
  out.always = next();
  out.shards = next();
  out.bucket = next();
  out.owned = next();
  return out;
}

}  // namespace shardscape
