// Designs as scripts that start Megatron-Bridge's run_recipe.py with the recipe vanilla_gpt_pretrain_config,
// which leaves every value to overrides of the command.
#pragma once

#include <variant>

#include "launch/launch_export.h"

namespace shardscape {

std::variant<LaunchText, Problem> write_bridge_script(const Design& design);

}  // namespace shardscape
