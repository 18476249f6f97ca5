#include "app/cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

#include "base/shown_text.h"

namespace shardscape {
namespace {

// Past std::cerr, which lets no control characters through.
const std::string kClearLine = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs(kClearLine.c_str(), stderr);
}

void ProgressLine::show(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || (shown_ && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  shown_ = true;
  std::fputs((kClearLine + printable(text)).c_str(), stderr);
}

}  // namespace shardscape
