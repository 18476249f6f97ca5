#include "launch/nanotron/nanotron_launch.h"

#include <algorithm>
#include <cctype>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/nanotron/nanotron_stages.h"

namespace shardscape {
namespace {

constexpr const char* kNoEffect[] = {"checkpoints.*",
                                     "data_stages.*",
                                     "general.*",
                                     "lighteval*",
                                     "logging.*",
                                     "metrics_logging*",
                                     "model.init_method.*",
                                     "model.model_config.bos_token_id",
                                     "model.model_config.eos_token_id",
                                     "model.model_config.initializer_range",
                                     "model.model_config.log_attn_probs",
                                     "model.model_config.max_position_embeddings",
                                     "model.model_config.moe_config.router_aux_loss_coef",
                                     "model.model_config.pad_token_id",
                                     "model.model_config.pretraining_tp",
                                     "model.model_config.rms_norm_eps",
                                     "model.model_config.rope_*",
                                     "model.model_config.ssm_cfg.dt_*",
                                     "model.model_config.use_cache",
                                     "model.model_config.z_loss_coefficient",
                                     "optimizer.adam_*",
                                     "optimizer.learning_rate_scheduler.*",
                                     "optimizer.optimizer_factory.adam_*",
                                     "optimizer.weight_decay*",
                                     "profiler*",
                                     "s3_upload*",
                                     "tokenizer.*",
                                     "tokens.limit_*",
                                     "tokens.train_steps",
                                     "tokens.val_check_interval"};

const std::string kModel = "model.model_config.";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class NanotronReader {
 public:
  NanotronReader(LaunchFields& fields, const LaunchRequest& request, LaunchImport& out)
      : f_(fields), request_(request), out_(out) {}

  bool run() {
    if (!model()) return false;
    degrees();
    batch();
    precision();
    kernels();
    return true;
  }

 private:
  void size(const char* knob, const char* name, int64_t otherwise) {
    f_.set(knob, f_.number(kModel + name, otherwise), kModel + name);
  }

  bool model() {
    const auto is = [&](const char* kind) { return f_.on(kModel + "is_" + kind + "_config"); };
    if (is("mamba")) return mamba();
    const bool qwen = is("qwen2"), experts = is("llamoe"), llama = is("llama");
    if (!qwen && !experts && !llama)
      return set_requested_model(f_, request_,
                                 "model.model_config is not the one of Llama, Qwen2, Mamba or LlaMoE", out_);
    set_preset(f_, "llama2-7b",
               kModel + (qwen      ? "is_qwen2_config"
                         : experts ? "is_llamoe_config"
                                   : "is_llama_config"));
    f_.design().model.preset.clear();
    f_.design().name = "nanotron";
    const int64_t hidden = f_.number(kModel + "hidden_size", 4096),
                  heads = f_.number(kModel + "num_attention_heads", 32);
    size("layers", "num_hidden_layers", 32);
    f_.set("hidden", hidden, kModel + "hidden_size");
    f_.set("heads", heads, kModel + "num_attention_heads");
    f_.derive("kv_heads", std::to_string(f_.number(kModel + "num_key_value_heads", heads)),
              kModel + "num_key_value_heads", "as many as heads", "src/nanotron/config/models_config.py:92");
    f_.derive("head_dim", std::to_string(hidden / std::max<int64_t>(heads, 1)), "head size",
              "hidden_size / num_attention_heads", "src/nanotron/models/llama.py");
    size("ffn", "intermediate_size", 11008);
    vocabulary("vocab_size", 32000);
    f_.set("tied_embeddings", f_.on(kModel + "tie_word_embeddings") ? "true" : "false",
           kModel + "tie_word_embeddings");
    if (lower(f_.text(kModel + "hidden_act").value_or("silu")) != "silu")
      f_.unmapped(kModel + "hidden_act", "the design has SwiGLU with silu");
    if (f_.on(kModel + "attention_bias")) f_.set_architecture("qwen2", kModel + "attention_bias");
    if (experts) old_experts();
    if (qwen) qwen_options();
    if (const int64_t window = f_.number(kModel + "sliding_window_size", 0); window > 0) {
      if (f_.design().model.architecture == "llama")
        f_.set_architecture("mistral", kModel + "sliding_window_size");
      f_.set_effective("window", std::to_string(window), kModel + "sliding_window_size");
    }
    return true;
  }

  void vocabulary(const char* name, int64_t otherwise) {
    size("vocab", name, otherwise);
    f_.set("vocab_multiple", f_.number("model.make_vocab_size_divisible_by", 1),
           "model.make_vocab_size_divisible_by");
  }

  bool mamba() {
    set_preset(f_, "mamba-1.4b", kModel + "is_mamba_config");
    f_.design().model.preset.clear();
    f_.design().name = "nanotron Mamba";
    const int64_t hidden = f_.number(kModel + "d_model", 2560);
    f_.set("hidden", hidden, kModel + "d_model");
    size("layers", "num_hidden_layers", 64);
    vocabulary("vocab_size", 50277);
    if (const int64_t multiple = f_.number(kModel + "pad_vocab_size_multiple", 1); multiple > 1)
      f_.set("vocab_multiple", multiple, kModel + "pad_vocab_size_multiple");
    size("ssm_state", "ssm_cfg.d_state", 16);
    size("ssm_conv", "ssm_cfg.d_conv", 4);
    size("ssm_expand", "ssm_cfg.expand", 2);
    const std::string rank = f_.text(kModel + "ssm_cfg.dt_rank").value_or("auto");
    if (rank == "auto")
      f_.derive("ssm_dt_rank", std::to_string((hidden + 15) / 16), "rank of dt", "d_model / 16, rounded up",
                "examples/mamba/selective_scan_interface.py");
    else
      size("ssm_dt_rank", "ssm_cfg.dt_rank", 0);
    for (const char* one :
         {"fused_add_norm", "rms_norm", "ssm_cfg.use_fast_path", "ssm_cfg.conv_bias", "dtype"})
      (void)f_.text(kModel + one);
    if (f_.on(kModel + "residual_in_fp32"))
      f_.unmapped(kModel + "residual_in_fp32", "the design adds residuals in the data type");
    if (f_.on(kModel + "ssm_cfg.bias")) f_.unmapped(kModel + "ssm_cfg.bias", "projections have no biases");
    return true;
  }

  void old_experts() {
    f_.set_architecture("mixtral", kModel + "is_llamoe_config");
    size("experts", "moe_num_experts", 8);
    size("experts_per_token", "num_experts_per_tok", 1);
    f_.derive("expert_ffn", std::to_string(f_.number(kModel + "intermediate_size", 11008)),
              "width of experts", "intermediate_size", "examples/moe/moe.py");
    if (const auto factor = f_.text(kModel + "moe_capacity_factor")) {
      f_.set("capacity_factor", *factor, kModel + "moe_capacity_factor");
    }
  }

  void qwen_options() {
    for (const char* one :
         {"_attn_implementation", "_fused_rms_norm", "_fused_rotary_emb", "_use_qkv_packed"})
      (void)f_.text(kModel + one);
    if (f_.on(kModel + "_use_doc_masking"))
      f_.unmapped(kModel + "_use_doc_masking",
                  "attention sees one document; packed_length would say how long");
    if (f_.number(kModel + "no_rope_layer", 0) > 0)
      f_.unmapped(kModel + "no_rope_layer", "layers without rotation have no setting");
    if (f_.has(kModel + "flex_attention_mask"))
      f_.unmapped(kModel + "flex_attention_mask", "masks of flex attention have no setting");
    if (f_.on(kModel + "z_loss_enabled")) f_.unmapped(kModel + "z_loss_enabled", "the z-loss has no setting");
    const std::string moe = "moe_config.";
    if (!f_.has(kModel + moe + "num_experts")) {
      (void)f_.text(kModel + "moe_config");
      return;
    }
    const bool shared = f_.on(kModel + moe + "enable_shared_expert");
    f_.set_architecture(shared ? "qwen2-moe" : "mixtral", kModel + moe + "enable_shared_expert");
    size("experts", "moe_config.num_experts", 8);
    size("experts_per_token", "moe_config.top_k", 2);
    const int64_t width = f_.number(kModel + moe + "moe_intermediate_size", 1408),
                  shared_width = f_.number(kModel + moe + "shared_expert_intermediate_size", 5632);
    f_.set("expert_ffn", width, kModel + moe + "moe_intermediate_size");
    if (shared && width > 0 && shared_width % width == 0)
      f_.set("shared_experts", shared_width / width, kModel + moe + "shared_expert_intermediate_size");
    else if (shared)
      f_.unmapped(kModel + moe + "shared_expert_intermediate_size", "no multiple of the width of an expert");
    if (f_.has(kModel + moe + "layers") && f_.text(kModel + moe + "layers") != "-1")
      f_.unmapped(kModel + moe + "layers", "all layers of the design have experts");
    f_.set("dispatcher", f_.text(kModel + moe + "token_dispatcher_type").value_or("alltoall"),
           kModel + moe + "token_dispatcher_type");
    if (!shared) f_.set("ffn", 0, kModel + "intermediate_size");
  }

  void degrees() {
    for (const char* axis : {"dp", "pp", "tp"})
      f_.set(axis, f_.number("parallelism." + std::string(axis), 1), "parallelism." + std::string(axis));
    f_.set("cp", f_.number("parallelism.context_parallel_size", 1), "parallelism.context_parallel_size");
    const std::string ep = "parallelism.expert_parallel_size";
    if (const int64_t ranks = f_.number(ep, 1); ranks > 1) {
      f_.unmapped(ep,
                  "the ranks of ep are an axis of their own in nanotron; in the design they are those of dp");
      f_.set("dp", f_.design().parallel.dp * ranks, ep);
      f_.set("ep", ranks, ep);
    } else {
      f_.set("ep", 1, ep);
    }
    const ParallelSpec& p = f_.design().parallel;
    const std::string engine = lower(f_.text("parallelism.pp_engine").value_or("afab"));
    f_.set("schedule", engine == "1f1b" ? "1f1b" : "gpipe", "parallelism.pp_engine");
    if (engine != "1f1b" && engine != "afab")
      f_.misread("parallelism.pp_engine", "\"" + engine + "\" is not afab or 1f1b");
    const ModelSpec& m = f_.design().model;
    if (p.pp > 1 && m.architecture != "mamba") {
      const auto stages = nanotron_stages({m.layers, m.hidden, m.ffn, m.vocab}, p.pp);
      if (stages.empty())
        f_.unmapped("parallelism.pp", "nanotron's split leaves a stage without blocks");
      else
        f_.derive("stage_layers", joined_numbers(stages), "layers of stages",
                  "a stage takes blocks until it has its share of the cost", "src/nanotron/models/base.py");
    }
    const std::string mode = lower(f_.text("parallelism.tp_mode").value_or("all_reduce"));
    if (mode != "all_reduce" && mode != "reduce_scatter")
      f_.misread("parallelism.tp_mode", "\"" + mode + "\" is not ALL_REDUCE or REDUCE_SCATTER");
    const bool split = p.tp > 1 && mode == "reduce_scatter";
    f_.set("sequence_parallel", split ? "true" : "false", "parallelism.tp_mode");
    const bool async = f_.on("parallelism.tp_linear_async_communication");
    if (split && async) f_.set("tp_comm_overlap", "true", "parallelism.tp_linear_async_communication");
    if (f_.text("parallelism.tp_recompute_allgather").value_or("true") == "false" && split)
      f_.unmapped("parallelism.tp_recompute_allgather", "the backward of the design gathers inputs again");
    f_.set("recompute", f_.on("parallelism.recompute_layer") ? "full" : "none",
           "parallelism.recompute_layer");
  }

  void batch() {
    const int64_t micro = f_.number("tokens.micro_batch_size", 1),
                  steps = f_.number("tokens.batch_accumulation_per_replica", 1);
    f_.set("seq", f_.number("tokens.sequence_length", 2048), "tokens.sequence_length");
    f_.set("microbatch", micro, "tokens.micro_batch_size");
    f_.set("batch", capped_product({micro, steps, f_.number("parallelism.dp", 1)}),
           "tokens.batch_accumulation_per_replica");
  }

  void precision() {
    const std::string kind = f_.text("model.dtype").value_or("bfloat16");
    f_.set("dtype", kind == "float16" ? "fp16" : kind == "float32" ? "fp32" : "bf16", "model.dtype");
    const std::string whole = "optimizer.accumulate_grad_in_fp32";
    const bool fp32 = f_.on(whole);
    f_.set("grad_dtype", fp32 ? "fp32" : knob_of_type(kind), whole);
    f_.set("master_weights", fp32 ? "true" : "false", whole);
    const std::string zero = "optimizer.zero_stage";
    const int64_t stage = f_.number(zero, 0);
    f_.set("sync", stage > 0 ? "distributed-optimizer" : fp32 ? "ddp-flat" : "ddp-buckets", zero);
    if (stage > 1) f_.misread(zero, std::to_string(stage) + " is not 0 or 1");
    if (stage > 0 || fp32)
      f_.derive("overlap_grad_reduce", "true", "overlap", "hooks reduce gradients while the backward runs",
                "src/nanotron/optim/gradient_accumulator.py");
    else
      f_.set("bucket_cap_mb", f_.number("model.ddp_bucket_cap_mb", 25), "model.ddp_bucket_cap_mb");
    (void)f_.text("model.ddp_bucket_cap_mb");
    f_.set("clip_grad_norm", f_.positive("optimizer.clip_grad", "0") ? "true" : "false",
           "optimizer.clip_grad");
    const std::string name = "optimizer.optimizer_factory.name",
                      optimizer = lower(f_.text(name).value_or("adamw"));
    if (optimizer == "adamw")
      f_.set("optimizer", "adam", name);
    else
      f_.unmapped(name, "\"" + optimizer + "\" has no setting");
    for (const char* one :
         {"optimizer.optimizer_factory.torch_adam_is_fused", "optimizer.torch_adam_is_fused"})
      if (f_.has(one) && !f_.on(one)) f_.unmapped(one, "the update of a design is one fused kernel");
  }

  static std::string knob_of_type(const std::string& kind) {
    return kind == "float16" ? "fp16" : kind == "float32" ? "fp32" : "bf16";
  }

  void kernels() {
    const bool mamba = f_.design().model.architecture == "mamba";
    f_.derive("profile", mamba ? "mamba" : "nanotron", "kernels", "those of nanotron", "src/nanotron/models");
  }

  LaunchFields& f_;
  const LaunchRequest& request_;
  LaunchImport& out_;
};

}  // namespace

bool is_nanotron_launch(std::string_view text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  return has("batch_accumulation_per_replica:") && has("parallelism:") && has("tokens:");
}

void read_nanotron_launch(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_request(DocumentLanguage::Yaml, request.text, request, out);
  if (!document) return;
  LaunchFields fields(document->arguments, 0, "nanotron 2411b022");
  int64_t gpus = 1;
  for (const char* axis : {"dp", "pp", "tp", "context_parallel_size", "expert_parallel_size"}) {
    const int64_t ranks = fields.number("parallelism." + std::string(axis), 1);
    if (ranks < 1 || ranks > 1'000'000 || gpus > 100'000'000 / ranks) {
      out.problems.emplace_back(
          ProblemCode::LaunchSyntax,
          request.where + ", line " + std::to_string(document->lines["parallelism." + std::string(axis)]),
          "parallelism." + std::string(axis) + " is " + std::to_string(ranks), "a number of ranks from 1");
      return;
    }
    gpus *= ranks;
  }
  out.gpus = gpus;
  out.gpus_from = "the product of the degrees";
  if (request.gpus && *request.gpus != gpus) {
    out.problems.emplace_back(ProblemCode::LaunchGpus, request.where,
                              "the degrees of the file have " + std::to_string(gpus) + " GPUs, not " +
                                  std::to_string(*request.gpus),
                              std::to_string(gpus) + " GPUs");
    return;
  }
  if (!NanotronReader(fields, request, out).run()) return;
  LaunchRules rules{"nanotron 2411b022", kNoEffect};
  finish_launch(fields.finish(rules), document->lines, out);
}

}  // namespace shardscape
