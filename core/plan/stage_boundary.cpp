#include "plan/stage_boundary.h"

#include <algorithm>

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

}  // namespace shardscape
