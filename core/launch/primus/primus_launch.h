// Experiments of Primus (AMD) that run Megatron: modules.pre_trainer with a preset of the model and
// overrides.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_primus_launch(std::string_view text);
void read_primus_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
