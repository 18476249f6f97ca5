// The lines of a script, a log or another text, without a copy.
#pragma once

#include <algorithm>
#include <string_view>

namespace shardscape {

// use(line without its line break, number of the line from 1)
template <typename Use>
void for_lines(std::string_view text, const Use& use) {
  int number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    use(text.substr(at, end - at), number);
    at = end + 1;
  }
}

inline bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace shardscape
