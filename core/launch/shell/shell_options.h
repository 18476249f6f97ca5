// Options of a script, as its getopts loop reads them (POSIX.1-2017, getopts).
#pragma once

#include <string>
#include <vector>

#include "launch/shell/shell_words.h"

namespace shardscape {

// "getopts SPEC NAME [ARGUMENTS]": sets NAME, OPTARG and OPTIND. False: there are no more options.
bool next_shell_option(ShellState& state, const std::vector<std::string>& words);

}  // namespace shardscape
