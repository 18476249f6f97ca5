// Configuration files of ASTRA-sim's analytical backends for an exported job.
#pragma once

#include <string>

#include "machine/machine.h"
#include "report/report.h"
#include "trace/sim_cluster.h"

namespace shardscape {

// The least with which a step can start with a collective (FSDP, ZeRO-3): the event queue refuses an event at time 0.
inline constexpr int kEndpointDelayNs = 1;

// Roofline of the accelerator: its dense peak in the type that the design stores, and its memory's rate. Without it compute nodes
// last as long as they say. In several dimensions all-reduces scatter, reduce and gather level by level.
std::string system_json(const Report& report, const SimCluster& cluster, bool roofline);
std::string network_yml(const SimCluster& cluster);
inline constexpr double kHostLatencyNs = 1000;  // a guess
// Where a design offloads: the host's memory, over a link per device.
std::string memory_json(const Report& report);
bool uses_host(const Report& report);

}  // namespace shardscape
