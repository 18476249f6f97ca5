// Reads files that may be compressed with gzip (RFC 1952). The first bytes of a file decide, not its name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "base/problem.h"

namespace shardscape {

// A file that is read part by part. Members of a gzip file follow each other.
class CompressedFile {
 public:
  // A Problem (FileUnreadable) if the file cannot be opened.
  static Result<CompressedFile> open(const std::filesystem::path& path);
  CompressedFile(CompressedFile&&) noexcept;
  CompressedFile& operator=(CompressedFile&&) noexcept;
  ~CompressedFile();

  // Reads up to `size` bytes of text and returns how many; 0 at the end. A Problem (FileUnreadable) if the
  // compressed data is damaged, ends too early, or expands further than any text does.
  Result<size_t> read(char* to, size_t size);

 private:
  struct State;
  explicit CompressedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The whole text of a file. Stopped: its beginning; a file without compression is always read to its end.
Result<std::string> read_text_or_gzip(const std::filesystem::path& file, const std::stop_token& stop = {});

}  // namespace shardscape
