// Temporary files and folders of exports: ".NAME.partial-abc123" next to the target NAME. A running export
// holds a lock on its own, so a later export of the same target knows which ones a killed export left.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// An advisory lock on a file or folder, until the object or the process ends.
class PathLock {
 public:
  PathLock() = default;
  PathLock(PathLock&& other) noexcept;
  PathLock& operator=(PathLock&& other) noexcept;
  ~PathLock();
  // Waits for the lock. Without effect where the file system has no locks.
  static PathLock wait(const std::filesystem::path& path);
  // Nothing if another process holds the lock.
  static std::optional<PathLock> take(const std::filesystem::path& path);

 private:
  int descriptor_ = -1;
};

// A free name next to the target. Problem: no name is free.
Result<std::filesystem::path> partial_path(const std::filesystem::path& target);
// What killed exports of this target left, by name. The caller holds the lock of the parent folder, under
// which every export makes and locks its own.
std::vector<std::filesystem::path> leftovers(const std::filesystem::path& target);
// Bytes of a file, or of the files in a folder.
int64_t bytes_below(const std::filesystem::path& path);
// Removes what killed exports left, and returns a line for people about each: "removed .a.partial-x (3.2
// GiB)".
std::vector<std::string> remove_leftovers(const std::filesystem::path& target);

}  // namespace shardscape
