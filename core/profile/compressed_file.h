// Reads a file part by part, whether compressed with gzip or not. Private to core/profile.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/problem.h"

namespace shardscape {

class CompressedFile {
 public:
  // A Problem (FileUnreadable) if the file cannot be opened.
  static Result<CompressedFile> open(const std::filesystem::path& path);
  // Reads up to `size` bytes of text and returns how many; 0 at the end. A Problem if the compressed data is
  // damaged or ends too early, or if it expands more than any profile does (ProfileFormat).
  Result<size_t> read(char* to, size_t size);

 private:
  struct Close {
    void operator()(void* file) const;
  };
  std::unique_ptr<void, Close> file_;
  std::string name_;
  size_t bytes_on_disk_ = 0, bytes_read_ = 0;
};

}  // namespace shardscape
