// Launches of NeMo Automodel: YAML recipes. Names, defaults and rules: NVIDIA-NeMo/Automodel
// 36044ad3d139363fb6c73c24af2e7c6b65ec52f6.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_automodel_launch(std::string_view text);
void read_automodel_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
