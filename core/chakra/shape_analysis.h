// Analysis of the dependencies of a trace file, once for all ranks that share its shape.
#pragma once

#include <cstdint>
#include <vector>

#include "chakra/findings.h"
#include "chakra/trace_shape.h"

namespace shardscape {

// A communication node and the communication nodes that must finish before it. Compute nodes in between are
// folded: their predecessors become predecessors of the next node. A compute node with many predecessors is
// not folded; it is a join.
struct CommNode {
  uint32_t node = 0;  // index into TraceShape::nodes
  bool join = false;  // not a communication node
  uint32_t preds = 0, pred_count = 0;
  uint32_t succs = 0, succ_count = 0;
  // Collectives: number of earlier collectives of the same group in the simulator's order.
  uint32_t issue = 0;
};

struct Transfer {
  int32_t tag = 0;
  int64_t size = 0;
  uint64_t id = 0;
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

struct ShapeAnalysis {
  std::vector<CommNode> comm;                          // in an order that respects dependencies
  std::vector<uint32_t> preds, succs;                  // indices into comm
  std::vector<std::vector<uint32_t>> collectives;      // by group slot: indices into comm
  std::vector<uint64_t> collective_hash;               // by group slot: hash of types and sizes in order
  std::vector<std::vector<Transfer>> sends, receives;  // by peer slot, ascending
  int64_t collective_count = 0, send_count = 0;
  bool complete = false;  // every node can become ready
};

// folded: `comm` contains communication only. Otherwise every node is in `comm`, and nodes without
// communication are joins. Findings name the given rank.
ShapeAnalysis analyse_shape(const TraceShape& shape, int64_t rank, bool folded, Findings& findings);

}  // namespace shardscape
