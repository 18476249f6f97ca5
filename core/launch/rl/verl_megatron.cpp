// The actor on Megatron-core: arguments of Megatron-LM.
#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/megatron_yaml.h"
#include "launch/megatron/model_arguments.h"
#include "launch/rl/verl_actor.h"

namespace shardscape {
namespace {

constexpr SettingAs kOn = SettingAs::On, kOff = SettingAs::Off;

// verl/trainer/config/engine/megatron.yaml, verl/trainer/config/optim/megatron.yaml
constexpr SettingRow kRows[] = {
    {"megatron.tensor_model_parallel_size", "--tensor-model-parallel-size"},
    {"megatron.pipeline_model_parallel_size", "--pipeline-model-parallel-size"},
    {"megatron.virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank"},
    {"megatron.context_parallel_size", "--context-parallel-size"},
    {"megatron.expert_model_parallel_size", "--expert-model-parallel-size"},
    {"megatron.expert_tensor_parallel_size", "--expert-tensor-parallel-size"},
    {"megatron.sequence_parallel", "--sequence-parallel", kOn},
    {"megatron.use_distributed_optimizer", "--use-distributed-optimizer", kOn},
    {"megatron.override_ddp_config.overlap_grad_reduce", "--overlap-grad-reduce", kOn},
    {"megatron.override_ddp_config.overlap_param_gather", "--overlap-param-gather", kOn},
    {"megatron.override_ddp_config.grad_reduce_in_fp32", "--grad-reduce-in-bf16", kOff},
    {"megatron.override_ddp_config.bucket_size", "--ddp-bucket-size"},
    {"optim.clip_grad", "--clip-grad"},
    {"optim.optimizer", "--optimizer"}};

// The states are back on the GPU when the actor trains (verl/workers/megatron_workers.py:738).
constexpr const char* kOffload[] = {"actor_rollout_ref.actor.megatron.param_offload",
                                    "actor_rollout_ref.actor.megatron.grad_offload",
                                    "actor_rollout_ref.actor.megatron.optimizer_offload"};
// Switches of Megatron-core's TransformerConfig that change no size.
constexpr const char* kCore[] = {
    "actor_rollout_ref.actor.megatron.forward_only",
    "actor_rollout_ref.actor.megatron.override_transformer_config.deallocate_pipeline_outputs",
    "actor_rollout_ref.actor.megatron.override_transformer_config.persist_layer_norm",
    "actor_rollout_ref.actor.megatron.override_transformer_config.bias_activation_fusion",
    "actor_rollout_ref.actor.megatron.override_transformer_config.variable_seq_lengths",
    "actor_rollout_ref.model.enable_gradient_checkpointing"};

constexpr const char* kEngine = "verl/trainer/config/engine/megatron.yaml";

std::string actor(const char* name) { return std::string(kVerlActor) + name; }

void precision(MegatronSettings& s) {
  const std::string name = actor("megatron.dtype"), type = s.text(name).value_or("bfloat16");
  if (type != "bfloat16" && type != "float16")
    s.misread(name, "\"" + type + "\" is not bfloat16 or float16");
  else if (s.has(name))
    s.put(type == "float16" ? "--fp16" : "--bf16", "true", name);
  else
    s.assume("--bf16", "true", kEngine);
}

void batch(MegatronSettings& s, const LaunchRequest& request, std::optional<int64_t> gpus) {
  const auto ranks = [&](const char* name) {
    return positive_number(s.argument(name).value_or("1")).value_or(1);
  };
  const int64_t cp = ranks("--context-parallel-size"),
                inner = capped_product(
                    {cp, ranks("--tensor-model-parallel-size"), ranks("--pipeline-model-parallel-size")}),
                all = request.gpus.value_or(gpus.value_or(0));
  const VerlBatch sizes = verl_batch(s.document().arguments, cp, all / inner);
  const std::string micro = actor("ppo_micro_batch_size_per_gpu"), dynamic = actor("use_dynamic_bsz"),
                    length = actor("ppo_max_token_len_per_gpu");
  s.derive("--seq-length", std::to_string(sizes.seq),
           "data.max_prompt_length + data.max_response_length, the longest sequence");
  s.derive("--global-batch-size", std::to_string(sizes.batch),
           "ppo_mini_batch_size x rollout.n, the sequences of an update");
  for (const std::string& name :
       {actor("ppo_mini_batch_size"), actor("ppo_micro_batch_size"),
        std::string("actor_rollout_ref.rollout.n"), std::string("data.max_prompt_length"),
        std::string("data.max_response_length"), dynamic, micro, length})
    (void)s.text(name);
  if (sizes.microbatch > 0)
    s.put("--micro-batch-size", std::to_string(sizes.microbatch), sizes.by_tokens ? length : micro);
  if (!sizes.by_tokens) return;
  s.unmapped(dynamic,
             "microbatches hold as many sequences as fit ppo_max_token_len_per_gpu x cp tokens; those of the "
             "design hold as many of the longest");
  const char* const unused[] = {micro.c_str()};
  s.no_effect(unused, true, "use_dynamic_bsz replaces it");
}

}  // namespace

void read_verl_megatron(LaunchDocument document, std::optional<int64_t> gpus, const std::string& gpus_from,
                        const LaunchRequest& request, LaunchImport& out) {
  MegatronSettings s("verl", std::move(document));
  const std::string core = actor("megatron.override_transformer_config.");
  s.translate(kVerlActor, kRows);
  s.translate(core, megatron_core_names());
  s.translate_dumped(core);
  s.translate_dumped(actor("optim.override_optimizer_config."));
  s.translate_dumped(actor("megatron.override_ddp_config."));
  precision(s);
  batch(s, request, gpus);
  for (const auto& [argument, value] : {std::pair{"--use-distributed-optimizer", "true"},
                                        {"--sequence-parallel", "true"},
                                        {"--moe-token-dispatcher-type", "alltoall"}})
    s.assume(argument, value, kEngine);
  s.assume("--clip-grad", "1.0", "verl/trainer/config/optim/megatron.yaml");
  for (const char* dropout : {"--hidden-dropout", "--attention-dropout"})
    s.assume(dropout, "0.0", "verl/models/mcore/config_converter.py:61");
  s.no_effect(kOffload, true, "the states are back on the GPU when the actor trains");
  const std::string model = std::string(kVerlModel) + "path";
  if (!use_model_arguments(request, s, s.text(model).value_or(""), out)) return;
  for (const VerlChange& change : verl_changes())
    if (changes(change, s.document().arguments)) s.unmapped(change.name, change.reason);
  for (const char* rank : {"actor_rollout_ref.model.lora_rank", "actor_rollout_ref.model.lora.rank"})
    if (positive_number(s.text(rank).value_or("0")))
      s.unmapped(rank, "adapters of Megatron-Bridge are not read");
  s.no_effect(kCore);
  s.no_effect(verl_no_effect());
  s.finish(request, gpus, gpus_from, out);
}

}  // namespace shardscape
