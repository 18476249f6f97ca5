// The kinds of collectives: what gradient sync plans, what redistributions of the graph become, and what
// machines time. There is no other list; whoever reads it has a switch without a default, so that a new kind
// does not compile until it is handled.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscape {

enum class CollectiveKind : uint8_t {
  AllReduce,
  ReduceScatter,
  AllGather,
  Reduce,
  Broadcast,
  AllToAll,
  SendRecv
};
inline constexpr int kCollectiveKindCount = 7;
std::string_view collective_kind_name(CollectiveKind kind);  // "reduce_scatter", as files say it
std::optional<CollectiveKind> find_collective_kind(std::string_view name);

}  // namespace shardscape
