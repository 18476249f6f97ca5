#include "launch/trainer/trainer_settings.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "design/knobs/knobs.h"
#include "launch/deepspeed/deepspeed_config.h"
#include "launch/launch_parts.h"
#include "launch/trainer/accelerate_settings.h"

namespace shardscape {
namespace {

constexpr const char* kTrainerWithoutEffect[] = {"adam_*",
                                                 "cutoff_len_type",
                                                 "data_*",
                                                 "dataloader_*",
                                                 "dataset*",
                                                 "ddp_timeout",
                                                 "ddp_backend",
                                                 "debug",
                                                 "disable_tqdm",
                                                 "do_eval",
                                                 "do_predict",
                                                 "do_train",
                                                 "eval_*",
                                                 "eval*",
                                                 "group_by_length",
                                                 "hub_*",
                                                 "ignore_data_skip",
                                                 "include_*",
                                                 "label_*",
                                                 "learning_rate",
                                                 "load_best_model_at_end",
                                                 "local_rank",
                                                 "log_*",
                                                 "logging_*",
                                                 "lr_scheduler*",
                                                 "max_samples",
                                                 "max_steps",
                                                 "metric_for_best_model",
                                                 "num_train_epochs",
                                                 "output_dir",
                                                 "overwrite_*",
                                                 "plot_loss",
                                                 "preprocessing_*",
                                                 "push_to_hub",
                                                 "remove_unused_columns",
                                                 "report_to",
                                                 "resume_from_checkpoint",
                                                 "run_name",
                                                 "save_*",
                                                 "seed",
                                                 "skip_memory_metrics",
                                                 "split_batches",
                                                 "stage",
                                                 "template",
                                                 "tf32",
                                                 "tokenizer*",
                                                 "trust_remote_code",
                                                 "use_fast_tokenizer",
                                                 "validation_*",
                                                 "val_size",
                                                 "warmup_*",
                                                 "weight_decay",
                                                 "cache_dir",
                                                 "hf_hub_token",
                                                 "gradient_checkpointing_kwargs*",
                                                 "per_device_eval_batch_size",
                                                 "train_file",
                                                 "bf16_full_eval",
                                                 "torch_dtype",
                                                 "model_max_length",
                                                 "preprocess*",
                                                 "config_name",
                                                 "model_revision",
                                                 "ddp_find_unused_parameters"};

// A list as the file writes it: "q_proj,v_proj", "q_proj v_proj".
std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_true(const std::optional<std::string>& text) { return text && (*text == "true" || *text == "True"); }

}  // namespace

std::optional<int64_t> stated_degrees(const LaunchArguments& arguments, const TrainerDegrees& names) {
  int64_t product = 1;
  bool sharded = false;
  for (const std::string& name : {names.tp, names.cp, names.replicas, names.shards, names.experts}) {
    const auto it = name.empty() ? arguments.end() : arguments.find(name);
    if (it == arguments.end() || it->second == "null") continue;
    const auto size = positive_number(it->second);
    constexpr int64_t kMost = 1'000'000;
    if (!size || *size > kMost || product > kMost) return std::nullopt;
    product *= *size;
    sharded = sharded || name == names.shards;
  }
  return sharded ? std::optional(product) : std::nullopt;
}

std::string TrainerSettings::of_fsdp(const char* name) const {
  const std::string plain = n_.fsdp + name, prefixed = n_.fsdp + "fsdp_" + name;
  return f_.has(plain) ? plain : prefixed;
}

void TrainerSettings::degrees(const TrainerDegrees& names) {
  const auto degree = [&](const char* knob, const std::string& name) {
    if (!name.empty()) f_.set(knob, f_.number(name, 1), name);
  };
  degree("tp", names.tp);
  degree("cp", names.cp);
  if (!names.experts.empty() && f_.has(names.experts))
    f_.set_effective("ep", *f_.text(names.experts), names.experts);
  const ParallelSpec& p = f_.design().parallel;
  const int64_t inner = p.tp * p.cp;
  if (inner < 1 || f_.gpus() % inner != 0)
    return f_.unmapped(
        "gpus", std::to_string(f_.gpus()) + " GPUs are no multiple of tp x cp = " + std::to_string(inner));
  const int64_t dp = f_.gpus() / inner;
  f_.derive("dp", std::to_string(dp), "gpus", "GPUs / (tp x cp)", "src/accelerate/parallelism_config.py:179");
  if (names.replicas.empty()) return;
  const int64_t copies = f_.number(names.replicas, 1), shards = f_.number(names.shards, 0);
  const int64_t experts = names.experts.empty() ? 1 : f_.number(names.experts, 1);
  const int64_t product = capped_product({copies, shards, experts});
  shards_ = shards;
  shards_name_ = names.shards;
  if (shards > 0 && product != dp)
    f_.misread(names.shards, "copies x shards" + std::string(experts > 1 ? " x experts" : "") + " = " +
                                 std::to_string(product) + " are not the " + std::to_string(dp) +
                                 " replicas of " + std::to_string(f_.gpus()) + " GPUs");
}

void TrainerSettings::batch() {
  const int64_t micro = f_.number(n_.microbatch, n_.microbatch_default),
                steps = f_.number(n_.accumulation, 1);
  f_.set("microbatch", micro, n_.microbatch);
  const int64_t all = capped_product({micro, steps, f_.design().parallel.dp});
  if (f_.has(n_.accumulation))
    f_.set("batch", all, n_.accumulation);
  else
    f_.assume("batch", std::to_string(all), n_.accumulation, "1 step of accumulation, the default");
}

std::string TrainerSettings::precision() {
  const auto bf16 = f_.text(n_.bf16), fp16 = n_.fp16.empty() ? std::nullopt : f_.text(n_.fp16);
  // mixed_precision of accelerate names the type; under fp8, autocast is bfloat16.
  const auto named = [&](std::initializer_list<std::string_view> types) {
    return bf16 && std::find(types.begin(), types.end(), *bf16) != types.end();
  };
  const bool brain = is_true(bf16) || named({"full", "auto", "bf16", "fp8"});
  const std::string dtype = brain ? "bf16" : is_true(fp16) || named({"fp16"}) ? "fp16" : "fp32";
  if (bf16 && *bf16 == "auto")
    f_.conclude("dtype", dtype, n_.bf16, "\"auto\": bfloat16 where the GPU has it",
                "src/axolotl/utils/config/__init__.py");
  else
    f_.set("dtype", dtype, !brain && is_true(fp16) ? n_.fp16 : n_.bf16);
  return dtype;
}

void TrainerSettings::sync(bool fsdp_on, bool deepspeed, int64_t gpus_per_node) {
  const std::string kind = f_.text("distributed_type").value_or("");  // of accelerate
  const bool zero = kind == "DEEPSPEED" && !deepspeed;
  deepspeed_ = deepspeed || zero;
  const std::string dtype = precision();
  if (deepspeed) {
    DeepSpeedCaller caller{"deepspeed.", n_.framework};
    caller.microbatch = f_.design().workload.microbatch;
    caller.dtype = dtype;
    caller.clips = n_.clip.empty() || f_.positive(n_.clip, "1.0");
    caller.accumulation = f_.number(n_.accumulation, 1);
    read_deepspeed_batch(f_, caller);
    read_deepspeed_sync(f_, caller);
    report_deepspeed_changes(f_, caller.prefix);
  } else if (zero) {
    read_accelerate_zero(f_, dtype, n_.clip);
  } else if (fsdp_on || kind == "FSDP") {
    fsdp(dtype, gpus_per_node);
  } else {
    ddp(dtype);
  }
  if (deepspeed_ || n_.clip.empty()) return;
  f_.set("clip_grad_norm", f_.positive(n_.clip, "1.0") ? "true" : "false", n_.clip);
}

void TrainerSettings::fsdp(const std::string& dtype, int64_t gpus_per_node) {
  const std::string inside = of_fsdp("version"), version = f_.has(inside) ? inside : n_.version;
  const int64_t number = f_.number(version, 1);
  const std::string strategy = of_fsdp("sharding_strategy"), reshard = of_fsdp("reshard_after_forward"),
                    offload = of_fsdp("offload_params"), wrap = of_fsdp("auto_wrap_policy");
  // "fsdp: full_shard auto_wrap" names the strategy where the section does not.
  auto kind = f_.text(strategy);
  const std::string words = lower(f_.text("fsdp").value_or(""));
  const std::string named = f_.has(strategy) ? strategy : "fsdp";
  for (const auto& [word, meant] : {std::pair{"no_shard", "NO_SHARD"},
                                    {"shard_grad_op", "SHARD_GRAD_OP"},
                                    {"hybrid_shard", "HYBRID_SHARD"}})
    if (!kind && words.find(word) != std::string::npos) kind = meant;
  if (words.find("offload") != std::string::npos) offloaded("fsdp");
  const bool whole = kind && (*kind == "NO_SHARD" || *kind == "3");
  if (whole) return ddp(dtype);
  f_.set("sync", number == 2 ? "fsdp2" : "fsdp1", version);
  const bool keeps = kind && (*kind == "SHARD_GRAD_OP" || *kind == "2" || *kind == "HYBRID_SHARD_ZERO2");
  const bool hybrid = kind && kind->starts_with("HYBRID_SHARD");
  if (const auto again = f_.text(reshard); again && *again != "FULL_SHARD")
    f_.set("reshard_after_forward", *again == "false" || *again == "SHARD_GRAD_OP" ? "false" : "true",
           reshard);
  else if (number == 2 && !kind)
    f_.set("reshard_after_forward", "true", reshard);
  else
    f_.set("reshard_after_forward", keeps ? "false" : "true", named);
  const int64_t dp = f_.design().parallel.dp;
  if (hybrid && gpus_per_node > 0 && gpus_per_node < dp)
    f_.conclude("dp_shard", std::to_string(gpus_per_node), named,
                "sharded inside a node, copied across nodes",
                "torch/distributed/fsdp/api.py, ShardingStrategy");
  else if (shards_ > 0 && shards_ < dp)
    f_.set_effective("dp_shard", std::to_string(shards_), shards_name_);
  else if (hybrid && gpus_per_node == 0)
    f_.unmapped(named, "the GPUs of a node, which share the states, are not stated");
  if (f_.text(offload).value_or("false") == "true") offloaded(offload);
  if (f_.text(of_fsdp("activation_checkpointing")).value_or("false") == "true")
    f_.set("recompute", "full", of_fsdp("activation_checkpointing"));
  if (f_.text(wrap).value_or("") == "SIZE_BASED_WRAP")
    f_.unmapped(wrap, "units of a design are layers, not numbers of parameters");
  f_.conclude("grad_dtype", dtype, "gradient type", "FSDP reduces in the type of mixed precision",
              "src/accelerate/utils/dataclasses.py:2092");
}

void TrainerSettings::offloaded(const std::string& argument) {
  f_.set("offload_optimizer", "true", argument);
  f_.unmapped(argument, "the host also holds the shards of parameters, which every step copies to the GPU");
}

void TrainerSettings::ddp(const std::string& dtype) {
  f_.assume("sync", "ddp-buckets", "data parallelism", "no FSDP and no DeepSpeed: PyTorch's DDP");
  if (f_.has("ddp_bucket_cap_mb"))
    f_.set("bucket_cap_mb", f_.number("ddp_bucket_cap_mb", 25), "ddp_bucket_cap_mb");
  if (n_.pure_bf16 && dtype != "fp32") {
    for (const auto& [knob, value] : {std::pair<const char*, std::string>{"grad_dtype", dtype},
                                      {"moment_dtype", dtype},
                                      {"master_weights", "false"}})
      f_.conclude(
          knob, value, "type of the weights",
          "the checkpoint is loaded in 16 bits, and gradients and states have the type of the parameters",
          "src/axolotl/loaders/model.py");
    return;
  }
  f_.conclude("grad_dtype", "fp32", "gradient type",
              dtype == "fp32" ? "the type of the parameters"
                              : "autocast: parameters and gradients are float32, cast for every operation",
              "src/transformers/trainer.py, autocast_smart_context_manager");
}

void TrainerSettings::recompute() {
  const std::string& name = n_.checkpointing;
  const auto given = name.empty() ? std::nullopt : f_.text(name);
  const bool on = given ? *given != "false" : n_.checkpoints;
  if (name.empty() || f_.design().workload.recompute == Recompute::Full) return;
  f_.set("recompute", on ? "full" : "none", name);
  if (given && (*given == "offload" || *given == "offload_disk"))
    f_.unmapped(name, "the saved inputs of layers leave the GPU");
}

void TrainerSettings::optimizer() {
  const auto given = f_.text(n_.optimizer);
  if (!given) {
    if (!deepspeed_) f_.set("optimizer", "adam", n_.optimizer);
    return;
  }
  if (given->find("muon") != std::string::npos) return f_.set("optimizer", "muon", n_.optimizer);
  if (!given->starts_with("adam") && !given->starts_with("paged_adam"))
    return f_.unmapped(n_.optimizer, "the optimizer is " + *given + ", not Adam or Muon");
  f_.set("optimizer", "adam", n_.optimizer);
  if (given->find("8bit") != std::string::npos) f_.set("moment_dtype", "int8-blockwise", n_.optimizer);
  if (given->find("4bit") != std::string::npos || given->find("fp8") != std::string::npos)
    f_.unmapped(n_.optimizer, "moments of this type have no setting");
  if (given->starts_with("paged"))
    f_.unmapped(n_.optimizer, "paged states move to the host when memory is short");
}

void TrainerSettings::kernels() {
  const auto attention = n_.attention.empty() ? std::nullopt : f_.text(n_.attention);
  const bool eager = attention && (*attention == "eager" || *attention == "disabled");
  f_.set("profile", eager ? "transformers-eager" : "transformers-flash", n_.attention);
  if (is_true(f_.text(n_.compile)))
    f_.unmapped(n_.compile, "compiled kernels of transformers have no profile");
}

void read_adapters(LaunchFields& fields, const AdapterNames& names) {
  fields.set("lora_rank", fields.number(names.rank, names.rank_default), names.rank);
  std::string list;
  for (std::string word : words_of(fields.text(names.modules).value_or(names.modules_default))) {
    if (word.ends_with("_proj")) word.resize(word.size() - 5);
    if (word == "all" || word == "all-linear" || word == "*" || word == "*proj")
      word = "q,k,v,o,gate,up,down";
    list += (list.empty() ? "" : ",") + word;
  }
  fields.set("lora_modules", list, names.modules);
  if (fields.positive(names.dropout, "0.0")) fields.set("lora_dropout", "true", names.dropout);
  if (fields.design().model.experts > 0)
    fields.unmapped(names.modules, "adapters of experts have no setting");
}

std::vector<std::string> trainer_no_effect(const std::string& prefix) {
  std::vector<std::string> out = deepspeed_no_effect("deepspeed.");
  for (const char* name : kTrainerWithoutEffect) out.push_back(prefix + name);
  return out;
}

}  // namespace shardscape
