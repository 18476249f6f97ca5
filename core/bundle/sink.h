// Destinations of exported files: a folder, or memory in benchmarks.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

// write() is called from several threads at once, once per file, with the complete file. A name that ends in
// ".sh" is a script.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Whether files must come in the same order each time: write() is then called from one thread.
  virtual bool ordered() const { return false; }
  virtual std::optional<Problem> write(const std::string& name, std::string_view bytes) = 0;
};

// Creates new files in an existing folder. Scripts are executable. The Problem of a full disk states the
// bytes that the whole export needs.
class FolderSink : public ByteSink {
 public:
  // resume: files may exist. A file with the same bytes stays; others are written again.
  FolderSink(std::filesystem::path folder, int64_t bytes_needed, bool resume = false);
  ~FolderSink() override;
  FolderSink(const FolderSink&) = delete;
  FolderSink& operator=(const FolderSink&) = delete;
  std::optional<Problem> write(const std::string& name, std::string_view bytes) override;

 private:
  Problem failed(const std::string& name, int error) const;
  std::filesystem::path folder_;
  int64_t bytes_needed_;
  bool resume_;
  int descriptor_ = -1;
  int open_error_ = 0;
};

// "the bundle needs 12.3 GiB, but the disk has 1.1 GiB free"; or that the disk has no free inodes.
Problem disk_full(const std::filesystem::path& folder, int64_t bytes_needed, int64_t bytes_free);
// Bytes that an unprivileged process may still write; nothing if the number is unknown.
std::optional<int64_t> free_bytes(const std::filesystem::path& folder);

}  // namespace shardscape
