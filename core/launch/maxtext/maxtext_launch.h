// Launches of MaxText: YAML files, command lines of overrides, and the parameters in its logs.
#pragma once

#include "launch/launch_import.h"

namespace shardscape {

bool is_maxtext_launch(std::string_view text);
void read_maxtext_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
