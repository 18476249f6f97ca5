// Launches of Megatron-LM: scripts, command lines, and the arguments that it prints at the start of a log.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_megatron_launch(std::string_view text);
void read_megatron_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
