// Knobs without effect in a mode: training, prefill or decode.
#pragma once

#include <string>
#include <string_view>

#include "design/design.h"

namespace shardscape {

// Why the mode of the design does not use the knob. Empty: it does.
std::string idle_in_mode(const Design& design, std::string_view knob);

}  // namespace shardscape
