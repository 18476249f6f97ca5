#include "base/suggest.h"

#include <algorithm>

#include "base/number_text.h"

namespace shardscape {

// Optimal string alignment; needs only the last three rows of the table.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = lower_case(word);
  const int limit = std::max(1, static_cast<int>(wanted.size()) / 3);
  std::optional<std::string> best;
  int least = limit + 1;
  for (const std::string& candidate : known) {
    // The distance is at least the difference of the lengths.
    const auto [shorter, longer] = std::minmax({candidate.size(), wanted.size()});
    if (longer - shorter >= static_cast<size_t>(least)) continue;
    const int distance = edit_distance(wanted, lower_case(candidate));
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto near = closest(word, known);
  return near ? "; did you mean \"" + *near + "\"?" : "";
}

}  // namespace shardscape
