// Designs of prefill and decode as commands that start a serving engine.
#pragma once

#include "launch/launch_export.h"

namespace shardscape {

// The script names the preset as its model: a person sets MODEL to a folder or to an id at Hugging Face. A
// Problem (LaunchSetting): the design trains, or the engine has no role for its step.
std::variant<LaunchText, Problem> write_vllm_launch(const Design& design);
std::variant<LaunchText, Problem> write_sglang_launch(const Design& design);
std::variant<LaunchText, Problem> write_trtllm_launch(const Design& design);

}  // namespace shardscape
