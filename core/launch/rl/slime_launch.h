// Scripts of slime: arguments of Megatron-LM for the trained model, with those of rollouts beside them.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_slime_launch(std::string_view text);
void read_slime_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
