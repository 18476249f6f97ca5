// Texts of --help.
#pragma once

#include <string>

#include "app/cli/command.h"

namespace shardscape {

std::string overview_help();
std::string command_help(const Command& command);

}  // namespace shardscape
