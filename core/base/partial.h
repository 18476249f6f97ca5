// Temporary files and folders: ".NAME.partial-abc123" next to the target NAME. A running program holds a lock
// on its own, so a later write to the same target knows which ones a killed program left.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
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
  // False where the file system has no locks.
  bool holds() const { return holds_; }

 private:
  int descriptor_ = -1;
  bool holds_ = false;
};

// A new file under a temporary name next to its target, open and locked. It vanishes unless it is committed.
// Results are 0 or the errno of what failed.
class PartialFile {
 public:
  PartialFile() = default;
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  int open(const std::filesystem::path& target, mode_t mode);
  int descriptor() const { return descriptor_; }
  int sync();  // writes the bytes to the disk
  // Gives the file its name, after sync(). EEXIST: without `replace`, there is a file of
  // this name.
  int commit(bool replace);

 private:
  std::filesystem::path target_, path_;
  int descriptor_ = -1;
  bool synced_ = false;
};

// A free name next to the target, also for targets with the longest names. Problem: no name is free.
Result<std::filesystem::path> partial_path(const std::filesystem::path& target);
// What killed programs left of this target, by name. The caller holds the lock of the parent folder, under
// which every export of a folder makes and locks its own.
std::vector<std::filesystem::path> leftovers(const std::filesystem::path& target);
// Bytes of a file, or of the files in a folder.
int64_t bytes_below(const std::filesystem::path& path);
// Removes what killed programs left, and returns a line for people about each: "removed .a.partial-x (3.2
// GiB)". Where the file system has no locks nothing is removed, since a running program may still write.
std::vector<std::string> remove_leftovers(const std::filesystem::path& target);

// Writes all bytes to an open file. 0 or errno.
int write_all(int file, std::string_view bytes);
// Gives an open file or folder the owner, the group and the permissions of the one that it will replace. Only
// root can give files away; without the owner, the permissions are those of the old file all the same. What
// the old group might do, another group may not. Some file systems have fixed permissions. 0 or errno.
int take_rights(int file, const struct stat& old);
// Whether the file system has room for no further file, though it may have free bytes.
bool out_of_files(const std::filesystem::path& folder);
// Writes the entries of a folder to the disk, where the system can.
void sync_folder(const std::filesystem::path& folder);

}  // namespace shardscape
