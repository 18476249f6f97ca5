// Files of NeMo 1: megatron_gpt_config.yaml and its kin, with "trainer" and "model".
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_nemo_launch(std::string_view text);
void read_nemo_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
