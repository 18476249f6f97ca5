// Writes a design as a command line of MaxText.
#pragma once

#include "launch/launch_export.h"

namespace shardscape {

// Problems (LaunchSetting): no training step, or blocks that MaxText's reader does not know by sizes.
std::variant<LaunchText, Problem> write_maxtext(const Design& design);

}  // namespace shardscape
