#include "chakra/chakra.h"

#include <stdexcept>

#include <array>

namespace shardscape::chakra {

CollectiveType collective_type(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce: return CollectiveType::AllReduce;
    case CollectiveKind::AllGather: return CollectiveType::AllGather;
    case CollectiveKind::Broadcast: return CollectiveType::Broadcast;
    case CollectiveKind::AllToAll: return CollectiveType::AllToAll;
    case CollectiveKind::Reduce:
    case CollectiveKind::ReduceScatter: return CollectiveType::ReduceScatter;
    case CollectiveKind::SendRecv: break;
  }
  throw std::invalid_argument("a trace represents SendRecv by Send and Recv nodes, not by a collective");
}

std::string_view node_type_name(NodeType type) {
  static constexpr std::array<std::string_view, kNodeTypeCount> names{
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
  return names.at(static_cast<size_t>(type));
}

std::string_view collective_type_name(CollectiveType type) {
  static constexpr std::array<std::string_view, kCollectiveTypeCount> names{
      "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
      "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
  return names.at(static_cast<size_t>(type));
}

std::string_view attr_kind_name(uint32_t field) {
  static constexpr std::array<std::string_view, 30> names{
      "double_val",  "double_list",  "float_val",    "float_list",    "int32_val",    "int32_list",
      "int64_val",   "int64_list",   "uint32_val",   "uint32_list",   "uint64_val",   "uint64_list",
      "sint32_val",  "sint32_list",  "sint64_val",   "sint64_list",   "fixed32_val",  "fixed32_list",
      "fixed64_val", "fixed64_list", "sfixed32_val", "sfixed32_list", "sfixed64_val", "sfixed64_list",
      "bool_val",    "bool_list",    "string_val",   "string_list",   "bytes_val",    "bytes_list"};
  return field < attr_field::kDouble || field - attr_field::kDouble >= names.size()
             ? "no value"
             : names[field - attr_field::kDouble];
}

}  // namespace shardscape::chakra
