#include "chakra/findings.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/shown_text.h"
#include "base/units.h"

namespace shardscape {

void Findings::add(Finding finding) {
  constexpr size_t kLongest = 1000;  // bytes; longer messages repeat a value of a file
  finding.message = shortened_inside(printable(std::move(finding.message)), kLongest);
  Group& group = groups_[{!finding.error, finding.code}];
  ++group.count;
  group.stored.push_back(std::move(finding));
  if (group.stored.size() > 4 * kStoredPerCode) trim(group);
}

void Findings::trim(Group& group) {
  std::sort(group.stored.begin(), group.stored.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.rank, a.node, a.message) < std::tie(b.rank, b.node, b.message);
  });
  if (group.stored.size() > kStoredPerCode) group.stored.resize(kStoredPerCode);
}

void Findings::merge(Findings&& other) {
  for (auto& [key, from] : other.groups_) {
    Group& to = groups_[key];
    to.count += from.count;
    std::move(from.stored.begin(), from.stored.end(), std::back_inserter(to.stored));
    trim(to);
  }
  other.groups_.clear();
}

std::vector<Finding> Findings::take() {
  std::vector<Finding> all;
  for (auto& [key, group] : groups_) {
    trim(group);
    const auto more = group.count - static_cast<int64_t>(group.stored.size());
    std::move(group.stored.begin(), group.stored.end(), std::back_inserter(all));
    if (more > 0)
      all.push_back({!key.first, key.second, -1, -1, "and " + grouped(more) + " more of this kind", more});
  }
  groups_.clear();
  return all;
}

}  // namespace shardscape
