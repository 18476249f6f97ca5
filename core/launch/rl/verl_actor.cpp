#include "launch/rl/verl_actor.h"

#include <algorithm>

#include "design/limits.h"
#include "launch/launch_parts.h"

namespace shardscape {
namespace {

constexpr const char* kVerlWithoutEffect[] = {
    "algorithm.*",
    "critic.*",
    "custom_reward_function.*",
    "data.*",
    "defaults*",
    "env.*",
    "global_profiler.*",
    "hydra.*",
    "ray_*",
    "reward*",
    "trainer.*",
    "transfer_queue.*",
    "_target_",
    "model_engine",
    "actor_rollout_ref.hybrid_engine",
    "actor_rollout_ref.nccl_timeout",
    "actor_rollout_ref.ref.*",
    "actor_rollout_ref.rollout.*",
    "actor_rollout_ref.actor._target_",
    "actor_rollout_ref.actor.checkpoint.*",
    "actor_rollout_ref.actor.clip_ratio*",
    "actor_rollout_ref.actor.data_loader_seed",
    "actor_rollout_ref.actor.fsdp_config._target_",
    "actor_rollout_ref.actor.fsdp_config.mixed_precision.buffer_dtype",
    "actor_rollout_ref.actor.fsdp_config.seed",
    "actor_rollout_ref.actor.fsdp_config.use_orig_params",
    "actor_rollout_ref.actor.kl_loss_coef",
    "actor_rollout_ref.actor.kl_loss_type",
    "actor_rollout_ref.actor.load_weight",
    "actor_rollout_ref.actor.loss_agg_mode",
    "actor_rollout_ref.actor.loss_scale_factor",
    "actor_rollout_ref.actor.megatron._target_",
    "actor_rollout_ref.actor.megatron.dist_checkpointing*",
    "actor_rollout_ref.actor.megatron.seed",
    "actor_rollout_ref.actor.megatron.use_dist_checkpointing",
    "actor_rollout_ref.actor.megatron.use_mbridge",
    "actor_rollout_ref.actor.megatron.vanilla_mbridge",
    "actor_rollout_ref.actor.optim._target_",
    "actor_rollout_ref.actor.optim.betas",
    "actor_rollout_ref.actor.optim.lr*",
    "actor_rollout_ref.actor.optim.min_lr*",
    "actor_rollout_ref.actor.optim.num_cycles",
    "actor_rollout_ref.actor.optim.optimizer_impl",
    "actor_rollout_ref.actor.optim.total_training_steps",
    "actor_rollout_ref.actor.optim.use_checkpoint_opt_param_scheduler",
    "actor_rollout_ref.actor.optim.warmup_style",
    "actor_rollout_ref.actor.optim.weight_decay*",
    "actor_rollout_ref.actor.policy_loss.*",
    "actor_rollout_ref.actor.ppo_epochs",
    "actor_rollout_ref.actor.profiler.*",
    "actor_rollout_ref.actor.rollout_n",
    "actor_rollout_ref.actor.shuffle",
    "actor_rollout_ref.actor.tau_*",
    "actor_rollout_ref.actor.use_kl_loss",
    "actor_rollout_ref.model._target_",
    "actor_rollout_ref.model.custom_chat_template",
    "actor_rollout_ref.model.external_lib",
    "actor_rollout_ref.model.fused_kernel_options.*",
    "actor_rollout_ref.model.hf_config_path",
    "actor_rollout_ref.model.lora_adapter_path",
    "actor_rollout_ref.model.lora.*",
    "actor_rollout_ref.model.lora_alpha",
    "actor_rollout_ref.model.override_config.max_position_embeddings",
    "actor_rollout_ref.model.override_config.model_config.max_position_embeddings",
    "actor_rollout_ref.model.tokenizer_path",
    "actor_rollout_ref.model.trust_remote_code",
    "actor_rollout_ref.model.use_shm"};

constexpr const char* kShorter =
    "padding is removed, so that steps have fewer tokens; all sequences of the design are as long as the "
    "longest prompt and response";

constexpr VerlChange kChanges[] = {
    {"actor_rollout_ref.rollout.free_cache_engine", "true",
     "the engine of rollouts keeps its weights and cache on the GPU, next to the actor"},
    {"actor_rollout_ref.actor.entropy_coeff", "0",
     "the entropy of all logits is computed, which the design does not count"},
    {"actor_rollout_ref.actor.calculate_entropy", "false",
     "the entropy of all logits is computed, which the design does not count"},
    {"actor_rollout_ref.actor.use_prefix_grouper", "false", "prompts of a group are computed once"},
    {"actor_rollout_ref.actor.router_replay.mode", "disabled", "routers take experts of the rollout"},
    {"actor_rollout_ref.actor.freeze_vision_tower", "false",
     "the design of a vision model says this as vision_training"},
    {"actor_rollout_ref.model.use_remove_padding", "false", kShorter},
    {"actor_rollout_ref.actor.megatron.use_remove_padding", "false", kShorter},
    {"actor_rollout_ref.model.use_fused_kernels", "false",
     "the fused kernel of head and loss has no setting"},
    {"actor_rollout_ref.model.use_liger", "false", "the fused kernels of Liger have no profile"},
    {"actor_rollout_ref.model.tiled_mlp.enabled", "false", "an MLP in tiles of tokens has no setting"},
    {"actor_rollout_ref.model.enable_activation_offload", "false",
     "the saved inputs of layers leave the GPU"},
    {"actor_rollout_ref.model.mtp.enable", "false", "heads of further tokens are not in the design"}};

std::string text_of(const LaunchArguments& arguments, const std::string& name, const std::string& otherwise) {
  const auto it = arguments.find(name);
  return it == arguments.end() || it->second == "null" ? otherwise : it->second;
}

int64_t number_of(const LaunchArguments& arguments, const std::string& name, int64_t otherwise) {
  return positive_number(text_of(arguments, name, "")).value_or(otherwise);
}

}  // namespace

VerlBatch verl_batch(const LaunchArguments& arguments, int64_t cp, int64_t dp) {
  const std::string actor = kVerlActor;
  const auto number = [&](const std::string& name, int64_t otherwise) {
    return std::min<int64_t>(number_of(arguments, name, otherwise), 1'000'000'000);
  };
  VerlBatch out;
  // verl/trainer/config/data/legacy_data.yaml
  out.seq = number("data.max_prompt_length", 512) + number("data.max_response_length", 512);
  out.batch = number(actor + "ppo_mini_batch_size", 256) * number("actor_rollout_ref.rollout.n", 1);
  out.by_tokens = text_of(arguments, actor + "use_dynamic_bsz", "false") == "true";
  if (out.by_tokens) {
    // verl/workers/actor/dp_actor.py:552, verl/workers/actor/megatron_actor.py:806
    const int64_t tokens = capped_product(
        {number(actor + "ppo_max_token_len_per_gpu", 16384), std::max<int64_t>(cp, 1)});
    out.microbatch = std::max<int64_t>(tokens / out.seq, 1);
    const int64_t replica = dp > 0 ? out.batch / dp : 0;
    if (replica > 0) out.microbatch = std::min(out.microbatch, replica);
    // Designs have no larger batch.
    while (replica > 0 && replica <= kMaxBatch && replica % out.microbatch != 0) --out.microbatch;
    return out;
  }
  out.microbatch = number(actor + "ppo_micro_batch_size_per_gpu", 0);
  const int64_t all = number(actor + "ppo_micro_batch_size", 0);
  if (out.microbatch == 0 && all > 0 && dp > 0) out.microbatch = std::max<int64_t>(all / dp, 1);
  return out;
}

std::vector<const char*> verl_no_effect() {
  std::vector<const char*> out(std::begin(kVerlWithoutEffect), std::end(kVerlWithoutEffect));
  for (const VerlChange& change : kChanges) out.push_back(change.name);
  return out;
}

std::span<const VerlChange> verl_changes() { return kChanges; }

bool changes(const VerlChange& change, const LaunchArguments& arguments) {
  const std::string text = text_of(arguments, change.name, change.usual);
  const bool zero = std::string_view(change.usual) == "0" &&
                    text.find_first_not_of("0.") == std::string::npos;
  return text != change.usual && !zero && !text.starts_with("${");
}

}  // namespace shardscape
