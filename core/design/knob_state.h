// What a design makes of a knob: whether it has any effect there, and which of its choices the rest does not go with.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "design/design.h"
#include "design/knobs.h"

namespace shardscape {

// Why no value of the knob changes anything of this design: "the llama architecture has no experts". Nothing where one does.
std::optional<std::string> without_effect(const Design& design, const Knob& knob);

// Whether there is such a reason, for those who ask it of many designs.
using IdleTest = std::function<bool(const Design&)>;
IdleTest idle_test(const Knob& knob);

// What would be wrong with the design if the knob had this value and is not wrong now: "zero-3 does not go with pipeline
// stages". Nothing where the value can be chosen. As costly as validate().
std::optional<std::string> impossible_choice(const Design& design, const Knob& knob, const std::string& value);

}  // namespace shardscape
