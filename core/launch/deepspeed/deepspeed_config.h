// The settings of DeepSpeed's JSON, read into a design. Names, defaults and rules are those of
// deepspeedai/DeepSpeed edaa722 (2026-08-22): deepspeed/runtime/config.py, constants.py, engine.py,
// precision_config.py and zero/config.py.
#pragma once

#include <cstdint>
#include <string>

#include "launch/launch_fields.h"

namespace shardscape {

// What the program that passes the JSON on knows. It replaces "auto" in the JSON; transformers does so in
// src/transformers/integrations/deepspeed.py, HfTrainerDeepSpeedConfig.
struct DeepSpeedCaller {
  std::string prefix;                 // of the arguments: "deepspeed_config."
  std::string name = "transformers";  // in reasons
  int64_t microbatch = 8;             // per_device_train_batch_size of TrainingArguments
  int64_t accumulation = 1;           // gradient_accumulation_steps
  bool clips = true;                  // max_grad_norm 1.0
  std::string dtype = "fp32";         // neither --bf16 nor --fp16
  bool pipeline = false;              // the model runs in DeepSpeed's PipelineEngine
};

// Replicas, tensor and sequence parallelism: GPUs / (tp x pp x cp) replicas.
void read_deepspeed_degrees(LaunchFields& fields, const DeepSpeedCaller& caller);
// Global batch, microbatch and accumulation: two of the three are enough.
void read_deepspeed_batch(LaunchFields& fields, const DeepSpeedCaller& caller);
// Precision, ZeRO, offload, clipping and the optimizer, of a design with its model and degrees.
void read_deepspeed_sync(LaunchFields& fields, const DeepSpeedCaller& caller);

// Names of settings without effect, and of those that change the step without a counterpart, with the prefix.
std::vector<std::string> deepspeed_no_effect(const std::string& prefix);
void report_deepspeed_changes(LaunchFields& fields, const std::string& prefix);

}  // namespace shardscape
