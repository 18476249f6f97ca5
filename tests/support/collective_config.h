// Networks with round numbers, on which the time of a collective can be worked out by hand.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "astra_sim/sim_network.h"

namespace shardscape::test {

inline constexpr double kByteEveryNs = 1e9 / (1 << 30);  // of network.yml, whose GB are 2^30 bytes

// A byte and 100 ns per hop; memory moves 1,000 bytes per ns, so that adding up m bytes takes 3 floor(m /
// 1000). D is 1 ns. by: of all collectives, except that only all-reduces use doubleBinaryTree.
inline BundleConfig collective_config(const std::string& topology, std::vector<int64_t> ranks,
                                      const std::string& by) {
  BundleConfig c;
  c.ranks = 1;
  for (const int64_t n : ranks) {
    c.dimensions.push_back({topology, n, kByteEveryNs, 100});
    c.ranks *= n;
  }
  for (auto& list : c.implementations) list.assign(ranks.size(), by == "doubleBinaryTree" ? "ring" : by);
  c.implementations[implementation_index(chakra::CollectiveType::AllReduce).value()].assign(ranks.size(), by);
  c.endpoint_delay = 1;
  c.memory_bytes_per_second = 1e12;
  return c;
}

// A collective that groups of these sizes run: the number of ranks, and the id of the first such group.
inline CollectiveUse only_use(chakra::CollectiveType type, std::map<int64_t, int64_t> groups) {
  CollectiveUse use;
  use[implementation_index(type).value()] = std::move(groups);
  return use;
}

// When the members end. begin: when they begin.
inline std::vector<int64_t> collective_times(const BundleConfig& c, const SimCollective& what,
                                             std::vector<int64_t> begin) {
  const auto made = SimNetwork::make(c,
                                     only_use(what.type, {{static_cast<int64_t>(what.members.size()), 0}}));
  if (const auto* problem = std::get_if<Problem>(&made)) throw std::runtime_error(to_string(*problem));
  if (!std::get<SimNetwork>(made).collective(what, begin))
    throw std::runtime_error("the collective never ends");
  return begin;
}

}  // namespace shardscape::test
