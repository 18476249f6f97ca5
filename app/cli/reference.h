// The reference pages of the documentation, as Markdown: made from the commands' help, the knob table and the
// list of problems, so that no page can disagree with the program.
#pragma once

#include <string>

namespace shardscape {

std::string command_line_reference();  // docs/command-line.md
std::string json_reference();          // docs/json.md
std::string problem_reference();       // docs/problems.md

}  // namespace shardscape
