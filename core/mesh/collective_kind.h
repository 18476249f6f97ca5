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

// What a row of a report counts on a rank: collectives of one kind, or one end of messages.
enum class CommPart : uint8_t { Collective, Send, Receive };
class CommOp {
 public:
  // Throws std::invalid_argument for SendRecv: its two ends have rows of their own.
  CommOp(CollectiveKind kind);
  static CommOp send() { return CommOp(CommPart::Send); }
  static CommOp receive() { return CommOp(CommPart::Receive); }
  CommPart part() const { return part_; }
  bool is_message() const { return part_ != CommPart::Collective; }
  std::string_view name() const;  // the name in files: "reduce_scatter", "send", "recv"
  friend bool operator==(const CommOp&, const CommOp&) = default;
  // By name, the order of rows in reports.
  friend bool operator<(const CommOp& a, const CommOp& b) { return a.name() < b.name(); }

 private:
  explicit CommOp(CommPart end) : kind_(CollectiveKind::SendRecv), part_(end) {}
  CollectiveKind kind_;
  CommPart part_ = CommPart::Collective;
};

}  // namespace shardscape
