#include "launch/maxtext/maxtext_fields.h"

#include <algorithm>
#include <cmath>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/maxtext/maxtext_defaults.h"

namespace shardscape {
namespace {

constexpr const char* kNoEffect[] = {"adam_*",
                                     "async_checkpointing",
                                     "base_config",
                                     "base_output_directory",
                                     "checkpoint*",
                                     "cosine_*",
                                     "data_shuffle*",
                                     "dataset*",
                                     "debug_*",
                                     "enable_checkpoint*",
                                     "enable_goodput*",
                                     "enable_single_*",
                                     "enable_tensorboard",
                                     "eval_*",
                                     "gcs_metrics",
                                     "grain_*",
                                     "hardware",
                                     "hf_*",
                                     "init_weights_seed",
                                     "jax_cache_dir",
                                     "learning_rate*",
                                     "load_*",
                                     "log_*",
                                     "max_segments_per_seq",
                                     "metrics_*",
                                     "model_call_mode",
                                     "normalization_layer_epsilon",
                                     "profile*",
                                     "reuse_example_batch",
                                     "rope_*",
                                     "run_name",
                                     "save_*",
                                     "skip_jax_distributed_system",
                                     "steps",
                                     "tokenizer*",
                                     "train_split",
                                     "use_iota_embed",
                                     "vertex_*",
                                     "wandb_*",
                                     "warmup_*",
                                     "use_vertex_tensorboard",
                                     "per_device_batch_size",
                                     "compile_topology",
                                     "compile_topology_num_slices",
                                     "num_slices",
                                     "scan_layers",
                                     "final_logits_soft_cap",
                                     "attn_logits_soft_cap",
                                     "max_position_embeddings",
                                     "original_max_position_embeddings",
                                     "beta_fast",
                                     "beta_slow",
                                     "weight_decay",
                                     "z_loss*",
                                     "cast_logits_to_fp32",
                                     "attention_sink",
                                     "mlp_activations_limit",
                                     "routed_bias",
                                     "mlp_bias",
                                     "use_post_attn_norm",
                                     "use_post_ffw_norm",
                                     "inhomogeneous_layer_cycle_interval",
                                     "enable_data_shuffling"};

constexpr std::pair<const char*, const char*> kChanges[] = {
    {"parameter_memory_host_offload", "parameters in host memory have no setting"}};

class ArgumentsReader {
 public:
  ArgumentsReader(LaunchFields& fields, int64_t slices, const LaunchRequest& request, LaunchImport& out)
      : f_(fields), slices_(slices), request_(request), out_(out) {}

  bool run() {
    if (!read_maxtext_model(f_, request_, out_) || !mesh()) return false;
    f_.set("seq", f_.number("max_target_length", 2048), "max_target_length");
    f_.derive("vocab_multiple", "1", "vocabulary", "not padded", "src/maxtext/configs/base.yml:712");
    sync();
    pipeline();
    if (!batch()) return false;
    precision();
    recompute();
    experts();
    kernels();
    return true;
  }

 private:
  bool refuse(ProblemCode code, std::string what, std::string accepted) {
    out_.problems.emplace_back(code, request_.where, std::move(what), std::move(accepted));
    return false;
  }

  // Ranks of the axis inside a slice and between slices. One -1 of each kind is solved for.
  struct Axis {
    const char* name;
    int64_t inside = 1, between = 1;
    int64_t ranks() const { return inside * between; }
  };

  bool mesh() {
    if (slices_ < 1 || f_.gpus() % slices_ != 0)
      return refuse(ProblemCode::LaunchGpus,
                    std::to_string(slices_) + " slices do not divide " + std::to_string(f_.gpus()) + " chips",
                    "a number of chips that the slices divide");
    if (!solve(&Axis::inside, "ici_", f_.gpus() / slices_) || !solve(&Axis::between, "dcn_", slices_))
      return false;
    const auto ranks = [&](const char* name) {
      return std::find_if(axes_.begin(), axes_.end(),
                          [&](const Axis& one) { return std::string_view(one.name) == name; })
          ->ranks();
    };
    data_ = ranks("data");
    fsdp_ = ranks("fsdp") * ranks("fsdp_transpose");
    const int64_t expert = ranks("expert"), tp = ranks("tensor") * ranks("tensor_sequence");
    pp_ = ranks("pipeline");
    dp_ = data_ * fsdp_ * expert;
    f_.derive("dp", std::to_string(dp_), "data x fsdp x expert", "all three axes split the batch",
              "src/maxtext/configs/base.yml:660");
    set_axis("tp", tp, "tensor");
    set_axis("pp", pp_, "pipeline");
    set_axis("cp", ranks("context") * ranks("context_usp_ulysses"), "context");
    set_axis("ep", expert, "expert");
    if (ranks("sequence") > 1)
      f_.unmapped("ici_sequence_parallelism", "an axis for activations alone has no setting");
    if (ranks("fsdp_transpose") > 1)
      f_.unmapped("ici_fsdp_transpose_parallelism", "the design shards all parameters in one way");
    for (const char* axis : {"autoregressive", "context_autoregressive", "diloco"})
      if (ranks(axis) > 1)
        f_.unmapped("ici_" + std::string(axis) + "_parallelism", "the axis has no setting");
    if (tp > 1) {
      f_.derive("sequence_parallel", "true", "sequence parallelism",
                "activations between layers are split over the tensor axis",
                "src/maxtext/configs/base.yml:538");
      f_.derive("tp_comm_overlap", "true", "collective matmul",
                "XLA splits GEMMs into steps that overlap with their collectives",
                "https://openxla.org/xla, windowed einsum");
    }
    context(ranks("context") * ranks("context_usp_ulysses"));
    return true;
  }

  void set_axis(const char* knob, int64_t ranks, const char* axis) {
    const std::string inside = "ici_" + std::string(axis) + "_parallelism",
                      between = "dcn_" + std::string(axis) + "_parallelism";
    f_.set(knob, ranks, f_.has(between) && !f_.has(inside) ? between : inside);
  }

  bool solve(int64_t Axis::*part, const std::string& prefix, int64_t ranks) {
    Axis* solved = nullptr;
    int64_t product = 1;
    for (Axis& axis : axes_) {
      const std::string argument = prefix + axis.name + "_parallelism";
      const bool usual = (prefix == "ici_" && std::string_view(axis.name) == "fsdp") ||
                         (prefix == "dcn_" && std::string_view(axis.name) == "data");
      const int64_t given = f_.number(argument, usual ? -1 : 1);
      if (given == -1 && !solved) {
        solved = &axis;
        continue;
      }
      if (given < 1 || given > 1'000'000 || product > 1'000'000'000 / given)
        return refuse(ProblemCode::LaunchSyntax, argument + " is " + std::to_string(given),
                      "a whole number from 1, or -1 for one axis");
      axis.*part = given;
      product *= given;
    }
    if (solved && ranks % product == 0) solved->*part = ranks / product;
    if (product * (solved ? solved->*part : 1) == ranks) return true;
    return refuse(ProblemCode::LaunchGpus,
                  "the axes " + prefix + "* have " + std::to_string(product) + " ranks" +
                      (solved ? " and one more axis" : "") + ", but there are " + std::to_string(ranks) +
                      (prefix == "ici_" ? " chips in a slice" : " slices"),
                  "as many GPUs as the product of the axes, or a multiple of it if an axis is -1");
  }

  void context(int64_t cp) {
    const std::string argument = "context_parallel_strategy",
                      strategy = f_.text(argument).value_or("all_gather"),
                      balance = f_.text("context_parallel_load_balance").value_or("true");
    if (cp == 1) return;
    const bool balanced = balance == "true";
    const std::string value = strategy == "all_gather" ? "all-gather"
                              : strategy == "ring"     ? (balanced ? "zigzag" : "ring")
                              : strategy == "ulysses"  ? "ulysses"
                              : strategy == "usp"      ? (balanced ? "ulysses-zigzag" : "ulysses-ring")
                                                       : "";
    if (value.empty())
      f_.misread(argument, "\"" + strategy + "\" is not all_gather, ring, ulysses or usp");
    else
      f_.set("context", value, argument);
    const int64_t heads = f_.number("ici_context_usp_ulysses_parallelism", 1);
    if (strategy == "usp" && heads > 1)
      f_.set("ulysses_degree", heads, "ici_context_usp_ulysses_parallelism");
  }

  void sync() {
    const std::string argument = "ici_fsdp_parallelism";
    const bool over_data = f_.on("shard_optimizer_over_data");
    if (fsdp_ == 1 && data_ > 1) {
      f_.set("sync", over_data ? "distributed-optimizer" : "ddp-flat",
             over_data ? "shard_optimizer_over_data" : argument);
      f_.derive("overlap_grad_reduce", "true", "overlap", "XLA reduces gradients while the backward runs",
                "https://openxla.org/xla");
      return;
    }
    f_.set("sync", "fsdp2", argument);
    if (data_ > 1) f_.set("dp_shard", dp_ / data_, "ici_data_parallelism");
    if (over_data) f_.unmapped("shard_optimizer_over_data", "states are sharded over the axis fsdp alone");
  }

  // A pipeline runs all forwards of a step, then all backwards; with repeats, every stage runs its layers in
  // turns (types.py:3560).
  void pipeline() {
    const std::string repeats_name = "num_pipeline_repeats", layers_name = "num_layers_per_pipeline_stage";
    if (pp_ == 1) {
      for (const char* one :
           {"num_pipeline_*", "num_layers_per_pipeline_stage", "pipeline_*", "scan_pipeline_*"})
        f_.ignore(one, "one stage");
      return;
    }
    const int64_t layers = f_.design().model.layers, each = std::max<int64_t>(f_.number(layers_name, 1), 1),
                  given = f_.number(repeats_name, -1),
                  repeats = given > 0 ? given : layers / capped_product({pp_, each});
    microbatches_ = f_.number("num_pipeline_microbatches", -1);
    if (microbatches_ < 1) microbatches_ = pp_;
    f_.derive("virtual_stages", std::to_string(std::max<int64_t>(repeats, 1)), repeats_name,
              "layers / (stages x num_layers_per_pipeline_stage)", "src/maxtext/configs/types.py:3576");
    if (repeats > 1) {
      f_.derive("schedule", "flexible", "circular pipeline", "each repeat runs all microbatches",
                "src/maxtext/layers/pipeline.py");
      f_.derive("microbatch_group", std::to_string(microbatches_), "circular pipeline", "", "");
    } else {
      f_.derive("schedule", "gpipe", "pipeline", "all forwards, then all backwards",
                "src/maxtext/layers/pipeline.py");
    }
  }

  bool batch() {
    const std::string argument = "per_device_batch_size", steps_name = "gradient_accumulation_steps";
    const std::string text = f_.text(argument).value_or("12.0");
    const auto each = real_number(text);
    const int64_t steps = std::max<int64_t>(f_.number(steps_name, 1), 1);
    const double global = each.value_or(0) * static_cast<double>(f_.gpus());
    if (!each || global < 0.5 || global > 1e12 || std::abs(std::round(global) - global) > 1e-6 * global)
      return refuse(ProblemCode::LaunchSyntax,
                    argument + " \"" + text + "\" x " + std::to_string(f_.gpus()) +
                        " devices is no whole number of sequences",
                    "a positive number, also a fraction such as 0.5");
    const int64_t step = std::llround(global),
                  parts = capped_product({dp_, std::max<int64_t>(microbatches_, 1)});
    f_.set("batch", capped_product({step, steps}), argument);
    if (step % parts != 0) {
      f_.unmapped(argument,
                  std::to_string(step) + " sequences do not split into " + std::to_string(parts) + " parts");
      return true;
    }
    f_.set("microbatch", step / parts, steps > 1 ? steps_name : argument);
    return true;
  }

  void precision();
  void recompute();
  void experts();
  void kernels();

  LaunchFields& f_;
  int64_t slices_;
  const LaunchRequest& request_;
  LaunchImport& out_;
  std::vector<Axis> axes_{{"diloco"},
                          {"data"},
                          {"fsdp"},
                          {"fsdp_transpose"},
                          {"sequence"},
                          {"context"},
                          {"context_usp_ulysses"},
                          {"context_autoregressive"},
                          {"tensor"},
                          {"tensor_sequence"},
                          {"autoregressive"},
                          {"pipeline"},
                          {"expert"}};
  int64_t data_ = 1, fsdp_ = 1, dp_ = 1, pp_ = 1, microbatches_ = 0;
};

void ArgumentsReader::precision() {
  const std::string kind = f_.text("dtype").value_or("bfloat16");
  if (kind == "bfloat16" || kind == "float32" || kind == "float16")
    f_.set("dtype", kind == "bfloat16" ? "bf16" : kind == "float16" ? "fp16" : "fp32", "dtype");
  else
    f_.misread("dtype", "\"" + kind + "\" is not bfloat16, float16 or float32");
  if (f_.text("weight_dtype").value_or("float32") != "float32")
    f_.unmapped("weight_dtype", "the design has float32 weights, which are cast before each use");
  f_.derive("grad_dtype", kind == "float32" ? "fp32" : "bf16", "reduction of gradients",
            "XLA reduces gradients in the type of the GEMMs, before their cast to grad_dtype",
            "src/maxtext/trainers/pre_train/train.py");
  const std::string quantization = f_.text("quantization").value_or("");
  if (quantization.find("int8") != std::string::npos)
    f_.set("compute", "int8", "quantization");
  else if (quantization.find("fp8") != std::string::npos)
    f_.set("compute", "fp8", "quantization");
  else if (!quantization.empty())
    f_.unmapped("quantization", "GEMMs in \"" + quantization + "\" have no setting");
  f_.set("clip_grad_norm", f_.positive("gradient_clipping_threshold", "1.0") ? "true" : "false",
         "gradient_clipping_threshold");
  const std::string optimizer = f_.text("opt_type").value_or("adamw");
  if (optimizer == "adamw" || optimizer == "adam_pax")
    f_.set("optimizer", "adam", "opt_type");
  else if (optimizer == "muon")
    f_.set_effective("optimizer", "muon", "opt_type");
  else
    f_.unmapped("opt_type", "\"" + optimizer + "\" has no setting");
  const std::string moment = f_.text("mu_dtype").value_or("");
  if (!moment.empty() && moment != "float32")
    f_.unmapped("mu_dtype", "the first moment alone has this type; the design has one type for both");
  if (f_.on("optimizer_memory_host_offload"))
    f_.set("offload_optimizer", "true", "optimizer_memory_host_offload");
}

// Policies name the tensors that stay saved (src/maxtext/layers/decoders.py, get_remat_policy).
void ArgumentsReader::recompute() {
  const std::string argument = "remat_policy", policy = f_.text(argument).value_or("full");
  const auto saved = [&](const char* tensor) {
    const std::string place = f_.text(tensor).value_or("remat");
    if (policy == "custom" && place == "offload")
      f_.unmapped(tensor, "the tensor moves to the host; in the design it stays on the device");
    return place == "device" || place == "offload";
  };
  if (policy == "full") return f_.set("recompute", "full", argument);
  const bool offloads = policy.find("offloaded") != std::string::npos;
  const bool minimal = policy.starts_with("minimal"), custom = policy == "custom";
  const bool projections = policy == "qkv_proj_offloaded" || policy == "save_qkv_proj";
  if (!minimal && !custom && !projections) {
    f_.set("recompute", "full", argument);
    return f_.unmapped(argument, "the tensors that \"" + policy + "\" saves have no setting");
  }
  if (offloads)
    f_.unmapped(argument, "saved tensors move to the host; in the design they stay on the device");
  const bool queries = saved("query_proj"), values = saved("value_proj"), wide = saved("mlpwi"),
             gate = saved("mlpwi_0"), context = saved("context");
  if (custom && !(queries && values)) return f_.set("recompute", "full", argument);
  const bool experts = f_.design().model.experts > 0, mlp = minimal || (custom && (wide || gate));
  const bool attention = policy == "minimal_with_context" || (custom && context);
  f_.set("recompute", "selective", argument);
  f_.set("recompute_modules",
         std::string(attention ? "" : "core_attn,") + "layernorm," +
             (experts ? (mlp ? "moe_act" : "moe") : (mlp ? "mlp_act" : "mlp")),
         argument);
}

void ArgumentsReader::experts() {
  if (f_.design().model.experts == 0) {
    for (const char* one : {"megablox", "sparse_matmul", "capacity_factor"})
      f_.ignore(one, "the model has no experts");
    return;
  }
  const auto factor = real_number(f_.text("capacity_factor").value_or("-1"));
  const bool sparse = f_.text("sparse_matmul").value_or("true") == "true";
  (void)f_.text("megablox");
  if (sparse || !factor || *factor <= 0) {
    if (factor && *factor > 0) f_.unmapped("capacity_factor", "read only with sparse_matmul=false");
    return;
  }
  f_.set("capacity_factor", *f_.text("capacity_factor"), "capacity_factor");
  f_.set("pad_to_capacity", "true", "sparse_matmul");
}

void ArgumentsReader::kernels() {
  const std::string attention = f_.text("attention").value_or("autoselected");
  f_.set("profile", "torchtitan", "attention");  // fused by a compiler, flash attention
  if (attention == "dot_product")
    f_.unmapped("attention", "attention without a fused kernel has no profile of a compiler");
  const bool drops = f_.positive("dropout_rate", "0.0") &&
                     f_.text("enable_dropout").value_or("true") == "true";
  (void)f_.text("enable_dropout");
  f_.set("dropout", drops ? "true" : "false", "dropout_rate");
}

}  // namespace

LaunchDesign read_maxtext_arguments(const LaunchArguments& arguments, int64_t slices,
                                    const LaunchRequest& request, LaunchImport& out) {
  LaunchFields fields(arguments, out.gpus.value_or(1), "MaxText e591f30c");
  if (!ArgumentsReader(fields, slices, request, out).run()) return {};
  const MaxTextDefaults defaults;
  std::vector<std::pair<const char*, const char*>> changes;
  for (const auto& change : kChanges)
    if (const auto given = arguments.find(change.first);
        given != arguments.end() && !defaults.is_default(given->first, given->second))
      changes.push_back(change);
  LaunchRules rules{"MaxText e591f30c", kNoEffect, changes};
  rules.knows = [&](const std::string& argument) { return defaults.knows(argument); };
  rules.is_default = [&](const std::string& argument, const std::string& value) {
    return defaults.is_default(argument, value);
  };
  return fields.finish(rules);
}

}  // namespace shardscape
