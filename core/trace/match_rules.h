// Rules between ranks: collectives of a group agree in order, type and size; every send has its receive.
#pragma once

#include "trace/bundle_traces.h"
#include "trace/findings.h"

namespace shardscape {

void check_collectives_match(const BundleTraces& traces, const BundleConfig& config, Findings& findings);
void check_transfers_match(const BundleTraces& traces, Findings& findings);
// Ids of one rank's groups that are equal modulo 500 share tags in the simulator.
void check_group_ids(const BundleTraces& traces, Findings& findings);

}  // namespace shardscape
