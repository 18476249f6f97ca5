// Configurations of MLPerf submissions (config_*.sh): variables of the environment that NeMo's settings read.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_mlperf_launch(std::string_view text);
void read_mlperf_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
