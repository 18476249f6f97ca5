// Everything that must hold before a graph is built; each violation with what would be accepted and a fix.
#pragma once

#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "symbolic/binding.h"

namespace shardscape {

std::vector<Problem> validate(const Design& design);
// The knob of the first error among them, found without making any text; empty where there is none.
std::string first_error(const Design& design);

// Layers on each of pp stages: stage_layers, or as even as possible, embedding and head counted where they are accounted for.
std::vector<int64_t> layers_per_stage(const Design& design);
// The same per virtual stage, in the order of the model; PipelineLayout says where each is.
std::vector<int64_t> layers_per_virtual_stage(const Design& design);

// Modules of selective recomputation that layers of the architecture have; none of an unknown one.
RecomputeModules modules_in(const std::string& architecture);
std::string module_names(RecomputeModules modules);  // "layernorm,mlp_act", as the knob has it

// Base symbols of a valid design, and the derived ones with their rules (Vp = align(V, 128·tp), m = B/(b·dp)).
Binding bind_symbols(const Design& design);
// Whether the slots of an expert are a derived symbol (Cx): there is a capacity or an uneven load.
bool slots_are_derived(const Design& design);
std::vector<DerivedSymbol> derived_symbols(const Design& design);

}  // namespace shardscape
