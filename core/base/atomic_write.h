// Atomic replacement of a small file: a failed write leaves the old file unchanged.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

class PartialFile;

// The two steps of atomic_write, for several files of which none shall change before all of them are on the
// disk. Without a commit, the file keeps its old text.
class AtomicFile {
 public:
  AtomicFile();
  AtomicFile(AtomicFile&&) noexcept;
  ~AtomicFile();
  // Writes the text to a temporary file next to `path`, and to the disk. The text must live until the commit,
  // when a pipe or a device gets it.
  static Result<AtomicFile> write(const std::filesystem::path& path, std::string_view text);
  // Renames the temporary file to its target.
  std::optional<Problem> commit();

 private:
  std::filesystem::path path_;
  std::string_view text_;
  std::optional<int> descriptor_;      // /dev/stdout and the like: an open file of this process
  std::unique_ptr<PartialFile> file_;  // null for what is no regular file
};

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
