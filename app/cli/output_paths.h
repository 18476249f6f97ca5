// The files and folders that a command will write, checked before it starts: a search of hours must not end
// with a file that cannot be written, and no output may replace an input.
#pragma once

#include <optional>

#include "app/cli/arguments.h"

namespace shardscape {

// The Problem names the flag or the path. ConflictingFlags: wrong usage; other codes: of the file or folder.
std::optional<Problem> check_output_paths(const Arguments& arguments, const Command& command);

}  // namespace shardscape
