// Random designs over all presets and knobs. Models and worlds are small, so that thousands run quickly.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "design/design.h"

namespace shardscape::test {

inline constexpr int64_t kMaxRandomWorld = 96;

// Random values of all knobs; most designs are invalid.
Design random_design(std::mt19937& random);
// Applies randomly chosen fixes of validate() until the design is valid. Empty if fixes do not lead to a
// valid design, or if the design becomes too large.
std::optional<Design> repaired(Design design, std::mt19937& random);

}  // namespace shardscape::test
