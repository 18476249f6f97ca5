// Conditions that a design must satisfy before a graph is built. Each violation comes with accepted values
// and fixes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "symbolic/binding.h"

namespace shardscape {

std::vector<Problem> validate(const Design& design);
// The parts of the last design whose values were in range: a cache for calls of first_error() on many designs
// that differ in few parts.
struct ValidatedParts {
  std::optional<ModelSpec> model;
  std::optional<ParallelSpec> parallel;
  std::optional<WorkloadSpec> workload;
  std::optional<ClusterSpec> cluster;
};
// The knob of the first error in validate(), without the cost of texts and fixes; empty without errors.
std::string first_error(const Design& design, ValidatedParts* known = nullptr);
// Whether validate() has an error at this degree of parallelism, at the same low cost.
bool has_error(const Design& design, std::string_view degree, ValidatedParts* known = nullptr);

// Layers on each of the pp stages: stage_layers, or an even split that counts embedding and head where the
// design says so.
std::vector<int64_t> layers_per_stage(const Design& design);
// Layers per virtual stage, in the order of the model; PipelineLayout gives the stage of each.
std::vector<int64_t> layers_per_virtual_stage(const Design& design);

// Modules of selective recompute in the layers of the architecture; none for an unknown architecture.
RecomputeModules modules_in(const std::string& architecture);
std::string module_names(RecomputeModules modules);  // "layernorm,mlp_act", as in the knob

// The base symbols of a valid design, and its derived symbols with their rules (Vp = align(V, 128·tp), m =
// B/(b·dp)).
Binding bind_symbols(const Design& design);
// Whether the slots of an expert are a derived symbol (Cx): if there is a capacity or an uneven load.
bool slots_are_derived(const Design& design);
std::vector<DerivedSymbol> derived_symbols(const Design& design);

}  // namespace shardscape
