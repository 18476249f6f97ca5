// Files that a launch names and a person has beside it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace shardscape {

// Reads files that lie in the folder or below, by a name relative to it; nullopt for all others.
std::function<std::optional<std::string>(const std::string&)> files_below(
    const std::filesystem::path& folder);

}  // namespace shardscape
