// Launches of nanotron: its YAML files. Names and defaults: huggingface/nanotron
// 2411b022a75fb7f7561a1bb4166706da5e1b76de, src/nanotron/config.
#pragma once

#include "launch/launch_import.h"

namespace shardscape {

bool is_nanotron_launch(std::string_view text);
void read_nanotron_launch(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
