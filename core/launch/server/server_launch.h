// Launches of serving engines: commands, scripts, Markdown with commands, options, and logs.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_inferencex_launch(std::string_view text);
bool is_vllm_launch(std::string_view text);
bool is_sglang_launch(std::string_view text);
bool is_trtllm_launch(std::string_view text);
void read_server_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
