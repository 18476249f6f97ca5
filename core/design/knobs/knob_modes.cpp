#include "design/knobs/knob_modes.h"

#include <algorithm>
#include <iterator>

namespace shardscape {
namespace {

// Knobs that only training uses.
struct ModeRule {
  const char* knob;
  const char* why;
};
constexpr const char *kGradients = "inference has no gradients to reduce",
                     *kOneForward = "inference runs only forwards",
                     *kNothingSaved = "inference saves no activations for a backward",
                     *kNoOptimizer = "inference has no optimizer", *kNoRun = "inference saves no checkpoints";
constexpr ModeRule kTrainingOnly[] = {
    {"tokens", "inference trains nothing"},
    {"checkpoint_interval", kNoRun},
    {"batch_ramp_start", "inference trains nothing"},
    {"batch_ramp_increment", "inference trains nothing"},
    {"batch_ramp_samples", "inference trains nothing"},
    {"compute_jitter", "the spread of ranks is modelled in training"},
    {"straggler_slowdown", "the spread of ranks is modelled in training"},
    {"failure_rate", kNoRun},
    {"restart_time", kNoRun},
    {"checkpoint_bandwidth", kNoRun},
    {"mtp_layers", "inference does not load modules of multi-token prediction"},
    {"schedule", kOneForward},
    {"virtual_stages", kOneForward},
    {"forwards_first", kOneForward},
    {"microbatch_group", kOneForward},
    {"pass_times", kOneForward},
    {"most_in_flight", kOneForward},
    {"waiting_percent", kOneForward},
    {"ep_comm_overlap", kOneForward},
    {"shared_expert_overlap", "the kernel profiles of engines decide about shared experts"},
    {"tp_comm_overlap_rs_dgrad", kGradients},
    {"sync", kGradients},
    {"overlap_grad_reduce", kGradients},
    {"overlap_param_gather", kGradients},
    {"reduce_every_microbatch", kGradients},
    {"reshard_after_forward", kGradients},
    {"reshard_after_backward", kGradients},
    {"dp_shard", kGradients},
    {"bucket_cap_mb", kGradients},
    {"first_bucket_mb", kGradients},
    {"ddp_bucket_size", kGradients},
    {"zero_reduce_bucket_size", kGradients},
    {"zero_allgather_bucket_size", kGradients},
    {"stage3_prefetch_bucket_size", kGradients},
    {"stage3_param_persistence_threshold", kGradients},
    {"stage3_max_live_parameters", kGradients},
    {"stage3_max_reuse_distance", kGradients},
    {"clip_grad_norm", kGradients},
    {"grad_dtype", kGradients},
    {"average_loss", "inference has no loss"},
    {"gathered_logits", "inference has no loss"},
    {"dropout", "inference has no dropout"},
    {"gradient_accumulation_fusion", kGradients},
    {"cuda_graphs", "serving takes the graphs of the engine"},
    {"vision_training", "inference trains nothing"},
    {"fp8_params", kNoOptimizer},
    {"transposed_weights", "inference computes no input gradients"},
    {"master_weights", kNoOptimizer},
    {"optimizer", kNoOptimizer},
    {"moment_dtype", kNoOptimizer},
    {"lora_rank", "inference reads adapters merged into the weights"},
    {"lora_modules", "inference reads adapters merged into the weights"},
    {"lora_packed", "inference reads adapters merged into the weights"},
    {"lora_dropout", "inference reads adapters merged into the weights"},
    {"frozen_dtype", "weight_formats states the formats of weights in inference"},
    {"fp8_attention", "attention of inference stays in the data type"},
    {"offload_optimizer", kNoOptimizer},
    {"optimizer_offload_fraction", kNoOptimizer},
    {"packed_length", "prompts of inference are not packed"},
    {"offload_activations", kNothingSaved},
    {"activation_cache", kNothingSaved},
    {"recompute", kNothingSaved},
    {"recompute_modules", kNothingSaved},
    {"recompute_method", kNothingSaved},
    {"recompute_num_layers", kNothingSaved},
    {"distribute_saved_activations", kNothingSaved}};

}  // namespace

std::string idle_in_mode(const Design& d, std::string_view knob) {
  const Mode mode = d.workload.mode;
  if (knob == "context_length" && mode != Mode::Decode)
    return mode == Mode::Train ? "training has no KV cache" : "the prompts of prefill have the length seq";
  if (knob == "cached_tokens")
    return mode == Mode::Prefill ? no_cached_tokens(d)
           : mode == Mode::Train ? "training has no KV cache"
                                 : "context_length counts the cached tokens of decode";
  if (knob == "draft_module")
    return mode == Mode::Train   ? "training computes the modules with the model (mtp_layers)"
           : has_draft_module(d) ? ""
                                 : "the architecture has no module for multi-token prediction";
  if (knob == "images" || knob == "image_size" || knob == "frames")
    return mode == Mode::Decode ? "decode reads image tokens from the cache" : "";
  if (knob == "kv_cache_dtype") return mode == Mode::Train ? "training has no KV cache" : "";
  if (knob == "ssm_state_dtype" && mode == Mode::Train) return "training keeps no mixer state";
  if (knob == "seq")
    return mode == Mode::Decode
               ? "decode computes one token per sequence; context_length sets the length of its context"
               : "";
  if ((knob == "context" || knob == "ulysses_degree") && mode == Mode::Decode)
    return "in decode, each rank attends to its part of the cache and the results are merged";
  if (knob == "dcp" && mode != Mode::Decode)
    return mode == Mode::Train ? "training has no KV cache" : "prefill does not read the KV cache";
  if (knob == "scatter_gather_pipeline" && mode == Mode::Decode)
    return "messages are split along the sequence, and decode has one token per sequence";
  if (mode == Mode::Train) return "";
  const auto only = std::find_if(std::begin(kTrainingOnly), std::end(kTrainingOnly),
                                 [&](const ModeRule& r) { return knob == r.knob; });
  return only == std::end(kTrainingOnly) ? "" : only->why;
}

}  // namespace shardscape
