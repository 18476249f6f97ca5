// Completions for shells, of both programs: commands, flags, choices, presets, files. Made from the commands
// and the knob table.
#pragma once

#include <string>

namespace shardscape {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace shardscape
