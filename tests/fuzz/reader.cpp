#include "fuzz/reader.h"

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

}  // namespace shardscape::fuzz
