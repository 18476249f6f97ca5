// Flags for configuration files that are not in the folder of the traces.
#pragma once

#include <filesystem>
#include <vector>

#include "app/cli/arguments.h"
#include "astra_sim/bundle_config.h"

namespace shardscape {

// --groups, --system, --network and --memory.
std::vector<Flag> bundle_path_flags();
BundlePaths bundle_paths(const Arguments& arguments, const std::filesystem::path& folder);

}  // namespace shardscape
