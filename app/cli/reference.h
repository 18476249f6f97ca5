// The reference pages of the documentation, as Markdown: made from the commands' help and the knob table, so
// that neither can disagree with the program.
#pragma once

#include <string>

namespace shardscape {

std::string command_line_reference();  // docs/command-line.md
std::string json_reference();          // docs/json.md

}  // namespace shardscape
