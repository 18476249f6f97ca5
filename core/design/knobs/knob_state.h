// The state of a knob in a design: whether the knob has an effect, and which choices are impossible.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "design/design.h"
#include "design/knobs/knobs.h"

namespace shardscape {

// The reason why no value of the knob has an effect in this design: "the llama architecture has no experts".
// nullopt if the knob has an effect.
std::optional<std::string> without_effect(const Design& design, const Knob& knob);

// A test whether the knob has no effect, for use on many designs.
using NoEffectTest = std::function<bool(const Design&)>;
NoEffectTest no_effect_test(const Knob& knob);

// The new error that the knob would cause with this value: "zero-3 does not support pipeline stages". nullopt
// if the value is possible. Costs as much as two calls of validate().
std::optional<std::string> impossible_choice(const Design& design, const Knob& knob,
                                             const std::string& value);

}  // namespace shardscape
