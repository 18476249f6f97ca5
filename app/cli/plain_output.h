// Keeps control characters of files, names and flags from the terminal.
#pragma once

#include <memory>
#include <ostream>

namespace shardscape {

// As long as it lives, control characters other than line breaks and tabs are written as "\x1b".
class PlainOutput {
 public:
  explicit PlainOutput(std::ostream& stream);
  ~PlainOutput();
  PlainOutput(const PlainOutput&) = delete;
  PlainOutput& operator=(const PlainOutput&) = delete;

 private:
  class Buffer;
  std::ostream& stream_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace shardscape
