// Manual pages of both programs, for man: made from the commands' help and the knob table.
#pragma once

#include <string>

namespace shardscape {

std::string command_line_man_page();  // shardscape-cli.1
std::string window_man_page();        // shardscape.1

}  // namespace shardscape
