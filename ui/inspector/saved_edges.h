// Saved activations: from the forward op that makes a tensor to the backward ops that read it.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape::ui {

struct SavedEdge {
  OpId from, to;
  TensorId tensor;
};

// The edges that start or end at the op, one per pair of ops.
std::vector<SavedEdge> saved_edges(const Segment& segment, OpId op);
// The total bytes of the storages that this op saves for its backward.
Expr saved_bytes(const Segment& segment, OpId op);

}  // namespace shardscape::ui
