// Designs as scripts that start Megatron-LM's pretrain_gpt.py with torchrun.
#pragma once

#include <variant>

#include "launch/launch_export.h"

namespace shardscape {

std::variant<LaunchText, Problem> write_megatron_script(const Design& design);

}  // namespace shardscape
