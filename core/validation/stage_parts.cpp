#include "validation/stage_parts.h"

#include "graph/useful_flops.h"

namespace shardscape {

Wide value_of(const Expr& expr, const Binding& binding) {
  const auto result = evaluate(expr, binding);
  const Wide* value = std::get_if<Wide>(&result);
  return value ? *value : 0;
}

std::vector<ChunkLayer> parts_of_chunk(const Report& report, const StageReport& stage, size_t chunk) {
  const Graph& graph = report.graph();
  const StageChunk& layers = stage.chunks[chunk];
  std::vector<ChunkLayer> out = chunk_layers(graph, report.design, layers.first_layer, layers.layers);
  const PipelineLayout places = pipeline_layout(report.design.parallel);
  const StagePlace here{stage.stage, static_cast<int64_t>(chunk)};
  if (places.last(here)) out.push_back({.segment = graph.head()});
  if (places.first(here)) out.insert(out.begin(), ChunkLayer{.segment = 0});
  return out;
}

SegmentNumbers segment_numbers(const Segment& segment, CheckpointPolicy checkpoint_policy,
                               const Binding& binding) {
  SegmentNumbers out;
  for (const Param& p : segment.params)
    out.parameters += value_of(local_elements(segment.tensor(p.tensor)), binding);
  for (const Op& op : segment.ops) {
    if (!has_model_flops(op.kind) || !runs(op, checkpoint_policy)) continue;
    Wide& sum = op.phase == Phase::Forward     ? out.forward_flops
                : op.phase == Phase::Recompute ? out.recompute_flops
                                               : out.backward_flops;
    sum += value_of(op.flops, binding);
  }
  for (const SavedStorage& s : saved_by(segment, checkpoint_policy)) {
    const Storage& storage = segment.storages[static_cast<size_t>(s.storage)];
    const Wide bytes = value_of(storage.bytes, binding);
    out.saved += bytes;
    out.storages.emplace_back(storage.name + " for " + segment.op(s.saver).name, bytes);
  }
  return out;
}

}  // namespace shardscape
