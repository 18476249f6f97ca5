// A trace file boiled down to what matching and playing need. Ranks whose files differ only in the numbers of their groups
// and peers share one shape: nodes refer to them by slot, in order of first use.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/chakra.h"

namespace shardscape {

inline constexpr uint32_t kNoSlot = UINT32_MAX;

struct ShapeNode {
  uint64_t id = 0;
  int64_t size = 0;          // comm_size
  int64_t nanoseconds = 0;   // of compute and memory nodes under the bundle's configuration
  uint32_t deps = 0, dep_count = 0;
  uint32_t slot = kNoSlot;   // collectives: group, sends and receives: peer; kNoSlot where that is wrong
  int32_t tag = 0;
  chakra::NodeType type = chakra::NodeType::Invalid;
  chakra::CollectiveType collective = chakra::CollectiveType::AllReduce;
  bool operator==(const ShapeNode&) const = default;
};

struct TraceShape {
  std::vector<ShapeNode> nodes;   // in file order
  std::vector<uint64_t> deps;     // ids
  uint32_t group_slots = 0, peer_slots = 0;
  bool operator==(const TraceShape&) const = default;
};
uint64_t shape_hash(const TraceShape& shape);

// One rank's numbers for the slots.
struct RankTrace {
  bool readable = false;
  uint32_t shape = 0;
  std::vector<int64_t> groups;    // 0: the world
  std::vector<int64_t> peers;
  int64_t bytes = 0;
  uint64_t digest = 0;            // poly61 of the file
};

}  // namespace shardscape
