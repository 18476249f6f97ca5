// Atomic replacement of a small file: a failed write leaves the old file unchanged.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

// Writes a temporary file next to `path`, syncs it and renames it. The new file has the permissions of the
// old one; a symbolic link stays. What is no regular file, such as a device, a pipe or /dev/stdout, gets the
// bytes directly. Returns a Problem with the path and the reason of the system on failure, and for a file
// that is read-only.
std::optional<Problem> atomic_write(const std::filesystem::path& path, std::string_view text);

}  // namespace shardscape
