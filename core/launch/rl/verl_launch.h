// Launches of verl: commands with overrides of Hydra, and its YAML. The training step of the actor becomes a
// design; rollouts, the critic and rewards are other steps. volcengine/verl
// b178a3cd56f58b2d502255daba591e92833930a7.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_verl_launch(std::string_view text);
void read_verl_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
