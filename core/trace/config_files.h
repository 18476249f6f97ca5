// Configuration files of ASTRA-sim's analytical backends for an exported job.
#pragma once

#include <string>
#include <variant>

#include "base/problem.h"
#include "report/report.h"

namespace shardscape {

inline constexpr double kNetworkLatencyNs = 500;  // per hop, as in the network examples that ASTRA-sim ships

std::string system_json(const Accelerator& accelerator);
// One dimension, so that the congestion-aware backend takes it too: a switch with the scale-up bandwidth where the job
// fits into a node, otherwise that of the NIC. Problem: no bandwidth is published for the accelerator.
std::variant<std::string, Problem> network_yml(const Report& report);
std::string memory_json();

}  // namespace shardscape
