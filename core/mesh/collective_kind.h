// The kinds of collectives, for gradient sync, redistributions of the graph, time estimates and traces. A
// reader that treats kinds differently has a switch without a default, or reads a property below. A new kind
// therefore does not compile until all of them handle it. chakra/chakra.h has the numbers of a file format.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/enum_count.h"

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
inline constexpr int kCollectiveKindCount = static_cast<int>(enum_count<CollectiveKind>());
std::string_view collective_kind_name(CollectiveKind kind);  // the name in files: "reduce_scatter"
std::optional<CollectiveKind> find_collective_kind(std::string_view name);

// A rank's result, relative to the buffer that it contributes.
enum class CollectiveResult : uint8_t {
  Whole,     // as large
  Gathered,  // the buffers of all ranks
  Shard      // one rank's part
};
CollectiveResult collective_result(CollectiveKind kind);

}  // namespace shardscape
