// Writes the configuration files of ASTRA-sim's analytical backends for an exported job.
#pragma once

#include <string>

#include "astra_sim/sim_cluster.h"
#include "performance/machine.h"
#include "plan/report.h"

namespace shardscape {

// The smallest delay that allows a step to start with a collective (FSDP, ZeRO-3). The simulator's event
// queue rejects an event at time 0.
inline constexpr int kEndpointDelayNs = 1;

// system.json. roofline: compute nodes follow a roofline of the accelerator's dense peak in the storage type
// and its memory rate; otherwise they take the durations of the trace. Several dimensions: all-reduces
// scatter, reduce and gather level by level.
std::string system_json(const Report& report, const SimCluster& cluster, bool roofline);
std::string network_yml(const SimCluster& cluster);
inline constexpr double kHostLatencyNs = 1000;  // assumed
// memory.json. With offload: the host's memory, over one link per device.
std::string memory_json(const Report& report);
bool uses_host(const Report& report);

}  // namespace shardscape
