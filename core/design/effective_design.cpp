// The effective design: the values of a design that its mode uses.
#include "design/design.h"

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

WorkloadSpec of_inference(const WorkloadSpec& w) {
  WorkloadSpec out;
  out.mode = w.mode;
  out.seq = w.mode == Mode::Decode ? 1 : w.seq;
  out.batch = w.batch;
  out.microbatch = w.microbatch;
  out.context_length = w.mode == Mode::Decode ? w.context_length : w.seq;
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
  out.vision_parallel = w.vision_parallel;
  return out;
}

}  // namespace

Design effective_design(const Design& design) {
  Design out = design;
  out.parallel.forward_only = false;
  if (design.workload.mode != Mode::Decode) out.parallel.dcp = 1;
  if (trains(design)) return out;
  out.parallel = of_inference(out.parallel);
  // The one token of a sequence is not split; each cp rank has a part of the context.
  if (design.workload.mode == Mode::Decode) {
    out.parallel.scatter_gather_pipeline = false;
    out.parallel.context = ContextMode::AllGather;
    out.parallel.ulysses_degree = ParallelSpec{}.ulysses_degree;
  }
  out.workload = of_inference(design.workload);
  out.model.mtp_layers = 0;  // inference does not load modules of multi-token prediction
  return out;
}

}  // namespace shardscape
