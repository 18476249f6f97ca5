// Settings of NeMo 1 (NVIDIA/NeMo 1.23 to 2.0rc, nemo/collections/nlp/models/language_modeling), as arguments
// of Megatron-LM. NeMo hands most of them to Megatron-core's TransformerConfig unchanged.
#include "launch/nemo/nemo_launch.h"

#include <algorithm>
#include <tuple>

#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/model_arguments.h"
#include "launch/nemo/interpolation.h"

namespace shardscape {
namespace {

constexpr SettingAs kNemoOn = SettingAs::On, kOff = SettingAs::Off;

constexpr SettingRow kNemoRows[] = {
    {"num_layers", "--num-layers"},
    {"hidden_size", "--hidden-size"},
    {"num_attention_heads", "--num-attention-heads"},
    {"ffn_hidden_size", "--ffn-hidden-size"},
    {"kv_channels", "--kv-channels"},
    {"bias", "--disable-bias-linear", kOff},
    {"rotary_percentage", "--rotary-percent"},
    {"share_embeddings_and_output_weights", "--untie-embeddings-and-output-weights", kOff},
    {"encoder_seq_length", "--seq-length"},
    {"max_position_embeddings", "--max-position-embeddings"},
    {"num_moe_experts", "--num-experts"},
    {"virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank"},
    {"activations_checkpoint_granularity", "--recompute-granularity"},
    {"activations_checkpoint_method", "--recompute-method"},
    {"activations_checkpoint_num_layers", "--recompute-num-layers"},
    {"ub_tp_comm_overlap", "--tp-comm-overlap", kNemoOn},
    {"gradient_accumulation_fusion", "--no-gradient-accumulation-fusion", kOff},
    {"fp8_params", "--fp8-param-gather", kNemoOn},
    {"optim.overlap_grad_sync", "--overlap-grad-reduce", kNemoOn},
    {"optim.overlap_param_sync", "--overlap-param-gather", kNemoOn},
    {"optim.ddp_bucket_size", "--ddp-bucket-size"},
    {"tp_comm_overlap_ag", "--disable-tp-comm-overlap-ag", kOff},
    {"tp_comm_overlap_rs", "--disable-tp-comm-overlap-rs", kOff},
    {"defer_embedding_wgrad_compute", "--defer-embedding-wgrad-compute", kNemoOn},
    {"overlap_moe_expert_parallel_comm", "--overlap-moe-expert-parallel-comm", kNemoOn},
    {"use_tp_pp_dp_mapping", "--use-tp-pp-dp-mapping", kNemoOn}};

constexpr const char* kNoEffect[] = {"run.*", "exp_manager.*",     "hydra.*", "defaults*",    "trainer.*",
                                     "name",  "restore_from_path", "target",  "nemo_version", "training.*"};

constexpr const char* kModelNoEffect[] = {"mcore_gpt",
                                          "seed",
                                          "pre_process",
                                          "post_process",
                                          "persist_layer_norm",
                                          "init_method_std",
                                          "use_scaled_init_method",
                                          "normalize_attention_scores",
                                          "scale_positional_embedding",
                                          "native_amp_*",
                                          "hysteresis",
                                          "layernorm_*",
                                          "do_layer_norm_weight_decay",
                                          "apply_query_key_layer_scaling",
                                          "nsys_profile.*",
                                          "optim.lr",
                                          "optim.betas*",
                                          "optim.eps",
                                          "optim.weight_decay",
                                          "optim.sched.*",
                                          "optim.amsgrad",
                                          "optim.contiguous_*",
                                          "data.*",
                                          "gc_interval",
                                          "onnx_safe",
                                          "apex_transformer_log_level",
                                          "resume_from_checkpoint",
                                          "use_cpu_initialization",
                                          "gradient_as_bucket_view",
                                          "sync_batch_comm",
                                          "reduce_amax",
                                          "tp_only_amax_red",
                                          "fp8_amax_*",
                                          "fp8_margin",
                                          "fp8_interval",
                                          "rotary_base",
                                          "seq_len_interpolation_factor",
                                          "moe_aux_loss_coeff",
                                          "ub_tp_comm_overlap_cfg",
                                          "wgrad_deferral_limit",
                                          "attention_type",
                                          "transformer_block_type",
                                          "tokenizer.*",
                                          "openai_gelu",
                                          "headscale",
                                          "target",
                                          "nemo_version",
                                          "mcore_customization_config.*",
                                          "fsdp_*",
                                          "use_emha",
                                          "save_nemo_on_validation_end",
                                          "restore_from_path",
                                          "answer_only_loss",
                                          "grad_allreduce_chunk_size_mb",
                                          "grad_div_ar_fusion",
                                          "get_attention_mask_from_fusion",
                                          "use_flash_attention",
                                          "batch_p2p_comm",
                                          "overlap_p2p_comm",
                                          "custom.*",
                                          "peft.lora_tuning.*",
                                          "tp_comm_disable_qkv",
                                          "nccl_communicator_config_path",
                                          "peft.restore_from_path"};

// Settings with a value that switches nothing on, and the reasons why another value has no counterpart.
struct Otherwise {
  const char *name, *usual, *reason;
};
constexpr Otherwise kOtherwise[] = {
    {"activations_checkpoint_layers_per_pipeline", "0",
     "the number of layers that run again is the same on all stages"},
    {"num_micro_batches_with_partial_activation_checkpoints", "0",
     "all microbatches run the same layers again"},
    {"fp32_residual_connection", "false", "residual sums have the data type"},
    {"fsdp", "false", "the FSDP of NeMo 1 is not modelled"},
    {"fp8_wgrad", "true", "weight gradients in bf16 under FP8 have no setting"},
    {"ffn_dropout", "0.0", "dropout inside the MLP is not modelled"},
    {"cpu_offloading", "false", "NeMo's offload of activations is not read"},
    {"sharp", "false", "in_network_reduction of the cluster says it"},
    {"masked_softmax_fusion", "*", ""},
    {"bias_activation_fusion", "*", ""},
    {"bias_dropout_add_fusion", "*", ""},
    {"apply_rope_fusion", "*", ""},
    {"fp16_lm_cross_entropy", "false", "the loss is computed in float32"}};

class NemoReader {
 public:
  NemoReader(const LaunchRequest& request, LaunchDocument document)
      : request_(request), s_("NeMo 1", std::move(document)) {
    m_ = s_.has("model.micro_batch_size") || s_.has("model.tensor_model_parallel_size") ? "model." : "";
  }

  void run(LaunchImport& out) {
    s_.translate(m_, kNemoRows);
    blocks();
    precision();
    optimizer();
    if (!s_.set("--num-layers") && !adapters(out)) return;
    tokenizer();
    const auto nodes = s_.text("trainer.num_nodes"), each = s_.text("trainer.devices");
    rest();
    s_.finish(request_, gpus_of(whole_number(nodes.value_or("")), whole_number(each.value_or(""))),
              "trainer.num_nodes x trainer.devices", out);
  }

 private:
  std::optional<std::string> text(const std::string& name) { return s_.text(m_ + name); }
  void put(const std::string& argument, const std::string& value, const std::string& name) {
    s_.put(argument, value, m_ + name);
  }

  void blocks() {
    const bool engine = MegatronSettings::is_true(text("transformer_engine").value_or("false"));
    s_.assume("--transformer-impl", "local", "");
    if (s_.has(m_ + "transformer_engine"))
      put("--transformer-impl", engine ? "transformer_engine" : "local", "transformer_engine");
    if (const auto groups = text("num_query_groups")) {
      put("--group-query-attention", "true", "num_query_groups");
      put("--num-query-groups", *groups, "num_query_groups");
    }
    const std::string norm = text("normalization").value_or("layernorm");
    const bool root = norm == "rmsnorm", usual = norm == "layernorm" || norm == "layernorm1p";
    if (s_.has(m_ + "normalization"))
      put("--normalization", root ? "RMSNorm" : usual ? "LayerNorm" : norm, "normalization");
    const std::string activation = text("activation").value_or("gelu");
    if (activation == "swiglu" || activation == "fast-swiglu")
      put("--swiglu", "true", "activation");
    else if (activation == "squared-relu")
      put("--squared-relu", "true", "activation");
    else if (activation != "gelu" && activation != "fast-gelu")
      s_.unmapped(m_ + "activation", "\"" + activation + "\" is not gelu, swiglu or squared-relu");
    if (!s_.set("--seq-length"))
      if (const auto length = text("data.seq_length")) put("--seq-length", *length, "data.seq_length");
  }

  void precision() {
    const bool in_trainer = s_.has("trainer.precision");
    const std::string name = in_trainer ? "trainer.precision" : m_ + "precision";
    const std::string precision = s_.text(name).value_or("32");
    if (precision.starts_with("bf16"))
      s_.put("--bf16", "true", name);
    else if (precision.starts_with("16"))
      s_.put("--fp16", "true", name);
    if (in_trainer && s_.has(m_ + "precision")) (void)text("precision");
    const bool sixteen = s_.set("--bf16") || s_.set("--fp16");
    const bool main_weights = s_.on(m_ + "megatron_amp_O2");
    if (sixteen && s_.has(m_ + "megatron_amp_O2") && !main_weights)
      s_.unmapped(m_ + "megatron_amp_O2", "without it, parameters are float32 and ops cast them");
    const bool fp8 = s_.on(m_ + "fp8");
    for (const auto& [setting, knob, value] :
         {std::tuple{"fp8_dot_product_attention", "fp8_attention", "true"},
          {"fp8_activation_input_store", "activation_cache", "fp8-inputs"},
          {"disable_parameter_transpose_cache", "transposed_weights", "false"}})
      if (s_.on(m_ + setting) && fp8) s_.knob(knob, value, m_ + setting);
    for (const char* format : {"fp8_hybrid", "fp8_e4m3"})
      if (s_.on(m_ + format) && fp8)
        put("--fp8-format", std::string(format) == "fp8_e4m3" ? "e4m3" : "hybrid", format);
    if (fp8) put("--fp8-recipe", "delayed", "fp8");
    if (fp8 && !s_.set("--fp8-format")) s_.misread(m_ + "fp8", "neither fp8_hybrid nor fp8_e4m3 is on");
    if (const auto clip = s_.text("trainer.gradient_clip_val"))
      s_.put("--clip-grad", *clip, "trainer.gradient_clip_val");
    s_.assume("--clip-grad", "0.0", "");
  }

  void optimizer() {
    const std::string name = text("optim.name").value_or("fused_adam");
    const bool distributed = name == "distributed_fused_adam" || name == "mcore_distributed_optim";
    if (distributed) put("--use-distributed-optimizer", "true", "optim.name");
    if (!distributed && name != "fused_adam" && name != "adam" && name != "adamw")
      put("--optimizer", name, "optim.name");
    const std::string sent = text("optim.grad_sync_dtype").value_or("fp32");
    if (sent == "bf16" || sent == "bfloat16") put("--grad-reduce-in-bf16", "true", "optim.grad_sync_dtype");
    if (s_.has(m_ + "optim.bucket_cap_mb"))
      s_.unmapped(m_ + "optim.bucket_cap_mb", "buckets of Apex, in MB, are not modelled");
  }

  // Adapters train a checkpoint, whose sizes the file does not say.
  bool adapters(LaunchImport& out) {
    if (!use_model_arguments(request_, s_, "", out)) return false;
    if (s_.text(m_ + "peft.peft_scheme").value_or("") != "lora") return true;
    const std::string at = m_ + "peft.lora_tuning.";
    s_.knob("lora_rank", s_.text(at + "adapter_dim").value_or("32"), at + "adapter_dim");
    const std::string modules = s_.text(at + "target_modules").value_or("attention_qkv");
    const bool attention = modules == "attention" || modules == "attention_qkv attention_dense";
    if (attention) s_.knob("lora_modules", "q,k,v,o", at + "target_modules");
    if (!attention) s_.unmapped(at + "target_modules", "\"" + modules + "\" is not attention");
    s_.knob("lora_packed", "true", at + "target_modules");
    s_.knob("lora_dropout",
            s_.text(at + "adapter_dropout").value_or("0.0").find_first_not_of("0.") != std::string::npos
                ? "true"
                : "false",
            at + "adapter_dropout");
    return true;
  }

  void tokenizer() {
    if (s_.set("--vocab-size") || s_.set("--padded-vocab-size")) return;
    for (const char* name : {"tokenizer.type", "tokenizer.model", "tokenizer.vocab_file"}) {
      const auto value = text(name);
      const int64_t entries = value ? tokenizer_entries(*value) : 0;
      if (entries == 0) continue;
      return put("--vocab-size", std::to_string(entries), name);
    }
    for (const char* name : {"tokenizer.type", "tokenizer.model"})
      if (s_.has(m_ + name))
        return s_.unmapped(m_ + name, "the file does not give the vocabulary; the design has that of GPT-2");
  }

  void rest() {
    for (const Otherwise& one : kOtherwise) {
      const auto value = text(one.name);
      if (!value) continue;
      const bool usual = *one.usual == '*' || *value == one.usual || (*value == "0" && one.usual[0] == '0');
      const std::vector<std::string> name{m_ + one.name};
      if (!usual) s_.unmapped(name[0], one.reason);
      const char* const pattern = name[0].c_str();
      if (usual) s_.no_effect({&pattern, 1}, true);
    }
    std::vector<std::string> names;
    for (const char* name : kModelNoEffect) names.push_back(m_ + name);
    for (const std::string& name : names) {
      const char* const pattern = name.c_str();
      s_.no_effect({&pattern, 1});
    }
    s_.translate_dumped(m_);
    s_.no_effect(kNoEffect);
  }

  const LaunchRequest& request_;
  MegatronSettings s_;
  std::string m_;  // "model.", or empty for the model's part alone
};

}  // namespace

bool is_nemo_launch(std::string_view text) {
  const auto says = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return says("tensor_model_parallel_size:") && says("pipeline_model_parallel_size:") &&
         (says("encoder_seq_length:") || says("megatron_amp_O2:")) && !says("_target_: megatron.bridge");
}

void read_nemo_launch(const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(DocumentLanguage::Yaml, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&read)) {
    out.problems.push_back(std::move(*problem));
    return;
  }
  LaunchDocument document = std::move(std::get<LaunchDocument>(read));
  interpolate(document, request.shell.environment);
  NemoReader(request, std::move(document)).run(out);
}

}  // namespace shardscape
