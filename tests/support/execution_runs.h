// Meshes and settings of proofs by execution.
#pragma once

#include <initializer_list>
#include <string>

#include "design/design.h"

namespace shardscape::test {

// Sets knobs: "tp=2 sp pp=2 recompute=full", with `sp` for sequence_parallel=true. Throws
// std::invalid_argument where a knob does not exist or refuses the value.
void set_knobs(Design& design, const std::string& settings);

// The first error of validate() as text; empty for a valid design.
std::string first_problem(const Design& design);

// Whether the design is one that docs/limits.md refuses, or has numbers that do not divide by its degrees.
// Throws std::logic_error if it is refused for another reason.
bool refused(const Design& design);

}  // namespace shardscape::test
