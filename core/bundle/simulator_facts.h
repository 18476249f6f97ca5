// Facts about ASTRA-sim that a user of a bundle needs, for the README of the bundle and for the command line.
#pragma once

#include <string>
#include <vector>

#include "bundle/bundle.h"

namespace shardscape {

// Only facts that concern this bundle. Each is one sentence or two, without a full stop.
std::vector<std::string> simulator_facts(const Report& report, const ExportOptions& options);

}  // namespace shardscape
