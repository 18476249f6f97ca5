// Recipes in Python (Megatron-Bridge, NeMo 2): recognised, and refused with what can be read instead.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_megatron_recipe(std::string_view text);
void refuse_megatron_recipe(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
