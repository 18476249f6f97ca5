#include "launch/neox/neox_launch.h"

#include <algorithm>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "model/preset_names.h"

namespace shardscape {
namespace {

constexpr const char* kNoEffect[] = {"bias_gelu_fusion",
                                     "checkpoint_factor",
                                     "data_impl",
                                     "data_path",
                                     "distributed_backend",
                                     "eval_*",
                                     "extra_save_iters",
                                     "fp16.*",
                                     "bf16.*",
                                     "hysteresis",
                                     "init_method",
                                     "keep_last_n_checkpoints",
                                     "launcher",
                                     "layernorm_epsilon",
                                     "layernorm_fusion",
                                     "load",
                                     "log_*",
                                     "loss_scale*",
                                     "lr_*",
                                     "master_*",
                                     "max_position_embeddings",
                                     "merge_file",
                                     "min_lr",
                                     "min_scale",
                                     "num_workers",
                                     "optimizer.params.*",
                                     "output_layer_init_method",
                                     "output_layer_parallelism",
                                     "rms_norm_epsilon",
                                     "rmsnorm_fusion",
                                     "rope_fusion",
                                     "rotary_emb_base",
                                     "save",
                                     "save_*",
                                     "scaled_*_softmax_fusion",
                                     "scaled_upper_triang_masked_softmax_fusion",
                                     "seed",
                                     "split",
                                     "steps_per_print",
                                     "synchronize_each_layer",
                                     "tensorboard_dir",
                                     "test_data_paths",
                                     "train_data_paths",
                                     "train_iters",
                                     "use_wandb",
                                     "valid_data_paths",
                                     "vocab_file",
                                     "wall_clock_breakdown",
                                     "wandb_*",
                                     "warmup",
                                     "weight_decay",
                                     "attention_config.*",
                                     "mamba_*",
                                     "zero_optimization.allgather_partitions",
                                     "zero_optimization.contiguous_gradients",
                                     "zero_optimization.reduce_scatter",
                                     "attention_softmax_in_fp32",
                                     "checkpoint_scale",
                                     "hostfile",
                                     "include",
                                     "train_epochs",
                                     "finetune",
                                     "no_load_*"};

class NeoxReader {
 public:
  NeoxReader(LaunchFields& fields, const LaunchRequest& request, LaunchImport& out)
      : f_(fields), request_(request), out_(out) {}

  bool run() {
    mamba_ = f_.text("attention_config.0.0").value_or("") == "mamba";
    if (!degrees()) return false;
    model();
    batch();
    precision();
    sync();
    recompute();
    kernels();
    return true;
  }

 private:
  // pipe_parallel_size 0 and 1 have one stage (arguments.py:1083).
  bool degrees() {
    const int64_t tp = std::max<int64_t>(f_.number("model_parallel_size", 1), 1),
                  pp = std::max<int64_t>(f_.number("pipe_parallel_size", 0), 1);
    if (f_.gpus() % tp != 0 || f_.gpus() / tp % pp != 0) {
      out_.problems.emplace_back(ProblemCode::LaunchGpus, request_.where,
                                 std::to_string(f_.gpus()) +
                                     " GPUs are no multiple of model_parallel_size x "
                                     "pipe_parallel_size = " +
                                     std::to_string(tp) + " x " + std::to_string(pp),
                                 "a number of GPUs that both divide");
      return false;
    }
    f_.set("tp", tp, "model_parallel_size");
    f_.set("pp", pp, "pipe_parallel_size");
    f_.derive("dp", std::to_string(f_.gpus() / tp / pp), "gpus", "GPUs / (model parallel x pipe parallel)",
              "megatron/neox_arguments/arguments.py:919");
    f_.set("sequence_parallel", f_.on("sequence_parallel") && tp > 1 ? "true" : "false", "sequence_parallel");
    return true;
  }

  void model() {
    const int64_t hidden = f_.number("hidden_size", 0), heads = f_.number("num_attention_heads", 1);
    set_preset(f_, mamba_ ? "mamba-2.8b" : "gpt3-175b-megatron", "norm");
    f_.design().model.preset.clear();
    f_.design().name = "GPT-NeoX";
    f_.set("layers", f_.number("num_layers", 0), "num_layers");
    f_.set("hidden", hidden, "hidden_size");
    f_.set("seq", f_.number("seq_length", 2048), "seq_length");
    f_.set("tied_embeddings", f_.on("no_weight_tying") ? "false" : "true", "no_weight_tying");
    vocabulary();
    if (mamba_) {
      f_.ignore("num_attention_heads", "Mamba has no heads");
      f_.derive("ssm_dt_rank", std::to_string((hidden + 15) / 16), "rank of dt",
                "hidden_size / 16, rounded up", "megatron/model/mamba/mamba.py");
      for (const char* one : {"norm", "activation"}) (void)f_.text(one);
      return;
    }
    f_.set("heads", heads, "num_attention_heads");
    f_.derive("kv_heads", std::to_string(f_.number("num_kv_heads", heads)), "num_kv_heads",
              "as many as heads", "megatron/neox_arguments/arguments.py:1131");
    f_.derive("head_dim", std::to_string(hidden / std::max<int64_t>(heads, 1)), "head size", "hidden / heads",
              "megatron/model/transformer.py");
    blocks(hidden);
  }

  void vocabulary() {
    const std::string tokenizer = f_.text("tokenizer_type").value_or("GPT2BPETokenizer");
    const int64_t known = tokenizer == "HFTokenizer" ? 50277 : 50257;
    f_.set("vocab", known, "tokenizer_type");
    if (tokenizer != "GPT2BPETokenizer" || f_.has("vocab_file"))
      f_.unmapped("tokenizer_type", "the file of the tokenizer gives the vocabulary; the design has " +
                                        std::to_string(known) + " entries");
    f_.set("vocab_multiple", f_.number("make_vocab_size_divisible_by", 128), "make_vocab_size_divisible_by");
  }

  // ParallelMLP: megatron/model/transformer.py:98.
  void blocks(int64_t hidden) {
    const std::string norm = f_.text("norm").value_or("layernorm"),
                      activation = f_.text("activation").value_or("gelu"),
                      positions = f_.text("pos_emb").value_or("learned");
    const bool gated = activation.ends_with("glu"), rope = positions == "rotary";
    const auto biased = [&](const char* name) { return f_.text(name).value_or("true") == "true"; };
    const bool attention = biased("use_bias_in_attn_linear"), mlp = biased("use_bias_in_mlp"),
               norms = biased("use_bias_in_norms");
    const int64_t multiple = std::max<int64_t>(f_.number("mlp_multiple_of", 1), 1);
    int64_t ffn = f_.number("intermediate_size", 4 * hidden);
    if (gated) ffn = (2 * ffn / 3 / 2 + multiple - 1) / multiple * multiple;
    f_.set("ffn", ffn, "intermediate_size");
    if (gated && activation != "swiglu") f_.unmapped("activation", "the design has SwiGLU");
    if (norm == "rmsnorm" && rope && gated) {
      f_.set_architecture("llama", "norm");
      if (attention) f_.unmapped("use_bias_in_attn_linear", "projections of the design have no biases");
      if (mlp) f_.unmapped("use_bias_in_mlp", "GEMMs of the design have no biases");
    } else {
      if (norm != "layernorm") f_.unmapped("norm", "\"" + norm + "\" is known only with rotary and swiglu");
      std::string options = rope ? "rope" : "";
      if (gated) options += options.empty() ? "swiglu" : ", swiglu";
      if (!attention && !mlp) options += options.empty() ? "unbiased" : ", unbiased";
      f_.set_architecture("gpt" + (options.empty() ? "" : "; " + options), "norm");
      if (attention != mlp)
        f_.unmapped("use_bias_in_mlp", "a design has biases in all projections, or in none");
      if (!norms) f_.unmapped("use_bias_in_norms", "norms of the design have biases");
    }
    if (!rope && positions != "learned")
      f_.unmapped("pos_emb", "\"" + positions + "\" is not learned or rotary");
    f_.set("positions", rope ? 0 : f_.number("max_position_embeddings", 2048),
           rope ? "pos_emb" : "max_position_embeddings");
    const auto part = real_number(f_.text("rotary_pct").value_or("1"));
    if (rope && (!part || *part != 1)) f_.unmapped("rotary_pct", "the rotation covers whole heads");
    if (f_.on("gpt_j_residual"))
      f_.unmapped(
          "gpt_j_residual",
          "attention and MLP run next to each other, with one sum over tp; in the design one after another");
    if (f_.on("use_qk_layernorm")) f_.unmapped("use_qk_layernorm", "queries and keys have no norms");
    if (f_.number("moe_num_experts", 1) > 1) f_.unmapped("moe_num_experts", "experts of NeoX are not read");
  }

  // calculate_batch_parameters: arguments.py:826.
  void batch() {
    const int64_t dp = f_.design().parallel.dp;
    const std::string micro = "train_micro_batch_size_per_gpu", all = "train_batch_size",
                      steps_name = "gradient_accumulation_steps";
    int64_t size = f_.number(micro, 0), steps = f_.number(steps_name, 0), global = f_.number(all, 0);
    if (size < 1 && global < 1) {
      f_.unmapped(micro, "another file of the launch says the batch; the design has 1 sequence per replica");
      size = 1;
    }
    if (steps < 1)
      steps = global > 0 && size > 0 ? std::max<int64_t>(global / capped_product({size, dp}), 1) : 1;
    if (size < 1) size = std::max<int64_t>(global / capped_product({dp, steps}), 1);
    if (global < 1) global = capped_product({size, steps, dp});
    f_.set("microbatch", size, micro);
    f_.derive("batch", std::to_string(global), all, "microbatch x accumulation x dp",
              "megatron/neox_arguments/arguments.py:826");
    if (f_.has(steps_name)) f_.set("batch", global, steps_name);
  }

  void precision() {
    const std::string precision = f_.text("precision").value_or("");
    const bool half = f_.on("fp16.enabled") || f_.on("fp16.fp16"),
               bf16 = precision == "bfloat16" || f_.on("bf16.enabled") ||
                      f_.text("fp16.type").value_or("") == "bfloat16";
    const bool fp16 = precision == "fp16" || (half && !bf16);
    const std::string type = fp16 ? "fp16" : bf16 ? "bf16" : "fp32";
    f_.set("dtype", type,
           fp16 && precision.empty()   ? "fp16.enabled"
           : bf16 && precision.empty() ? "bf16.enabled"
                                       : "precision");
    const std::string sum = "data_types.grad_accum_dtype";
    f_.set("grad_dtype", f_.text(sum).value_or(type), sum);
    f_.set("clip_grad_norm", f_.positive("gradient_clipping", "1.0") ? "true" : "false", "gradient_clipping");
    const std::string optimizer = f_.text("optimizer.type").value_or("adam");
    const std::string plain = plain_name(optimizer);
    if (plain == "adam" || plain == "adamw")
      f_.set("optimizer", "adam", "optimizer.type");
    else
      f_.unmapped("optimizer.type", "\"" + optimizer + "\" has no setting");
  }

  void sync() {
    const std::string stage = "zero_optimization.stage", bucket = "zero_optimization.reduce_bucket_size",
                      gather = "zero_optimization.allgather_bucket_size";
    const int64_t number = f_.number(stage, 0);
    if (number < 0 || number > 3) return f_.misread(stage, std::to_string(number) + " is not 0, 1, 2 or 3");
    f_.set("sync", "zero-" + std::to_string(number), stage);
    if (f_.has(bucket)) f_.set("zero_reduce_bucket_size", f_.number(bucket, 0), bucket);
    if (f_.has(gather)) f_.set("zero_allgather_bucket_size", f_.number(gather, 0), gather);
    const std::string overlap = "zero_optimization.overlap_comm";
    if (f_.on(overlap) && number < 3)
      f_.unmapped(overlap, "stages 0 to 2 reduce buckets without overlap in the design");
    const std::string offload = "zero_optimization.cpu_offload";
    if (f_.on(offload)) f_.set("offload_optimizer", "true", offload);
  }

  void recompute() {
    const bool on = f_.on("checkpoint_activations");
    f_.set("recompute", on ? "full" : "none", "checkpoint_activations");
    const int64_t layers = f_.number("checkpoint_num_layers", 1);
    const bool partition = f_.on("partition_activations");
    if (!on) return;
    f_.set("recompute_num_layers", layers, "checkpoint_num_layers");
    if (partition && f_.design().parallel.tp > 1 && !f_.design().parallel.sequence_parallel)
      f_.set("distribute_saved_activations", "true", "partition_activations");
    if (f_.on("checkpoint_in_cpu")) f_.unmapped("checkpoint_in_cpu", "inputs of layers stay on the device");
  }

  void kernels() {
    const bool hidden = f_.positive("hidden_dropout", "0"), scores = f_.positive("attention_dropout", "0");
    if (hidden != scores)
      f_.unmapped("attention_dropout", "a design has one setting for both kinds of dropout");
    f_.set("dropout", hidden ? "true" : "false", "hidden_dropout");
    const std::string kind = f_.text("attention_config.0.0").value_or("global");
    const std::string profile = mamba_ ? "mamba" : kind == "flash" ? "flash" : "megatron-deepspeed-2022";
    f_.derive("profile", profile, "attention", "kernels by the kind of attention: " + kind,
              "megatron/model/transformer.py");
    if (kind != "global" && kind != "flash" && !mamba_)
      f_.unmapped("attention_config.0.0", "\"" + kind + "\" is not global, flash or mamba");
    if (f_.has("attention_config.1.0")) f_.unmapped("attention_config.1.0", "all layers have the first kind");
  }

  LaunchFields& f_;
  const LaunchRequest& request_;
  LaunchImport& out_;
  bool mamba_ = false;
};

}  // namespace

bool is_neox_launch(std::string_view text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
  return (has("model_parallel_size\":") || has("model-parallel-size\":") || has("model_parallel_size:")) &&
         (has("pipe_parallel_size") || has("pipe-parallel-size")) && has("num_attention_heads");
}

// Names may have dashes instead of underscores.
void read_neox_launch(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_request(DocumentLanguage::Yaml, request.text, request, out);
  if (!document) return;
  LaunchArguments arguments;
  std::map<std::string, int> lines;
  for (const auto& [name, value] : document->arguments) {
    std::string plain = name;
    std::replace(plain.begin(), plain.end(), '-', '_');
    arguments[plain] = value;
    if (const auto line = document->lines.find(name); line != document->lines.end())
      lines[plain] = line->second;
  }
  if (!set_launch_gpus(request, std::nullopt, "", out)) return;
  LaunchFields fields(arguments, *out.gpus, "GPT-NeoX ea7aefd8");
  if (!NeoxReader(fields, request, out).run()) return;
  finish_launch(fields.finish({"GPT-NeoX ea7aefd8", kNoEffect}), lines, out);
}

}  // namespace shardscape
