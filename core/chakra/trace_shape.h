// A trace file reduced to the data that matching and simulation need. Ranks whose files differ only in group
// and peer numbers share one shape. Nodes refer to these numbers by slot, in order of first use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chakra/chakra.h"

namespace shardscape {

inline constexpr uint32_t kNoSlot = UINT32_MAX;

struct ShapeNode {
  uint64_t id = 0;
  int64_t size = 0;  // comm_size
  // Duration of compute and memory nodes under the bundle's configuration.
  int64_t nanoseconds = 0;
  uint32_t deps = 0, dep_count = 0;
  // Collectives: slot of the group. Sends and receives: slot of the peer. kNoSlot if the attribute is
  // invalid.
  uint32_t slot = kNoSlot;
  int32_t tag = 0;
  chakra::NodeType type = chakra::NodeType::Invalid;
  std::optional<chakra::CollectiveType> collective{};  // Coll; nullopt if the attribute is invalid
  bool operator==(const ShapeNode&) const = default;
};

// "ALL_REDUCE of 4,096 bytes"
std::string collective_text(const ShapeNode& node);

struct TraceShape {
  std::vector<ShapeNode> nodes;  // in file order
  std::vector<uint64_t> deps;    // ids
  uint32_t group_slots = 0, peer_slots = 0;
  bool operator==(const TraceShape&) const = default;
};
uint64_t shape_hash(const TraceShape& shape);

// One rank's values for the slots of its shape.
struct RankTrace {
  bool readable = false;
  uint32_t shape = 0;
  std::vector<int64_t> groups;  // group ids; 0: all ranks
  std::vector<int64_t> peers;
  int64_t bytes = 0;
  uint64_t digest = 0;  // poly61 of the file
};

}  // namespace shardscape
