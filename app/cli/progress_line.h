// A progress line on standard error that is overwritten in place; silent if standard error is no terminal.
#pragma once

#include <chrono>
#include <string>

namespace shardscape {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  bool wanted() const { return terminal_; }
  void show(const std::string& text);  // at most ten times a second

 private:
  bool terminal_ = false, shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace shardscape
