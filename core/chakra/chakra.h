// Numbers of the Chakra execution trace schema on the wire (MLCommons Chakra 1.0, et_def.proto, package
// ChakraProtoMsg).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/enum_count.h"
#include "mesh/collective_kind.h"

namespace shardscape::chakra {

enum class NodeType : uint8_t { Invalid, Metadata, MemLoad, MemStore, Comp, Send, Recv, Coll };
inline constexpr int kNodeTypeCount = static_cast<int>(enum_count<NodeType>());

enum class CollectiveType : uint8_t {
  AllReduce,
  Reduce,
  AllGather,
  Gather,
  Scatter,
  Broadcast,
  AllToAll,
  ReduceScatter,
  ReduceScatterBlock,
  Barrier
};
inline constexpr int kCollectiveTypeCount = static_cast<int>(enum_count<CollectiveType>());

// The type of a collective in a trace. Simulators have no rooted reduction, so it becomes a reduce-scatter of
// the same buffer, which moves as many bytes. Throws std::invalid_argument for SendRecv, which traces
// represent by Send and Recv nodes.
CollectiveType collective_type(CollectiveKind kind);

std::string_view node_type_name(NodeType type);              // "COMM_COLL_NODE"
std::string_view collective_type_name(CollectiveType type);  // "ALL_REDUCE"

// Field numbers of the protobuf messages.
namespace metadata_field {
inline constexpr uint32_t kVersion = 1, kAttr = 2;
}
namespace node_field {
inline constexpr uint32_t kId = 1, kName = 2, kType = 3, kCtrlDeps = 4, kDataDeps = 5, kStartTime = 6,
                          kDuration = 7, kInputs = 8, kOutputs = 9, kAttr = 10;
}
namespace attr_field {
inline constexpr uint32_t kName = 1, kDocString = 2, kDouble = 3, kFloat = 5, kInt32 = 7, kInt64 = 9,
                          kUint32 = 11, kUint64 = 13, kSint32 = 15, kSint64 = 17, kFixed32 = 19,
                          kFixed64 = 21, kSfixed32 = 23, kSfixed64 = 25, kBool = 27, kBoolList = 28,
                          kString = 29, kStringList = 30, kBytes = 31, kBytesList = 32;
}
// The name of an attribute's value field: "int64_val" for 9, "bool_list" for 28.
std::string_view attr_kind_name(uint32_t field);

}  // namespace shardscape::chakra
