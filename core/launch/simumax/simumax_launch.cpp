#include "launch/simumax/simumax_launch.h"

#include <algorithm>
#include <filesystem>

#include "base/data_dir.h"
#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/model_arguments.h"

namespace shardscape {
namespace {

constexpr SettingAs kOn = SettingAs::On, kOff = SettingAs::Off;
constexpr const char* kSource = "simumax/core/config.py";

constexpr SettingRow kRows[] = {
    {"seq_len", "--seq-length"},
    {"micro_batch_size", "--micro-batch-size"},
    {"tp_size", "--tensor-model-parallel-size"},
    {"cp_size", "--context-parallel-size"},
    {"pp_size", "--pipeline-model-parallel-size"},
    {"ep_size", "--expert-model-parallel-size"},
    {"etp_size", "--expert-tensor-parallel-size"},
    {"cp_comm_type", "--cp-comm-type"},
    {"interleaving_size", "--num-virtual-stages-per-pipeline-rank"},
    {"microbatch_group_size_per_vp_stage", "--microbatch-group-size-per-virtual-pipeline-stage"},
    {"num_layers_in_first_pipeline_stage", "--decoder-first-pipeline-num-layers"},
    {"num_layers_in_last_pipeline_stage", "--decoder-last-pipeline-num-layers"},
    {"account_for_embedding_in_pipeline_split", "--account-for-embedding-in-pipeline-split", kOn},
    {"account_for_loss_in_pipeline_split", "--account-for-loss-in-pipeline-split", kOn},
    {"enable_sequence_parallel", "--sequence-parallel", kOn},
    {"grad_reduce_in_bf16", "--grad-reduce-in-bf16", kOn},
    {"overlap_grad_reduce", "--overlap-grad-reduce", kOn},
    {"cross_entropy_loss_fusion", "--cross-entropy-loss-fusion", kOn},
    {"use_fused_grad_accumulation", "--no-gradient-accumulation-fusion", kOff}};

// A model of SimuMax, under this prefix: ModelConfig.
constexpr const char* kModel = "model.";
constexpr SettingRow kModelRows[] = {
    {"hidden_size", "--hidden-size"},
    {"head_num", "--num-attention-heads"},
    {"head_size", "--kv-channels"},
    {"intermediate_size", "--ffn-hidden-size"},
    {"layer_num", "--num-layers"},
    {"vocab_size", "--vocab-size"},
    {"use_swiglu", "--swiglu", kOn},
    {"topk", "--moe-router-topk"},
    {"moe_ffn_hidden_size", "--moe-ffn-hidden-size"},
    {"moe_shared_expert_intermediate_size", "--moe-shared-expert-intermediate-size"},
    {"q_lora_rank", "--q-lora-rank"},
    {"kv_lora_rank", "--kv-lora-rank"},
    {"qk_head_dim", "--qk-head-dim"},
    {"qk_pos_emb_head_dim", "--qk-pos-emb-head-dim"},
    {"v_head_dim", "--v-head-dim"}};
constexpr const char* kModelNoEffect[] = {"model.model_type",      "model.model_name",
                                          "model.orig_vocab_size", "model.moe_pad_expert_input_to_capacity",
                                          "model.capacity",        "model.group_linear_mode"};

// How SimuMax estimates times and memory, and kernels that Megatron-LM has in any case.
constexpr const char* kNoEffect[] = {"tp_net",
                                     "cp_net",
                                     "pp_net",
                                     "dp_net",
                                     "ep_net",
                                     "etp_net",
                                     "edp_net",
                                     "mem_factor",
                                     "attention_sparse_ratio",
                                     "use_flash_sdp",
                                     "use_math_sdp",
                                     "use_fused_norm",
                                     "te_*",
                                     "enable_straggler_model",
                                     "cp_a2a_mode",
                                     "order_of_*",
                                     "pp_comm_async",
                                     "dispatch_probs",
                                     "use_accm_weight",
                                     "use_fused_swiglu",
                                     "recompute_variance"};

constexpr const char* kParts[] = {"attn_recompute", "mla_rms_recompute", "mlp_recompute",
                                  "mlp_rms_recompute"};

void recompute(MegatronSettings& s) {
  const std::string number = "recompute_layer_num", kind = "recompute_granularity",
                    modules = "megatron_recompute_modules";
  const bool enabled = s.text("enable_recompute").value_or("true") == "true";
  const int64_t stated = positive_number(s.text(number).value_or("0")).value_or(0),
                layers = enabled ? stated : 0;
  const std::string granularity = s.text(kind).value_or("");
  const std::string list = s.text(modules).value_or("");
  const bool megatron = s.on("megatron_recompute");
  const bool parts = layers > 0 && granularity == "selective_recompute" && !megatron;
  for (const char* part : kParts)
    if (s.on(part) && parts) s.unmapped(part, "the design does not run this part of a layer again");
  if (!parts) s.no_effect(kParts, true, "read with selective_recompute");
  if (layers == 0 || granularity.empty()) return;
  if (granularity == "full_block") {
    s.put("--recompute-granularity", "full", kind);
    s.put("--recompute-method", "block", kind);
    s.put("--recompute-num-layers", std::to_string(layers), number);
    return;
  }
  const bool core = granularity == "sdp_only";
  if (!core && !(megatron && !list.empty()))
    return s.unmapped(kind, "\"" + granularity + "\" runs other parts of a layer again than Megatron-LM can");
  s.put("--recompute-granularity", "selective", kind);
  s.put("--recompute-modules", core ? "core_attn" : list, core ? kind : modules);
  s.unmapped(number, "the first " + std::to_string(layers) +
                         " layers of a stage run these parts again; in the "
                         "design all layers do");
}

void precision(MegatronSettings& s) {
  const std::string type = s.text("dtype").value_or("bf16");
  if (type != "bf16" && type != "fp16" && type != "fp32")
    s.misread("dtype", "\"" + type + "\" is not bf16, fp16 or fp32");
  else if (type != "fp32")
    s.put(type == "bf16" ? "--bf16" : "--fp16", "true", "dtype");
  if (s.on("fp8")) {
    s.put("--fp8-format", "hybrid", "fp8");
    s.unmapped("fp8", "SimuMax does not say how many values share a scale; the design has one per tensor");
  }
  if (s.text("use_fp32_accum_grad").value_or("true") != "true")
    s.unmapped("use_fp32_accum_grad", "gradients of Megatron-LM are added in float32");
  const std::string dropout = s.on("enable_dropout") ? "0.1" : "0.0";
  s.put("--hidden-dropout", dropout, "enable_dropout");
  s.put("--attention-dropout", dropout, "enable_dropout");
}

void sharding(MegatronSettings& s) {
  const std::string stage = s.text("zero_state").value_or("1");
  if (stage != "0") s.put("--use-distributed-optimizer", "true", "zero_state");
  if (stage != "0" && stage != "1")
    s.unmapped("zero_state", "the design shards optimizer states alone, as stage 1 does");
  // all2all-seq is an old name of all2all (config.py:654).
  const std::string dispatch = "moe_dispatcher_policy", policy = s.text(dispatch).value_or("all2all");
  if (!policy.starts_with("all2all")) s.misread(dispatch, "\"" + policy + "\" is not all2all");
  s.put("--moe-token-dispatcher-type", "alltoall", dispatch);
}

void batch(MegatronSettings& s, int64_t gpus) {
  const auto number = [&](const char* name) {
    return positive_number(s.text(name).value_or("1")).value_or(1);
  };
  const int64_t inner = capped_product({number("tp_size"), number("cp_size"), number("pp_size")});
  const int64_t steps = number("micro_batch_num"), micro = number("micro_batch_size");
  s.put("--global-batch-size",
        std::to_string(capped_product({micro, steps, std::max<int64_t>(gpus / inner, 1)})),
        "micro_batch_num");
}

// The values of the model's file, if --model names one of SimuMax, join those of the strategy.
bool add_model(const LaunchRequest& request, LaunchDocument& document) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(request.model, ignored)) return false;
  const auto text = read_text(request.model);
  if (!std::holds_alternative<std::string>(text)) return false;
  const auto read = read_launch_document(DocumentLanguage::Json, std::get<std::string>(text), request.model);
  const auto* model = std::get_if<LaunchDocument>(&read);
  if (!model || !model->arguments.contains("head_num") || !model->arguments.contains("layer_num"))
    return false;
  for (const auto& [name, value] : model->arguments) document.arguments[kModel + name] = value;
  return true;
}

void model_sizes(MegatronSettings& s) {
  const auto number = [&](const char* name, int64_t otherwise) {
    return positive_number(s.text(kModel + std::string(name)).value_or("")).value_or(otherwise);
  };
  const bool latent = s.text("model.attention_type").value_or("mha") == "mla";
  const int64_t heads = number("head_num", 1), groups = number("kv_head_num", heads),
                experts = number("expert_num", 1), dense = number("dense_layers", 0),
                layers = number("layer_num", 1);
  s.translate(kModel, kModelRows);
  if (latent) s.put("--multi-latent-attention", "true", "model.attention_type");
  if (!latent && groups < heads) {
    s.put("--group-query-attention", "true", "model.kv_head_num");
    s.put("--num-query-groups", std::to_string(groups), "model.kv_head_num");
  }
  if (experts > 1) s.put("--num-experts", std::to_string(experts), "model.expert_num");
  if (experts > 1 && dense > 0 && dense < layers)
    s.put("--moe-layer-freq",
          "([0]*" + std::to_string(dense) + "+[1]*" + std::to_string(layers - dense) + ")",
          "model.dense_layers");
  for (const auto& [argument, value] : {std::pair{"--normalization", "RMSNorm"},
                                        {"--position-embedding-type", "rope"},
                                        {"--disable-bias-linear", "true"},
                                        {"--untie-embeddings-and-output-weights", "true"},
                                        {"--make-vocab-size-divisible-by", "128"}})
    s.assume(argument, value, kSource);
  s.no_effect(kModelNoEffect);
}

}  // namespace

bool is_simumax_launch(std::string_view text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  const bool strategy = has("\"micro_batch_num\"") && has("\"tp_size\"") && has("\"pp_size\"");
  const bool model = has("\"head_num\"") && has("\"layer_num\"") && has("\"hidden_size\"");
  const bool system = has("\"accelerator\"") && has("\"sys_name\"");
  const size_t begin = text.find_first_not_of(" \n\r\t");
  return begin != std::string_view::npos && text[begin] == '{' && (strategy || model || system);
}

void read_simumax_launch(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_request(DocumentLanguage::Json, request.text, request, out);
  if (!document) return;
  if (!document->arguments.contains("micro_batch_num")) {
    const bool system = document->arguments.contains("sys_name");
    out.problems.emplace_back(
        ProblemCode::LaunchFormat, request.where,
        std::string("the file is a ") + (system ? "system" : "model") + " of SimuMax, without a strategy",
        system ? "the JSON of a strategy; a machine of `shardscape-cli machines` stands for the system"
               : "the JSON of a strategy, and --model with this file or a preset (shardscape-cli presets)");
    return;
  }
  const bool own_model = add_model(request, *document);
  MegatronSettings s("SimuMax", std::move(*document));
  const auto stated = positive_number(s.text("world_size").value_or("8"));
  s.translate("", kRows);
  recompute(s);
  precision(s);
  sharding(s);
  batch(s, request.gpus.value_or(stated.value_or(1)));
  s.assume("--sequence-parallel", "true", kSource);
  s.assume("--overlap-grad-reduce", "true", kSource);
  s.assume("--cp-comm-type", "a2a", kSource);
  s.no_effect(kNoEffect);
  if (own_model)
    model_sizes(s);
  else if (!use_model_arguments(request, s, "", out))
    return;
  s.finish(request, stated, "world_size", out);
}

}  // namespace shardscape
