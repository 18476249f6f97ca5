// Carried tensors of a graph: tensors that one layer makes and later layers read (Segment::carried).
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace shardscape {

// A carried tensor as a segment makes it.
struct MadeCarried {
  int segment = 0;      // index into Graph::segments
  TensorId tensor = 0;  // Carried::out
  TensorId grad = -1;   // Carried::out_grad; -1: no gradient
};
// By index of the tensor; nullopt: no layer reads a tensor of this index. All makers give it one shape.
std::vector<std::optional<MadeCarried>> made_carried(const Graph& graph);
// Bytes of the tensors of a mask on one rank, or of their gradients.
Expr carried_bytes(const Graph& graph, int mask, bool gradients = false);
// Mask of the tensors that layers from this one on read and earlier layers make: they are in the message in
// front of the layer.
int carried_across(const Graph& graph, const ModelSpec& model, int64_t layer);
// Mask of the tensors that the projector makes: they are in the message of a tower on a stage of its own.
int carried_by_tower(const Graph& graph);

}  // namespace shardscape
