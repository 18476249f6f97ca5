#include "launch/bridge/bridge_settings.h"

#include "launch/megatron/megatron_yaml.h"

namespace shardscape {
namespace {

constexpr SettingAs kOn = SettingAs::On, kOff = SettingAs::Off;

constexpr SettingRow kModel[] = {{"vocab_size", "--vocab-size"},
                                 {"cross_entropy_loss_fusion", "--cross-entropy-loss-fusion", kOn},
                                 {"moe_flex_dispatcher_backend", "--moe-flex-dispatcher-backend"},
                                 {"cuda_graph_scope", "--cuda-graph-scope"},
                                 {"cuda_graph_modules", "--cuda-graph-scope"},
                                 {"tp_comm_overlap", "--tp-comm-overlap", kOn}};

constexpr SettingRow kOthers[] = {
    {"train.global_batch_size", "--global-batch-size"},
    {"train.micro_batch_size", "--micro-batch-size"},
    {"dataset.seq_length", "--seq-length"},
    {"dataset.sequence_length", "--seq-length"},
    {"ddp.use_distributed_optimizer", "--use-distributed-optimizer", kOn},
    {"ddp.overlap_grad_reduce", "--overlap-grad-reduce", kOn},
    {"ddp.overlap_param_gather", "--overlap-param-gather", kOn},
    {"ddp.grad_reduce_in_fp32", "--grad-reduce-in-bf16", kOff},
    {"ddp.bucket_size", "--ddp-bucket-size"},
    {"ddp.num_distributed_optimizer_instances", "--num-distributed-optimizer-instances"},
    {"ddp.use_megatron_fsdp", "--use-megatron-fsdp", kOn},
    {"ddp.use_custom_fsdp", "--use-custom-fsdp", kOn},
    {"ddp.data_parallel_sharding_strategy", "--data-parallel-sharding-strategy"},
    {"ddp.fp8_param_gather", "--fp8-param-gather", kOn},
    {"ddp.fsdp_double_buffer", "--fsdp-double-buffer", kOn},
    {"dist.use_tp_pp_dp_mapping", "--use-tp-pp-dp-mapping", kOn},
    {"dist.use_megatron_fsdp", "--use-megatron-fsdp", kOn},
    {"dist.use_torch_fsdp2", "--use-torch-fsdp2", kOn},
    {"optimizer.use_distributed_optimizer", "--use-distributed-optimizer", kOn},
    {"optimizer.optimizer", "--optimizer"},
    {"optimizer.clip_grad", "--clip-grad"},
    {"optimizer.use_precision_aware_optimizer", "--use-precision-aware-optimizer", kOn},
    {"optimizer.main_grads_dtype", "--main-grads-dtype"},
    {"optimizer.main_params_dtype", "--main-params-dtype"},
    {"optimizer.exp_avg_dtype", "--exp-avg-dtype"},
    {"optimizer.exp_avg_sq_dtype", "--exp-avg-sq-dtype"},
    {"optimizer.optimizer_cpu_offload", "--optimizer-cpu-offload", kOn},
    {"optimizer.optimizer_offload_fraction", "--optimizer-offload-fraction"},
    {"comm_overlap.tp_comm_overlap", "--tp-comm-overlap", kOn},
    {"comm_overlap.overlap_grad_reduce", "--overlap-grad-reduce", kOn},
    {"comm_overlap.overlap_param_gather", "--overlap-param-gather", kOn},
    {"comm_overlap.overlap_moe_expert_parallel_comm", "--overlap-moe-expert-parallel-comm", kOn},
    {"comm_overlap.delay_wgrad_compute", "--delay-wgrad-compute", kOn},
    {"mixed_precision.bf16", "--bf16", kOn},
    {"mixed_precision.fp16", "--fp16", kOn},
    {"mixed_precision.grad_reduce_in_fp32", "--grad-reduce-in-bf16", kOff},
    {"mixed_precision.fp8", "--fp8-format"},
    {"mixed_precision.fp8_recipe", "--fp8-recipe"},
    {"mixed_precision.fp8_param_gather", "--fp8-param-gather", kOn},
    {"mixed_precision.first_last_layers_bf16", "--first-last-layers-bf16", kOn},
    {"mixed_precision.fp4", "--fp4-format"},
    {"mixed_precision.fp4_recipe", "--fp4-recipe"},
    {"tokenizer.vocab_size", "--vocab-size"},
    {"tokenizer.tokenizer_type", "--tokenizer-type"}};

constexpr const char* kNoEffect[] = {"_target_",
                                     "*._target_",
                                     "checkpoint.*",
                                     "logger.*",
                                     "profiling.*",
                                     "scheduler.*",
                                     "validation.*",
                                     "rng.*",
                                     "rerun_state_machine.*",
                                     "straggler.*",
                                     "nvrx_straggler.*",
                                     "ft.*",
                                     "inprocess_restart.*",
                                     "env_vars.*",
                                     "dist.*",
                                     "dataset.*",
                                     "tokenizer.*",
                                     "train.*",
                                     "optimizer.*",
                                     "tensor_inspect.*",
                                     "peft",
                                     "optimizer_config_override_provider*",
                                     "mixed_precision.*",
                                     "model.generation_config*",
                                     "model._target_",
                                     "model.*_dtype*",
                                     "model.*_init_*",
                                     "model.init_method*",
                                     "model.output_layer_init_method*",
                                     "model.layernorm_*",
                                     "model.rotary_base",
                                     "model.perform_initialization",
                                     "model.use_cpu_initialization",
                                     "model.timers",
                                     "model.finalize_*",
                                     "model.grad_*",
                                     "model.no_sync_func",
                                     "model.param_sync_func",
                                     "model.moe_aux_loss_coeff",
                                     "model.transformer_layer_spec*",
                                     "model.seq_len_interpolation_factor",
                                     "model.hf_model_id",
                                     "model.activation_func*",
                                     "model.bias_*",
                                     "model.masked_softmax_fusion",
                                     "model.persist_layer_norm",
                                     "model.deallocate_pipeline_outputs",
                                     "model.batch_p2p_*",
                                     "model.overlap_p2p_comm",
                                     "model.moe_token_drop_policy",
                                     "model.autocast_*",
                                     "model.enable_autocast",
                                     "model.scatter_*",
                                     "model.should_pad_vocab",
                                     "model.parallel_output",
                                     "model.async_tensor_model_parallel_allreduce",
                                     "ddp.*",
                                     "comm_overlap.*"};

// Names of mixed_precision (training/mixed_precision.py): format, recipe, weights in FP8, first and last
// layers in bf16.
struct Precision {
  const char *name, *format, *recipe;
  bool gathered, ends_in_bf16;
};
constexpr Precision kPrecisions[] = {
    {"mixed", "", "", false, false},
    {"with_fp8_delayed_scaling_mixed", "hybrid", "delayed", true, false},
    {"with_fp8_current_scaling_mixed", "hybrid", "tensorwise", true, true},
    {"with_mxfp8_mixed", "e4m3", "mxfp8", true, false},
    {"with_fp8_subchannel_scaling_mixed", "hybrid", "blockwise", false, false},
    {"with_nvfp4_mixed", "e2m1", "nvfp4", false, false}};

void named_precision(MegatronSettings& settings) {
  const char* const setting = "mixed_precision";
  const auto name = settings.text(setting);
  if (!name) return;
  const bool half = name->starts_with("fp16_");
  for (const Precision& one : kPrecisions) {
    if (*name != (half ? "fp16_" : "bf16_") + std::string(one.name)) continue;
    settings.put(half ? "--fp16" : "--bf16", "true", setting);
    settings.put("--grad-reduce-in-bf16", "false", setting);  // replaces that of ddp
    settings.put("--fp8-param-gather", one.gathered ? "true" : "false", setting);
    if (!*one.format) return;
    const bool four = std::string(one.recipe) == "nvfp4";
    settings.put(four ? "--fp4-format" : "--fp8-format", one.format, setting);
    settings.put(four ? "--fp4-recipe" : "--fp8-recipe", one.recipe, setting);
    if (one.ends_in_bf16) settings.put("--first-last-layers-bf16", "true", setting);
    return;
  }
  settings.misread(setting, "\"" + *name + "\" is no mixed precision of Megatron-Bridge that is known here");
}

// "silu" in an override; a mapping with _target_ in a run_config.yaml.
void activation(MegatronSettings& settings) {
  const bool gated = settings.on("model.gated_linear_unit");
  auto name = settings.text("model.activation_func");
  std::string from = "model.activation_func";
  if (!name || name->empty()) {
    from = "model.activation_func._target_";
    name = settings.text(from);
  }
  if (!name) return;
  const auto has = [&](const char* word) { return name->find(word) != std::string::npos; };
  settings.put("--swiglu", gated && has("silu") ? "true" : "false", "model.gated_linear_unit");
  if (has("squared_relu")) settings.put("--squared-relu", "true", from);
  if (gated && !has("silu")) settings.unmapped(from, "a gate with \"" + *name + "\" is not SwiGLU");
  if (!gated && has("silu")) settings.unmapped(from, "silu is known only with gated_linear_unit");
}

}  // namespace

void translate_bridge_settings(MegatronSettings& s) {
  s.translate("model.", megatron_core_names());
  s.translate("model.", kModel);
  activation(s);
  if (const auto groups = s.text("model.num_query_groups")) {
    s.put("--group-query-attention", "true", "model.num_query_groups");
    s.put("--num-query-groups", *groups, "model.num_query_groups");
  }
  if (s.on("model.use_te_rng_tracker")) s.text("model.use_te_rng_tracker");
  s.translate("", kOthers);
  named_precision(s);
  s.translate_dumped("model.");
  s.no_effect(kNoEffect);
}

void derive_bridge_positions(MegatronSettings& s) {
  if (const auto length = s.argument("--seq-length"))
    s.derive("--max-position-embeddings", *length, "the sequence length (models/gpt_provider.py:298)");
}

}  // namespace shardscape
