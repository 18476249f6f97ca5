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

// What keeps atomic_write from writing to this path now, as far as that shows without writing: no folder, no
// permission, a file system that is read-only. Nothing if it can write.
std::optional<Problem> why_not_writable(const std::filesystem::path& path);
// The same for a folder that is to be made: asks the nearest folder above it that exists.
std::optional<Problem> why_no_folder(const std::filesystem::path& path);

}  // namespace shardscape
