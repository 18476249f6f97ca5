// Random designs over all presets and knobs: small models on small worlds, so that thousands are quick.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "design/design.h"

namespace shardscape::test {

inline constexpr int64_t kMaxRandomWorld = 96;

// Anything; most draws are invalid.
Design random_design(std::mt19937& random);
// Brought to validity by applying fixes that validate() offers, picked at random. Nothing where that leads
// nowhere, or to a design that is no longer small.
std::optional<Design> repaired(Design design, std::mt19937& random);
// "--model llama3-8b --layers 3 --tp 2 ...": what the command line takes for this design.
std::string command_flags(const Design& design);

}  // namespace shardscape::test
