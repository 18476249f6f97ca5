// shardscape-cli import of a launch file.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"

namespace shardscape {

// "megatron-lm, ..."
std::string launch_framework_ids();
bool is_launch_framework(const std::string& id);
std::vector<Flag> launch_flags();
// Prints what becomes of each field, and writes the design where -o says so. Returns the exit code.
int import_launch_file(const Arguments& arguments, const std::string& path, std::string text);

}  // namespace shardscape
