// Messages between neighbouring stages: the residual stream forward, and its gradient backward. A model with
// residual blocks sends several vectors per token (vectors_sent_symbol); the tensors here have one.
#pragma once

#include "graph/graph.h"

namespace shardscape {

struct StageBoundary {
  Tensor stream;   // the residual stream inside the segments
  Tensor message;  // the tensor that is sent; split over tp as well under scatter_gather
  // Axes of the all-gather that turns a message into the stream. Empty: message and stream have the same
  // placement.
  MeshAxes gathered;
};
StageBoundary stage_boundary(const Graph& graph);
// The message of a vision tower on a stage of its own to the stage with the embedding: the tokens of images.
// Their gradient is as large; a frozen tower receives none.
const Tensor& image_message(const Graph& graph);
// Bytes of the message, with the tokens that are added to later layers.
Expr image_message_bytes(const Graph& graph);
// Vectors per token in the message that a stage with these layers sends, or receives: 1 without residual
// blocks.
Expr message_vectors(const Graph& graph, const ModelSpec& model, int64_t first_layer, int64_t layers,
                     bool sent);

}  // namespace shardscape
