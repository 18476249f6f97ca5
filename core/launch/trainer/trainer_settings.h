// What trainers on top of transformers' TrainingArguments say of a step: batch, precision, FSDP, DDP,
// DeepSpeed, recompute, adapters, kernels. transformers 00349ae (2026-07), accelerate 16cb6eb (2026-07-24).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/launch_fields.h"

namespace shardscape {

// Names of the settings in one framework. Empty: it has no such setting.
struct TrainerNames {
  std::string framework;  // in notes
  std::string microbatch = "per_device_train_batch_size", accumulation = "gradient_accumulation_steps",
              clip = "max_grad_norm", bf16 = "bf16", fp16 = "fp16", checkpointing = "gradient_checkpointing",
              optimizer = "optim", attention = "attn_implementation", compile = "torch_compile",
              fsdp = "fsdp_config.", deepspeed = "deepspeed", version = "fsdp_version";
  int64_t microbatch_default = 8;  // src/transformers/training_args.py, per_device_train_batch_size
  bool checkpoints = false;        // the default of `checkpointing`
  // DDP trains parameters that are bfloat16 alone, without float32 masters (axolotl), or float32 parameters
  // under autocast (LLaMA-Factory, transformers).
  bool pure_bf16 = false;
};

// Degrees of parallelism: names of their arguments, empty where the framework has none.
struct TrainerDegrees {
  std::string tp, cp, replicas, shards, experts;
};
// The product of the degrees that the file states, which is the number of GPUs; nullopt: the size of the
// sharding group is not stated.
std::optional<int64_t> stated_degrees(const LaunchArguments& arguments, const TrainerDegrees& names);

class TrainerSettings {
 public:
  TrainerSettings(LaunchFields& fields, TrainerNames names) : f_(fields), n_(std::move(names)) {}

  void degrees(const TrainerDegrees& names);
  // FSDP, DeepSpeed (with the arguments of its JSON under "deepspeed."), or DDP; distributed_type of
  // accelerate also says so. gpus_per_node: for hybrid sharding; 0: not known.
  void sync(bool fsdp, bool deepspeed, int64_t gpus_per_node);
  void batch();
  void recompute();
  void optimizer();
  void kernels();

  // The data type; sync() calls it.
  std::string precision();

 private:
  void fsdp(const std::string& dtype, int64_t gpus_per_node);
  void ddp(const std::string& dtype);
  void offloaded(const std::string& argument);
  // The argument of the FSDP section, with or without the beginning fsdp_.
  std::string of_fsdp(const char* name) const;

  LaunchFields& f_;
  TrainerNames n_;
  bool deepspeed_ = false;
  int64_t shards_ = 0;  // replicas that share the states; 0: not stated
  std::string shards_name_;
};

// Adapters: rank, the matrices of a list such as "q_proj v_proj" or "all", dropout.
struct AdapterNames {
  std::string rank = "lora_rank", modules = "lora_target", dropout = "lora_dropout";
  int64_t rank_default = 8;
  std::string modules_default = "all";
};
void read_adapters(LaunchFields& fields, const AdapterNames& names);

// Settings of data, logs, checkpoints and learning rates that all these trainers share.
std::vector<std::string> trainer_no_effect(const std::string& prefix);

}  // namespace shardscape
