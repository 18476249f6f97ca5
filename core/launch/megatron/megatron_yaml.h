// Arguments of Megatron-LM in YAML: the MODEL_ARGS of its functional tests, and the files of --yaml-cfg
// (examples/gpt3/gpt_config.yaml), which name arguments as the dump does.
#pragma once

#include <span>
#include <string_view>

#include "launch/launch_import.h"
#include "launch/megatron/megatron_settings.h"

namespace shardscape {

bool is_megatron_yaml(std::string_view text);
void read_megatron_yaml(const LaunchRequest& request, LaunchImport& out);

// Names of Megatron-core's configurations that are not those of the dump (transformer_config.py,
// distributed_data_parallel_config.py).
std::span<const SettingRow> megatron_core_names();

}  // namespace shardscape
