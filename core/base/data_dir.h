// Where the read-only data (models/, resources/) and the person's own data live.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// $SHARDSCAPE_DATA, else the installed share folder beside the executable, else the source tree.
std::filesystem::path data_dir();
// $XDG_DATA_HOME/shardscape or ~/.local/share/shardscape; may not exist.
std::filesystem::path user_data_dir();
// *.json below data_dir()/sub, then below user_data_dir()/sub, each sorted by name.
std::vector<std::filesystem::path> data_files(const std::string& sub);
// Whole file as text, or a Problem that names the path and the reason.
std::variant<std::string, Problem> read_text(const std::filesystem::path& path);

}  // namespace shardscape
