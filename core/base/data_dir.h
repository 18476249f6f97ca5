// Folders of the read-only data (models/, resources/, docs/) and of the user's own data.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// The first of: $SHARDSCAPE_DATA, ../share/shardscape relative to the executable's folder, the source tree.
std::filesystem::path data_dir();
// $XDG_DATA_HOME/shardscape, else ~/.local/share/shardscape. The folder may not exist. Empty without $HOME.
std::filesystem::path user_data_dir();
// Every *.json file below data_dir()/sub, then below user_data_dir()/sub. Each part is sorted by path.
std::vector<std::filesystem::path> data_files(const std::string& sub);
// Why read_text refuses a file before it opens it; empty: it does not.
std::string why_unreadable(const std::filesystem::path& path);
// The whole file as text, or a Problem with the path and the reason. The file is a regular file that fits
// into the memory, or a pipe that a shell has opened as /dev/stdin or /dev/fd/N, with at most 256 MiB. A mark
// of UTF-8 at the beginning is left out; texts with a mark of UTF-16 are refused.
Result<std::string> read_text(const std::filesystem::path& path);

}  // namespace shardscape
