// Launches of GPT-NeoX: its YAML files. Names and defaults: EleutherAI/gpt-neox
// ea7aefd8f8e183256992d9fede4d7c71a46d67a5, megatron/neox_arguments/neox_args.py.
#pragma once

#include "launch/launch_import.h"

namespace shardscape {

bool is_neox_launch(std::string_view text);
void read_neox_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
