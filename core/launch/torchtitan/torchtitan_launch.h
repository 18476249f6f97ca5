// Launches of torchtitan: TOML files, the settings in its logs, and why Python recipes cannot be read.
#pragma once

#include "launch/launch_import.h"

namespace shardscape {

bool is_torchtitan_launch(std::string_view text);
void read_torchtitan_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
