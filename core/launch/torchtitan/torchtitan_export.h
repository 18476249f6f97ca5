// Writes a design as a TOML file of torchtitan v0.2.2, the last version with TOML files.
#pragma once

#include "launch/launch_export.h"

namespace shardscape {

// Problems (LaunchSetting): no training step, or a model that is no flavor of torchtitan.
std::variant<LaunchText, Problem> write_torchtitan(const Design& design);

}  // namespace shardscape
