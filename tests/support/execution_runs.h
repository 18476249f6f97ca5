// Meshes and settings of proofs by execution.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "design/design.h"

namespace shardscape::test {

// Sets a knob. Throws std::invalid_argument where it does not exist or refuses the value.
void set_value(Design& design, const std::string& knob, const std::string& value);

// Sets knobs between spaces: "tp=2 sp pp=2 recompute=full", with `sp` for sequence_parallel=true.
void set_knobs(Design& design, const std::string& settings);

// Ranks of each kind of parallelism, with or without sequence parallelism.
void set_mesh(Design& design, int64_t tp, bool sp, int64_t pp, int64_t dp, int64_t cp = 1);

// The first error of validate() as text; empty for a valid design.
std::string first_problem(const Design& design);

// Whether the design is one that docs/limits.md refuses, or has numbers that do not divide by its degrees.
// Throws std::logic_error if it is refused for another reason.
bool refused(const Design& design);

}  // namespace shardscape::test
