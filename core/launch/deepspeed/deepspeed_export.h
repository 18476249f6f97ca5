// Writes a design as a launch of Megatron-DeepSpeed: a script with the arguments of pretrain_gpt.py, and the
// JSON of DeepSpeed in a here-document.
#pragma once

#include "launch/launch_export.h"

namespace shardscape {

// A Problem (LaunchSetting): not a training step, or a model other than GPT's or LLaMA's.
std::variant<LaunchText, Problem> export_deepspeed(const Design& design);

}  // namespace shardscape
