// Launches of InternEvo: configurations in Python with literals. Names, defaults and rules:
// InternLM/InternEvo c628a8c87411258e90c50f6a49f6a5e1f507ddb8, internlm/initialize/launch.py.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_internevo_launch(std::string_view text);
void read_internevo_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
