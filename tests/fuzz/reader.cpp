#include "fuzz/reader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace shardscape::fuzz {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

std::string reason(const std::vector<Problem>& problems) {
  return problems.empty() ? std::string() : to_string(problems.front());
}

bool is_deep(std::string_view input) {
  constexpr int kDeepest = 90;
  int depth = 0, deepest = 0;
  for (const char c : input) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest > kDeepest;
}

}  // namespace shardscape::fuzz
