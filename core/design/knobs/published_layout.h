// The published layout of a preset as a design, and in words.
#pragma once

#include <optional>
#include <string>

#include "base/problem.h"
#include "design/design.h"
#include "model/library.h"

namespace shardscape {

// Sets the knobs of the preset's published layout; no change without one. A Problem names a knob of the
// preset's file that does not exist or does not accept its value.
std::optional<Problem> apply_published_layout(Design& design, const Preset& preset);

// The published layout in words: "256 H100, tp 2, pp 8, ep 32", with the degrees above 1. Empty without a
// layout, and for a layout that cannot be applied.
std::string published_layout_text(const Preset& preset);

}  // namespace shardscape
