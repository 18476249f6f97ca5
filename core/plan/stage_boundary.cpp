#include "plan/stage_boundary.h"

#include <algorithm>

#include "graph/carried_tensors.h"

namespace shardscape {

StageBoundary stage_boundary(const Graph& graph) {
  const Segment& embedding = graph.segments.front();
  StageBoundary out{embedding.tensor(embedding.output), embedding.tensor(embedding.output), {}};
  if (!graph.structure.scatter_gather || out.stream.placement.uses(MeshAxis::Tp)) return out;
  // Replicate -> Shard costs the sender a local slice, Shard -> Replicate the receiver an all-gather
  // (Narayanan et al., arXiv 2104.04473, section 4.1).
  const auto seq = std::find(out.message.axes.begin(), out.message.axes.end(), Axis::Seq) -
                   out.message.axes.begin();
  out.message.placement.shards[static_cast<size_t>(seq)].push_back(MeshAxis::Tp);
  out.gathered = {MeshAxis::Tp};
  return out;
}

const Tensor& image_message(const Graph& graph) {
  const Segment& embedding = graph.segments.front();
  return embedding.tensor(embedding.input);
}

Expr image_message_bytes(const Graph& graph) {
  return local_bytes(image_message(graph)) + carried_bytes(graph, carried_by_tower(graph));
}

Expr message_vectors(const Graph& graph, const ModelSpec& model, int64_t first_layer, int64_t layers,
                     bool sent) {
  if (graph.structure.vectors == 0) return Expr(1);
  const int none = sent ? 0 : graph.head();  // a stage without layers sends the embedding, or feeds the head
  const int64_t layer = sent ? first_layer + layers - 1 : first_layer;
  const int segment = layers > 0 ? 1 + graph.layer_kind(layer, model) : none;
  const Segment& of = graph.segments[static_cast<size_t>(segment)];
  return vectors_per_token(of.tensor(sent ? of.output : of.input));
}

}  // namespace shardscape
