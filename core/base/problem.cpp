#include "base/problem.h"

#include <algorithm>

namespace shardscape {

std::string to_string(const Problem& problem) {
  std::string text;
  if (!problem.where.empty()) text = problem.where + ": ";
  text += problem.what;
  if (!problem.accepted.empty()) text += "; accepted: " + problem.accepted;
  return text;
}

bool has_errors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::Error; });
}

}  // namespace shardscape
