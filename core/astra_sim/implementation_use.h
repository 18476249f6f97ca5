// Whether the algorithms in system.json work for the collectives that the traces of a bundle run.
//
// - halvingDoubling and doubleBinaryTree need powers of two.
// - doubleBinaryTree runs all-reduces of the whole job only.
// A group smaller than the job uses the only entry of a list; with several entries it uses a ring. An
// algorithm that no trace uses does no harm.
//
// Source: astra-sim/astra-sim, astra-sim/system/Sys.cc, generate_collective_impl_from_input and
// generate_collective @518bd51.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "astra_sim/bundle_config.h"
#include "astra_sim/bundle_traces.h"

namespace shardscape {

// By implementation_index: the number of ranks of each group that runs the collective, and the id of the
// first such group.
using CollectiveUse = std::array<std::map<int64_t, int64_t>, kImplementationCount>;

CollectiveUse collective_use(const BundleTraces& traces, const BundleConfig& config);

// One sentence per algorithm that does not work for a collective in use.
std::vector<std::string> implementation_defects(const BundleConfig& config, const CollectiveUse& use);

}  // namespace shardscape
