// The kinds of collectives, for gradient sync, redistributions of the graph and time estimates. This is the
// only list. Every reader has a switch without a default, so a new kind does not compile until all readers
// handle it.
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
std::string_view collective_kind_name(CollectiveKind kind);  // the name in files: "reduce_scatter"
std::optional<CollectiveKind> find_collective_kind(std::string_view name);

}  // namespace shardscape
