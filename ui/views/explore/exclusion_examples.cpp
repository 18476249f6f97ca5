#include "ui/views/explore/exclusion_examples.h"

#include <algorithm>
#include <random>

#include "design/validate/validate.h"

namespace shardscape::ui {
namespace {

constexpr int kDrawn = 20'000;

}  // namespace

std::map<std::string, std::string> exclusionExamples(const Space& space, const SearchCounts& counts,
                                                     std::stop_token stop) {
  std::map<std::string, std::string> found;
  if (counts.invalid.empty() || space.size() <= 0) return found;
  SpaceCursor cursor(space);
  std::mt19937_64 random(1);
  const bool all = space.size() <= kDrawn;
  const int looks = all ? static_cast<int>(space.size()) : kDrawn;
  for (int i = 0; i < looks && found.size() < counts.invalid.size() && !stop.stop_requested(); ++i) {
    const Wide index = all ? i
                           : ((static_cast<Wide>(random() >> 1) << 64) | static_cast<Wide>(random())) %
                                 space.size();
    const Design& design = cursor.at(index);
    const std::string reason = first_error(design);
    if (reason.empty() || found.count(reason) || !counts.invalid.count(reason)) continue;
    for (const Problem& problem : validate(design))
      if (problem.severity == Severity::Error && problem.where == reason) {
        found[reason] = problem.what;
        break;
      }
  }
  return found;
}

}  // namespace shardscape::ui
