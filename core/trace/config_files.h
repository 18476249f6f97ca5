// Configuration files of ASTRA-sim's analytical backends for an exported job.
#pragma once

#include <string>
#include <variant>

#include "base/problem.h"
#include "report/report.h"

namespace shardscape {

inline constexpr double kNetworkLatencyNs = 500;  // per hop, as in the network examples that ASTRA-sim ships
// The least with which a step can start with a collective (FSDP, ZeRO-3): the event queue refuses an event at time 0.
inline constexpr int kEndpointDelayNs = 1;

std::string system_json(const Accelerator& accelerator);
// One dimension, so that the congestion-aware backend takes it too: a switch with the scale-up bandwidth where the job
// fits into a node, otherwise that of the NIC. Problem: no bandwidth is published for the accelerator.
std::variant<std::string, Problem> network_yml(const Report& report);
inline constexpr double kHostGbps = 64, kHostLatencyNs = 1000;  // a link of 16 PCIe 5.0 lanes per device, and a guess
// Where a design offloads: the host's memory, over a link per device.
std::string memory_json(const Report& report);
bool uses_host(const Report& report);

}  // namespace shardscape
