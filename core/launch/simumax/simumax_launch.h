// Strategies of SimuMax. Names, defaults and rules: MooreThreads/SimuMax
// 4dcaae513ba7679d56c116a17cd4a691ec41e252, simumax/core/config.py, StrategyConfig.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_simumax_launch(std::string_view text);
void read_simumax_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
