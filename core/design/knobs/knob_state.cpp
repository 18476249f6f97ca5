#include "design/knobs/knob_state.h"

#include <algorithm>
#include <iterator>

#include "design/cluster.h"
#include "design/knobs/knob_modes.h"
#include "design/knobs/knob_network.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "design/vision.h"
#include "mesh/pipeline_layout.h"
#include "model/library.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

// The size of a part that an architecture may lack; nullptr for any other knob.
const ModelSize* partial_size(std::string_view knob) {
  const ModelSize* size = find_model_size(knob);
  return size && size->part.axis ? size : nullptr;
}

bool has_part(const Design& d, const ModelSize& size) {
  return size.member == &ModelSpec::vision_positions ? tower_uses(d, Axis::Positions)
                                                     : uses_axis(d, *size.part.axis);
}

std::string missing_size(const Design& d, std::string_view knob) {
  const ModelSize* size = partial_size(knob);
  if (!size || has_part(d, *size)) return "";
  const bool attends = size->section == ModelSection::Attention &&
                       uses_axis(d, Axis::Heads);  // attention that lacks only this size
  return attends ? "" : "the " + d.model.architecture + " architecture has no " + size->part.name;
}

// The reason if the condition holds, otherwise "".
std::string when(bool idle, const char* words) { return idle ? words : ""; }
std::string lacks(const Design& d, bool has, const char* parts) {
  return has ? "" : "the " + d.model.architecture + " architecture has no " + parts;
}

std::string head_size(const Design& d) {
  if (std::string none = missing_size(d, "head_dim"); !none.empty()) return none;
  return when(uses_axis(d, Axis::KvRank),
              "latent attention has its own head sizes: non-rotary, rotary and value");
}
std::string experts(const Design& d) { return lacks(d, uses_axis(d, Axis::Experts), "experts"); }
std::string no_ep(const Design& d) {
  if (std::string none = experts(d); !none.empty()) return none;
  return when(d.parallel.ep == 1, "without expert parallelism (ep = 1), no tokens are sent");
}
std::string expert_groups(const Design& d) {
  if (std::string none = experts(d); !none.empty()) return none;
  return when(d.parallel.dispatcher != Dispatcher::Flex,
              "each token is sent to each of its experts, regardless of groups");
}
std::string shared_experts(const Design& d) {
  if (std::string none = experts(d); !none.empty()) return none;
  return lacks(d, uses_axis(d, Axis::SharedFfn), "shared experts");
}
std::string dense_layers(const Design& d) {
  if (std::string none = experts(d); !none.empty()) return none;
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  if (std::string none = lacks(d, architecture && architecture->lead >= 0, "leading dense layers");
      !none.empty())
    return none;
  return when(!d.model.layer_pattern.empty(), "the layer pattern places the dense layers");
}
std::string expansion(const Design& d) {
  if (std::string none = missing_size(d, "ssm_expand"); !none.empty()) return none;
  return when(has_free_ssm_heads(d), "the SSM heads set the channels of mixers");
}
std::string residual_blocks(const Design& d) {
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  return lacks(d, architecture && !architecture->block_start.empty(), "residual blocks");
}
std::string mixer_state(const Design& d) {
  return lacks(d, uses_axis(d, Axis::SsmConv) || uses_axis(d, Axis::LinearValueDim), "mixer with state");
}
std::string positions(const Design& d) {
  return lacks(d, uses_axis(d, Axis::Positions), "table of learned positions");
}
std::string window(const Design& d) {
  return has_window_layers(d.model.architecture)
             ? ""
             : "no layer of the " + d.model.architecture + " architecture has sliding-window attention";
}
std::string chunk(const Design& d) {
  return lacks(d, uses_axis(d, Axis::ChunkContext), "layer with attention in chunks");
}
std::string mtp(const Design& d) {
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  return lacks(d, architecture && !architecture->mtp.lines.empty(), "module of multi-token prediction");
}

std::string tower(const Design& d) { return lacks(d, has_tower(d), "vision tower"); }
std::string images(const Design& d) {
  if (std::string none = tower(d); !none.empty()) return none;
  return when(d.workload.images == 0, "sequences have no images");
}
std::string tower_split(const Design& d) {
  if (std::string none = tower(d); !none.empty()) return none;
  return when(d.parallel.tp * d.parallel.cp == 1, "no ranks share the tower (tp = cp = 1)");
}

std::string vision_stage(const Design& d) {
  if (std::string none = images(d); !none.empty()) return none;
  if (d.workload.mode == Mode::Decode) return "decode does not run the vision tower";
  return when(d.parallel.pp == 1, "there is no pipeline (pp = 1)");
}

std::string vision_recompute(const Design& d) {
  if (std::string none = images(d); !none.empty()) return none;
  if (!trains(d)) return "inference has no backward";
  return when(d.workload.vision_training == VisionTraining::Frozen, "a frozen tower has no backward");
}

std::string no_run(const Design& d) {
  return when(d.workload.tokens == 0, "the number of training tokens is not set");
}

std::string no_ramp(const Design& d) {
  if (std::string none = no_run(d); !none.empty()) return none;
  return when(!d.workload.ramp.exists(), "the batch has no ramp (batch_ramp_start = 0)");
}

std::string no_tp(const Design& d) {
  return when(d.parallel.tp == 1, "there is no tensor parallelism (tp = 1)");
}
std::string heads_over_tp(const Design& d) {
  if (std::string none = no_tp(d); !none.empty()) return none;
  return lacks(d, uses_axis(d, Axis::Heads), "attention");
}
std::string no_pp(const Design& d) { return when(d.parallel.pp == 1, "there is no pipeline (pp = 1)"); }
std::string even_stages(const Design& d) {
  if (std::string none = no_pp(d); !none.empty()) return none;
  return when(!d.parallel.stage_layers.empty(), "stage_layers sets the layers of each stage");
}
std::string forwards_first(const Design& d) {
  if (std::string none = no_pp(d); !none.empty()) return none;
  return when(!can_run_forwards_first(d.parallel) || schedule_of(d.parallel) == ScheduleKind::OneFOneBPairs,
              "only interleaved 1F1B without ep_comm_overlap has this choice");
}
std::string groups(const Design& d) {
  if (std::string none = no_pp(d); !none.empty()) return none;
  return when(d.parallel.schedule != ScheduleKind::Flexible,
              "only the flexible schedule has groups of any size");
}
std::string pass_plan(const Design& d) {
  if (std::string none = no_pp(d); !none.empty()) return none;
  return when(d.parallel.schedule != ScheduleKind::ZbAuto, "only the schedule zb-auto uses pass durations");
}
std::string no_cp(const Design& d) {
  return when(d.parallel.cp == 1, "there is no context parallelism (cp = 1)");
}
std::string context(const Design& d) {
  if (std::string none = no_cp(d); !none.empty()) return none;
  return lacks(d, uses_axis(d, Axis::Heads), "attention");
}
std::string ulysses_degree(const Design& d) {
  if (std::string none = context(d); !none.empty()) return none;
  const ContextMode mode = d.parallel.context;
  return when(mode != ContextMode::UlyssesRing && mode != ContextMode::UlyssesZigzag,
              "Ulysses does not run inside a ring");
}
std::string overlapped_experts(const Design& d) {
  if (std::string none = no_ep(d); !none.empty()) return none;
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  if (architecture && !architecture->concurrent.empty()) return "";
  return when(!schedule_traits(schedule_of(d.parallel)).overlaps_passes,
              "only DualPipe, DualPipeV and 1F1B with ep_comm_overlap overlap a forward with a backward");
}
std::string overlapped_shared_experts(const Design& d) {
  if (std::string none = shared_experts(d); !none.empty()) return none;
  if (std::string none = no_ep(d); !none.empty()) return none;
  if (schedule_traits(schedule_of(d.parallel)).overlaps_passes)
    return "overlapped forwards and backwards hide the exchanges of experts";
  return when(d.parallel.dispatcher != Dispatcher::AllToAll && d.parallel.dispatcher != Dispatcher::Flex,
              "only the dispatchers alltoall and flex run shared experts concurrently");
}
std::string graphs(const Design& d) {
  switch (d.workload.cuda_graphs) {
    case CudaGraphs::Attention: return lacks(d, uses_axis(d, Axis::Heads), "attention");
    case CudaGraphs::Router: return experts(d);
    case CudaGraphs::None:
    case CudaGraphs::AttentionRouter:
    case CudaGraphs::Layer:
    case CudaGraphs::Iteration: return "";
  }
  return "";
}
std::string messages(const Design& d) {
  if (d.parallel.pp == 1) return "there are no messages between stages (pp = 1)";
  if (d.parallel.tp == 1) return "there are no tensor-parallel ranks that could share a message (tp = 1)";
  return when(d.parallel.sequence_parallel, "sequence parallelism already splits the messages");
}

std::string no_replicas(const Design& d) {
  return when(d.parallel.dp * d.parallel.cp == 1, "there are no replicas (dp = 1)");
}
bool megatron(const Design& d) { return is_megatron(d.parallel.sync); }
bool fsdp(const Design& d) { return is_fsdp(d.parallel.sync); }
std::string paired_exchanges(const Design& d) {
  if (std::string none = no_ep(d); !none.empty()) return none;
  if (can_pair_exchanges(d.parallel)) return "";
  if (no_replicas(d).empty() && !megatron(d))
    return "Megatron-core pairs forwards and backwards only with its own gradient sync";
  return d.parallel.schedule == ScheduleKind::OneFOneB
             ? "Megatron-core pairs forwards and backwards over several stages (pp = " +
                   std::to_string(d.parallel.pp) + ") only with virtual stages"
             : "Megatron-core pairs forwards and backwards only in 1F1B";
}
// The reason for knobs of a gradient-sync policy: no replicas, or a policy for which reads() is false.
template <auto reads>
std::string of_policy(const Design& d, const char* words) {
  std::string none = no_replicas(d);
  return none.empty() ? when(!reads(d), words) : none;
}
std::string overlap(const Design& d) {
  return of_policy<megatron>(
      d, "only Megatron's gradient sync (ddp-flat, distributed-optimizer) has this overlap");
}
std::string param_gather(const Design& d) {
  return of_policy<[](const Design& x) {
    return x.parallel.sync == SyncStrategy::DistributedOptimizer && x.parallel.overlap_grad_reduce;
  }>(d, "only Megatron's distributed optimizer with overlap_grad_reduce overlaps this gather");
}
std::string tp_pieces(const Design& d) {
  if (std::string none = no_tp(d); !none.empty()) return none;
  return when(!d.parallel.sequence_parallel,
              "without sequence parallelism, GEMMs have no gathers and scatters to overlap with");
}
std::string frozen_pieces(const Design& d) {
  if (std::string none = tp_pieces(d); !none.empty()) return none;
  if (!d.parallel.tp_comm_overlap) return "communication of tp does not overlap (tp_comm_overlap = false)";
  return when(d.workload.lora_rank == 0, "scatters overlap with weight gradients");
}
std::string megatron_bucket(const Design& d) {
  return of_policy<[](const Design& x) { return megatron(x) && x.parallel.overlap_grad_reduce; }>(
      d, "only Megatron's overlapped gradient reduction has these buckets");
}
std::string ddp_bucket(const Design& d) {
  return of_policy<[](const Design& x) { return x.parallel.sync == SyncStrategy::DdpBuckets; }>(
      d, "sync is not PyTorch's DDP");
}
std::string sharding_group(const Design& d) {
  return of_policy<[](const Design& x) { return shards_in_groups(x.parallel.sync); }>(
      d, "this gradient sync shards no states");
}
std::string reshard(const Design& d) { return of_policy<fsdp>(d, "this gradient sync does not reshard"); }
std::string reshard_backward(const Design& d) {
  return of_policy<[](const Design& x) {
    return x.parallel.sync == SyncStrategy::Fsdp2 || x.parallel.sync == SyncStrategy::MegatronFsdp;
  }>(d, "only fsdp2 and megatron-fsdp decide whether a backward reshards");
}
std::string every_microbatch(const Design& d) {
  return of_policy<[](const Design& x) {
    return fsdp(x) || x.parallel.sync == SyncStrategy::DdpBuckets || x.parallel.sync == SyncStrategy::Zero2 ||
           x.parallel.sync == SyncStrategy::Zero3;
  }>(d, "this gradient sync reduces gradients once per step");
}
std::string zero(const Design& d) {
  return of_policy<[](const Design& x) { return is_deepspeed(x.parallel.sync); }>(d, "sync is not DeepSpeed");
}
std::string zero_gather(const Design& d) {
  if (std::string none = zero(d); !none.empty()) return none;
  return when(d.parallel.sync == SyncStrategy::Zero3, "zero-3 gathers parameters before each use");
}
std::string zero_3(const Design& d) {
  if (std::string none = zero(d); !none.empty()) return none;
  return when(d.parallel.sync != SyncStrategy::Zero3, "only zero-3 gathers parameters before each use");
}

std::string no_lora(const Design& d) {
  return when(d.workload.lora_rank == 0, "without a rank, there are no adapters (lora_rank = 0)");
}
std::string no_frozen_type(const Design& d) {
  if (d.workload.lora_rank == 0) return no_lora(d);
  if (d.workload.compute != ComputePrecision::Storage)
    return "quantized GEMMs read frozen weights in the type of compute";
  return when(is_fsdp(d.parallel.sync) || d.parallel.sync == SyncStrategy::Zero3,
              "FSDP and ZeRO-3 shard frozen weights in the data type");
}
std::string no_fp8_attention(const Design& d) {
  if (d.workload.compute != ComputePrecision::FP8)
    return "FP8 attention needs GEMMs in FP8 with one scale per tensor (compute = fp8)";
  Design on = d;
  on.workload.fp8_attention = true;
  return when(!runs_fp8_attention(on), "blocks that move round a ring stay in the data type");
}
std::string not_selective(const Design& d) {
  return when(d.workload.recompute != Recompute::Selective, "only selective recompute has modules");
}
template <int what>
std::string not_full(const Design& d) {
  return when(d.workload.recompute != Recompute::Full,
              what == 0 ? "only full recompute has a method" : "only full recompute has a number of layers");
}
std::string full_recompute(const Design& d) {
  return when(d.workload.recompute == Recompute::Full, "full recompute saves only the inputs of layers");
}
std::string checkpoints(const Design& d) {
  if (d.workload.recompute != Recompute::Full) return "only full recompute saves the inputs of layers";
  if (std::string none = no_tp(d); !none.empty()) return none;
  return when(d.parallel.sequence_parallel, "sequence parallelism already splits the input of layers");
}
std::string no_offload(const Design& d) {
  return when(!d.workload.offload_optimizer, "the device updates all parameters (offload_optimizer off)");
}
std::string fused_gradients(const Design& d) {
  const KernelProfile* profile = ModelLibrary::instance().profile(d.workload.profile);
  return when(profile && !profile->fuses_weight_gradients(),
              "the kernel profile allocates weight gradients in any case");
}
std::string formats(const Design& d) {
  return when(trains(d), "training stores weights in the data type and multiplies them in GEMM precision");
}
std::string quantized_params(const Design& d) {
  if (!is_quantized(compute_dtype(d.workload))) return "GEMMs do not quantize weights";
  return when(no_replicas(d).empty() && !megatron(d),
              "only Megatron's gradient sync (ddp-flat, distributed-optimizer) stores quantized parameters");
}
std::string transposed(const Design& d) {
  return when(d.workload.compute != ComputePrecision::FP8,
              "only GEMMs in FP8 with one scale per tensor may need a transposed copy of the weights");
}
std::string master(const Design& d) {
  if (d.parallel.sync == SyncStrategy::Fsdp1 && no_replicas(d).empty()) return "FSDP stores float32 shards";
  return when(d.workload.dtype == DType::FP32, "parameters are already float32");
}

// The rule of a knob: the reason why the knob has no effect. noted: whether validate() notes a changed value
// without effect; `wanted` then names the settings under which the knob has an effect. Other knobs get no
// note, because they often gain and lose their effect while a person tries degrees and policies.
struct Rule {
  const char* knob;
  std::string (*why)(const Design&);
  bool noted = false;
  const char* wanted = "";
  const char *other = "", *value = "";  // a setting that is offered as a fix
};
constexpr Rule kRules[] = {
    {"head_dim", head_size},
    {"residual_block_layers", residual_blocks, true},
    {"positions", positions, true},
    {"window", window, true},
    {"attention_chunk", chunk, true},
    {"ssm_expand", expansion},
    {"ssm_state_dtype", mixer_state, true},
    {"mtp_layers", mtp, true},
    {"experts", experts},
    {"experts_per_token", experts},
    {"expert_ffn", experts},
    {"expert_groups", expert_groups},
    {"groups_per_token", expert_groups},
    {"shared_experts", shared_experts},
    {"dense_layers", dense_layers},
    {"ep", experts},
    {"etp", experts},
    {"dispatcher", experts},
    {"dispatch_sms", overlapped_experts},
    {"ep_comm_overlap", paired_exchanges, true,
     "ep of at least 2 under 1f1b, with virtual stages where pp is more than 1, and ddp-flat or "
     "distributed-optimizer"},
    {"shared_expert_overlap", overlapped_shared_experts, true,
     "a model with shared experts, ep of at least 2 and the dispatcher alltoall or flex, without overlapped "
     "passes"},
    {"cuda_graphs", graphs, true, "a model with the captured module"},
    {"dispatch_dtype", no_ep, true, "ep of at least 2"},
    {"capacity_factor", experts},
    {"pad_to_capacity", experts},
    {"load_imbalance", experts},
    {"images", tower, true, "a model with a vision tower"},
    {"image_size", images},
    {"frames", images},
    {"vision_training", images},
    {"vision_parallel", tower_split},
    {"vision_stage", vision_stage},
    {"vision_recompute", vision_recompute},
    {"context", context},
    {"ulysses_degree", ulysses_degree, true, "cp of at least 2 with ulysses-ring or ulysses-zigzag"},
    {"dcp", heads_over_tp, true, "decode with tp of at least 2"},
    {"sequence_parallel", no_tp, true, "tp of at least 2"},
    {"virtual_stages", no_pp},
    {"forwards_first", forwards_first, true, "1f1b with virtual stages and without ep_comm_overlap"},
    {"microbatch_group", groups},
    {"pass_times", pass_plan},
    {"most_in_flight", pass_plan},
    {"waiting_percent", pass_plan},
    {"stage_layers", no_pp},
    {"account_for_embedding_in_pipeline_split", even_stages},
    {"account_for_loss_in_pipeline_split", even_stages},
    {"scatter_gather_pipeline", messages, true, "pp and tp of at least 2 without sequence parallelism"},
    {"sync", no_replicas, true, "dp of at least 2"},
    {"overlap_grad_reduce", overlap, true,
     "the gradient sync ddp-flat or distributed-optimizer over dp of at least 2"},
    {"overlap_param_gather", param_gather, true,
     "the gradient sync distributed-optimizer with overlapped grad reduce over dp of at least 2"},
    {"tp_comm_overlap", tp_pieces, true, "tp of at least 2 with sequence parallelism"},
    {"tp_comm_overlap_rs_dgrad", frozen_pieces, true, "tp_comm_overlap, and lora_rank of at least 1"},
    {"reduce_every_microbatch", every_microbatch, true,
     "the gradient sync ddp-buckets, fsdp1 or fsdp2 over dp of at least 2"},
    {"reshard_after_forward", reshard, true, "the gradient sync fsdp1 or fsdp2 over dp of at least 2"},
    {"reshard_after_backward", reshard_backward, true,
     "the gradient sync fsdp2 or megatron-fsdp over dp of at least 2"},
    {"average_loss", no_replicas, true, "dp of at least 2"},
    {"dp_shard", sharding_group},
    {"bucket_cap_mb", ddp_bucket},
    {"first_bucket_mb", ddp_bucket},
    {"ddp_bucket_size", megatron_bucket},
    {"zero_reduce_bucket_size", zero},
    {"zero_allgather_bucket_size", zero_gather},
    {"stage3_prefetch_bucket_size", zero_3},
    {"stage3_param_persistence_threshold", zero_3},
    {"stage3_max_live_parameters", zero_3},
    {"stage3_max_reuse_distance", zero_3},
    {"fp8_params", quantized_params, true,
     "a quantized compute, and the gradient sync ddp-flat or distributed-optimizer"},
    {"transposed_weights", transposed},
    {"gradient_accumulation_fusion", fused_gradients, true,
     "the kernel profile megatron-core-te, megatron-core-te-fused-loss or megatron-2022", "profile",
     "megatron-core-te"},
    {"master_weights", master, true},
    {"optimizer", no_muon, true,
     "no adapters, and the gradient sync ddp-flat, ddp, distributed-optimizer, zero-0, zero-1 or zero-2"},
    {"packed_length", no_packing, true, "a length below seq, with dense attention in fused kernels"},
    {"optimizer_offload_fraction", no_offload, true, "offload_optimizer on", "offload_optimizer", "true"},
    {"weight_formats", formats, true, "mode prefill or decode", "mode", "prefill"},
    {"activation_cache", full_recompute, true, "recompute none or selective", "recompute", "none"},
    {"lora_modules", no_lora, true, "lora_rank of at least 1"},
    {"lora_packed", no_lora, true, "lora_rank of at least 1"},
    {"lora_dropout", no_lora, true, "lora_rank of at least 1"},
    {"frozen_dtype", no_frozen_type, true,
     "lora_rank of at least 1, compute storage, and a gradient sync that keeps parameters whole"},
    {"fp8_attention", no_fp8_attention, true, "compute fp8, and no ring", "compute", "fp8"},
    {"recompute_modules", not_selective, true, "recompute selective", "recompute", "selective"},
    {"recompute_method", not_full<0>, true, "recompute full", "recompute", "full"},
    {"recompute_num_layers", not_full<1>, true, "recompute full", "recompute", "full"},
    {"scaleup_domain", no_links},
    {"scaleup_bandwidth", no_scaleup},
    {"scaleup_latency", no_scaleup},
    {"nic_bandwidth", no_network},
    {"network_latency", no_network},
    {"spine_latency", no_spine},
    {"rails", no_network},
    {"oversubscription", no_network},
    {"pod_size", no_pods},
    {"in_network_reduction", no_links},
    {"collective_algorithm", no_links},
    {"tp_max_ctas", no_tp_ctas},
    {"cp_max_ctas", no_cp_ctas},
    {"dp_max_ctas", no_dp_ctas},
    {"checkpoint_interval", no_run},
    {"batch_ramp_start", no_run},
    {"batch_ramp_increment", no_ramp},
    {"batch_ramp_samples", no_ramp},
    {"failure_rate", no_run},
    {"restart_time", no_run},
    {"checkpoint_bandwidth", no_run},
    {"distribute_saved_activations", checkpoints, true,
     "full recompute with tp of at least 2 and no sequence parallelism"},
};

const Rule* rule_of(std::string_view knob) {
  const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                 [&](const Rule& r) { return knob == r.knob; });
  return rule == std::end(kRules) ? nullptr : rule;
}

}  // namespace

namespace {

std::string why_idle(const Design& design, const std::string& id, const Rule* rule) {
  std::string why = idle_in_mode(design, id);
  if (why.empty()) why = rule ? rule->why(design) : missing_size(design, id);
  // The parts of an unknown architecture are unknown, too.
  return why.empty() || ModelLibrary::instance().architecture(design.model.architecture) ? why : "";
}

}  // namespace

std::optional<std::string> without_effect(const Design& design, const Knob& knob) {
  std::string why = why_idle(design, knob.id, rule_of(knob.id));
  return why.empty() ? std::nullopt : std::optional(std::move(why));
}

NoEffectTest no_effect_test(const Knob& knob) {
  return [id = knob.id, rule = rule_of(knob.id)](const Design& design) {
    return !why_idle(design, id, rule).empty();
  };
}

std::optional<std::string> impossible_choice(const Design& design, const Knob& knob,
                                             const std::string& value) {
  Design tried = design;
  if (const std::optional<Problem> problem = set_knob(tried, knob, value)) return problem->what;
  const std::vector<Problem> before = validate(design);
  for (const Problem& problem : validate(tried)) {
    const auto same = [&](const Problem& p) {
      return p.severity == Severity::Error && p.where == problem.where;
    };
    if (problem.severity == Severity::Error && std::none_of(before.begin(), before.end(), same))
      return problem.what;
  }
  return std::nullopt;
}

int64_t least_value(const Design& design, const Knob& knob) {
  if (knob.group != KnobGroup::Model) return knob.min;
  if (knob.id == model_size(&ModelSpec::block_layers).id)
    return residual_blocks(design).empty() ? 1 : knob.min;
  const ModelSize* size = partial_size(knob.id);
  if (size && size->member == &ModelSpec::ssm_expand && has_free_ssm_heads(design)) return knob.min;
  return size && size->part.needed && has_part(design, *size) ? 1 : knob.min;
}

namespace {

// Whether the value is the one of the design's preset or of an imported model: nobody has set it.
bool is_of_model(const Design& design, const Knob& knob) {
  if (knob.group != KnobGroup::Model) return false;
  if (design.model.preset.empty()) return knob.of_checkpoint;
  const Preset* preset = ModelLibrary::instance().preset(design.model.preset);
  if (!preset) return false;
  Design published = design;
  published.model = preset->model;
  return knob_text(published, knob) == knob_text(design, knob);
}

}  // namespace

void check_without_effect(Checks& checks) {
  struct Noted {
    const Knob* knob;
    const Rule* rule;          // nullptr: a size, noted if the architecture lacks its part
    std::string default_text;  // a default value gets no note
  };
  static const std::vector<Noted> noted = [] {
    std::vector<Noted> out;
    for (const Knob& knob : knobs()) {
      const Rule* rule = rule_of(knob.id);
      const bool size = partial_size(knob.id) != nullptr;
      if (size || (rule && rule->noted))
        out.push_back({&knob, rule && rule->noted ? rule : nullptr, knob_text(Design{}, knob)});
    }
    return out;
  }();
  const Design& design = checks.design;
  if (checks.first_only) return;  // only notes follow
  if (!checks.in_range({"tp", "pp", "dp", "cp"}) ||
      !ModelLibrary::instance().architecture(design.model.architecture))
    return;
  for (const auto& [knob, rule, default_text] : noted) {
    const std::string why = rule ? rule->why(design) : missing_size(design, knob->id);
    if (why.empty() || knob_text(design, *knob) == default_text || !checks.in_range({knob->id}) ||
        is_of_model(design, *knob))
      continue;
    std::vector<Fix> fixes;
    if (rule && *rule->other) fixes.push_back(set_to(rule->other, std::string(rule->value)));
    fixes.push_back(set_to(knob->id, default_text));
    const std::string accepted = default_text.empty()              ? "no value"
                                 : knob->type != KnobType::Boolean ? default_text
                                 : default_text == "true"          ? "on"
                                                                   : "off";
    checks.note(ProblemCode::ValueWithoutEffect, knob->id, why + "; the value has no effect",
                accepted + (rule && *rule->wanted ? std::string(", or ") + rule->wanted : ""),
                std::move(fixes));
  }
}

}  // namespace shardscape
