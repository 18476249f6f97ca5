// Launches of Megatron-Bridge: the run_config.yaml beside its checkpoints, and commands that start its recipe
// runners with overrides. Recipes themselves are Python and are not read.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_bridge_launch(std::string_view text);
void read_bridge_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
