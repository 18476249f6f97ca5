// The effective design: the values of a design that its mode uses.
#include <algorithm>

#include "design/design.h"
#include "design/validate/checks.h"
#include "model/layer_variant.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Inference uses the degrees, the rank order and messages. It has one forward per microbatch and no
// gradients.
ParallelSpec of_inference(const ParallelSpec& p) {
  ParallelSpec out;
  out.tp = p.tp;
  out.pp = p.pp;
  out.dp = p.dp;
  out.cp = p.cp;
  out.ep = p.ep;
  out.etp = p.etp;
  out.dispatcher = p.dispatcher;
  out.sequence_parallel = p.sequence_parallel;
  out.context = p.context;
  out.ulysses_degree = p.ulysses_degree;
  out.dcp = p.dcp;
  out.stage_layers = p.stage_layers;
  out.account_for_embedding_in_pipeline_split = p.account_for_embedding_in_pipeline_split;
  out.account_for_loss_in_pipeline_split = p.account_for_loss_in_pipeline_split;
  out.order = p.order;
  out.scatter_gather_pipeline = p.scatter_gather_pipeline;
  out.tp_comm_overlap = p.tp_comm_overlap;
  out.forward_only = true;
  return out;
}

WorkloadSpec of_inference(const Design& design) {
  const WorkloadSpec& w = design.workload;
  WorkloadSpec out;
  out.mode = w.mode;
  out.seq = w.mode == Mode::Decode ? 1 : w.seq;
  out.batch = w.batch;
  out.microbatch = w.microbatch;
  if (w.mode == Mode::Prefill && no_cached_tokens(design).empty()) out.cached_tokens = w.cached_tokens;
  out.context_length = w.mode == Mode::Decode ? w.context_length : w.seq + out.cached_tokens;
  out.kv_cache_dtype = w.kv_cache_dtype;
  out.ssm_state_dtype = w.ssm_state_dtype;
  out.dtype = w.dtype;
  out.compute = w.compute;
  out.dispatch_dtype = w.dispatch_dtype;
  out.vocab_multiple = w.vocab_multiple;
  out.cublas_workspace = w.cublas_workspace;
  out.profile = w.profile;
  out.capacity_factor = w.capacity_factor;
  out.load_imbalance = w.load_imbalance;
  out.pad_to_capacity = w.pad_to_capacity;
  if (w.mode == Mode::Prefill) out.images = w.images;
  out.image_size = w.image_size;
  out.frames = w.frames;
  out.draft_module = w.draft_module && has_draft_module(design);
  out.vision_parallel = w.vision_parallel;
  return out;
}

// The module as a model of one layer, with the sizes of the layers that it is like.
void keep_draft_module(ModelSpec& model) {
  const Architecture* architecture = ModelLibrary::instance().architecture(model.architecture);
  for (const LayerVariant& kind : model.variants)
    if (kind.name == architecture->mtp_variant) model = layer_model(ModelSpec(model), LayerVariant(kind));
  model.variants.clear();
  model.layer_pattern.clear();
  model.dense_layers = 0;
  model.layers = 1;
}

}  // namespace

std::string no_cached_tokens(const Design& design) {
  const ParallelSpec& p = design.parallel;
  if (uses_axis(design, Axis::CompressRatio))
    return "keys are compressed in blocks from the start of a sequence";
  if (design.model.index_block > 0) return "attention picks blocks of keys from the start of a sequence";
  if (p.cp > 1 && p.context != ContextMode::AllGather)
    return "only the context mode all-gather brings all cached keys to each rank of cp";
  return "";
}

bool has_draft_module(const Design& design) {
  const Architecture* architecture = ModelLibrary::instance().architecture(design.model.architecture);
  return architecture && !architecture->mtp.lines.empty();
}

Design effective_design(const Design& design) {
  Design out = design;
  out.parallel.forward_only = false;
  if (design.workload.mode != Mode::Decode) out.parallel.dcp = 1;
  if (trains(design)) {
    out.workload.cached_tokens = 0;
    out.workload.draft_module = false;
    return out;
  }
  out.cluster.compute_jitter = out.cluster.straggler_slowdown = 0;
  out.parallel = of_inference(out.parallel);
  // The one token of a sequence is not split; each cp rank has a part of the context.
  if (design.workload.mode == Mode::Decode) {
    out.parallel.scatter_gather_pipeline = false;
    out.parallel.context = ContextMode::AllGather;
    out.parallel.ulysses_degree = ParallelSpec{}.ulysses_degree;
  }
  out.workload = of_inference(design);
  out.model.mtp_layers = 0;  // inference does not load modules of multi-token prediction
  if (out.workload.draft_module) keep_draft_module(out.model);
  return out;
}

}  // namespace shardscape
