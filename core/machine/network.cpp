#include "machine/network.h"

#include <algorithm>
#include <map>

namespace shardscape {

GroupSpan span_of(const std::vector<int64_t>& ranks, int64_t domain) {
  std::map<int64_t, int64_t> inside;
  for (int64_t rank : ranks) ++inside[rank / domain];
  GroupSpan span{static_cast<int64_t>(ranks.size()), 1};
  // Where domains hold unequally many, as those of a group that straddles the edge of one do, the fewest decide.
  int64_t fewest = span.ranks;
  for (const auto& [_, count] : inside) fewest = std::min(fewest, count);
  span.per_domain = span.ranks % fewest == 0 ? fewest : 1;
  return span;
}

}  // namespace shardscape
