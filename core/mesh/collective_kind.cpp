#include "mesh/collective_kind.h"

#include <stdexcept>

namespace shardscape {

std::string_view collective_kind_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce: return "all_reduce";
    case CollectiveKind::ReduceScatter: return "reduce_scatter";
    case CollectiveKind::AllGather: return "all_gather";
    case CollectiveKind::Reduce: return "reduce";
    case CollectiveKind::Broadcast: return "broadcast";
    case CollectiveKind::AllToAll: return "all_to_all";
    case CollectiveKind::SendRecv: return "send_recv";
  }
  return {};
}

std::optional<CollectiveKind> find_collective_kind(std::string_view name) {
  for (int k = 0; k < kCollectiveKindCount; ++k)
    if (const auto kind = static_cast<CollectiveKind>(k); collective_kind_name(kind) == name) return kind;
  return std::nullopt;
}

CollectiveResult collective_result(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllGather: return CollectiveResult::Gathered;
    case CollectiveKind::ReduceScatter: return CollectiveResult::Shard;
    case CollectiveKind::AllReduce:
    case CollectiveKind::Reduce:
    case CollectiveKind::Broadcast:
    case CollectiveKind::AllToAll:
    case CollectiveKind::SendRecv: return CollectiveResult::Whole;
  }
  return CollectiveResult::Whole;
}

CommOp::CommOp(CollectiveKind kind) : kind_(kind) {
  if (kind == CollectiveKind::SendRecv)
    throw std::invalid_argument("a report counts the sends and the receives of messages separately");
}

std::string_view CommOp::name() const {
  switch (part_) {
    case CommPart::Collective: return collective_kind_name(kind_);
    case CommPart::Send: return "send";
    case CommPart::Receive: return "recv";
  }
  return {};
}

}  // namespace shardscape
