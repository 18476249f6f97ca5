// Launches of litgpt: YAML files of `litgpt pretrain`. Names and defaults: Lightning-AI/litgpt
// 26857050fe3ff627cd714fe92f5838f51a3d5efa, litgpt/pretrain.py.
#pragma once

#include "launch/launch_import.h"

namespace shardscape {

bool is_litgpt_launch(std::string_view text);
void read_litgpt_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
