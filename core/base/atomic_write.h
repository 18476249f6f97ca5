// Atomic replacement of a small file: a failed write leaves the old file unchanged.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

// Writes a temporary file next to `path`, syncs it and renames it. Returns a Problem with the path and the
// reason of the system on failure.
std::optional<Problem> atomic_write(const std::filesystem::path& path, std::string_view text);

}  // namespace shardscape
