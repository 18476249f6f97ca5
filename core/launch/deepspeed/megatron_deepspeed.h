// Launches of Megatron-DeepSpeed: Megatron's arguments of 2022, those of DeepSpeed, and a JSON that a
// here-document of the same script often writes. Names, defaults and rules are those of megatron/arguments.py
// of deepspeedai/Megatron-DeepSpeed 4efb479 (2025-07-16), and of the fork of bigscience-workshop.
#pragma once

#include <string_view>

#include "launch/launch_fields.h"
#include "launch/launch_import.h"

namespace shardscape {

bool is_megatron_deepspeed(std::string_view text);
void read_megatron_deepspeed(const LaunchRequest& request, LaunchImport& out);

// The arguments of a command, with those of the JSON under "deepspeed_config.".
LaunchDesign read_megatron_deepspeed_arguments(const LaunchArguments& arguments, int64_t gpus, bool has_json,
                                               const ModelSpec* named);

}  // namespace shardscape
