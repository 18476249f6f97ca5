// Rules between ranks: the collectives of a group agree in order, type and size; every send has its receive.
#pragma once

#include "astra_sim/bundle_traces.h"
#include "chakra/findings.h"

namespace shardscape {

void check_collectives_match(const BundleTraces& traces, const BundleConfig& config, Findings& findings);
void check_transfers_match(const BundleTraces& traces, Findings& findings);
// Groups of one rank whose ids are equal modulo 500 share tags in the simulator.
void check_group_ids(const BundleTraces& traces, Findings& findings);

}  // namespace shardscape
