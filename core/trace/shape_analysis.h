// What the dependencies of a trace file mean, once for all ranks that share it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/findings.h"
#include "trace/trace_shape.h"

namespace shardscape {

// The communication nodes of a file with the ones that must have finished before each; compute nodes between them are
// folded into these sets, or kept as joins where a set would grow large.
struct CommNode {
  uint32_t node = 0;            // index into TraceShape::nodes
  bool join = false;            // no communication
  uint32_t preds = 0, pred_count = 0;
  uint32_t succs = 0, succ_count = 0;
  uint32_t issue = 0;           // collectives: how many of the same group come before, in the order of the simulator
};

struct Transfer {
  int32_t tag = 0;
  int64_t size = 0;
  uint64_t id = 0;
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

struct ShapeAnalysis {
  std::vector<CommNode> comm;   // in an order that respects dependencies
  std::vector<uint32_t> preds, succs;  // indices into comm
  std::vector<std::vector<uint32_t>> collectives;      // per group slot: indices into comm
  std::vector<uint64_t> collective_hash;               // per group slot, of types and sizes in order
  std::vector<std::vector<Transfer>> sends, receives;  // per peer slot, ascending
  int64_t collective_count = 0, send_count = 0;
  bool complete = false;        // every node can become ready
};

// Folded: only communication matters. Otherwise every node stands in `comm`, those that do not communicate as joins.
// Findings are put down to the given rank.
ShapeAnalysis analyse_shape(const TraceShape& shape, int64_t rank, bool folded, Findings& findings);

}  // namespace shardscape
