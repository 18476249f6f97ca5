#include "simulate/stage_layout.h"

#include "report/outline.h"

#include "graph/chunk_layers.h"
#include "parallel/pipeline_layout.h"

namespace shardscape {

StageLayout stage_layout(const Report& report, const StageReport& stage) {
  const Graph& graph = report.graph();
  StageLayout out;
  const PipelineLayout places = pipeline_layout(report.design.parallel);
  const auto add = [&](int segment, int64_t layer, LayerClass layer_class) {
    out.instances.push_back({segment, layer, layer_class, out.instances.size(), false});
  };
  for (size_t c = 0; c < stage.chunks.size(); ++c) {
    const StageChunk& chunk = stage.chunks[c];
    const size_t first = out.instances.size();
    const StagePlace here{stage.stage, static_cast<int64_t>(c)};
    if (places.first(here)) add(0, -1, {});
    const size_t first_layer = out.instances.size();
    for (const ChunkLayer& layer : chunk_layers(graph, report.design, chunk.first_layer, chunk.layers)) {
      add(layer.segment, chunk.first_layer + layer.index, {layer.keeps, layer.offloaded});
      out.instances.back().group = first_layer + static_cast<size_t>(layer.begin);
      out.instances.back().ends_group = layer.ends_group();
    }
    if (places.last(here)) add(graph.head(), -1, {});
    out.chunks.push_back({first, out.instances.size()});
  }
  return out;
}

bool keeps_messages(const Report& report) {
  const Structure& s = report.graph().structure;
  return s.trains() && s.sync == SyncStrategy::Fsdp2 && report.stages.size() > 1;
}

std::shared_ptr<const PlacedPlan> placed_plan(const Report& report, const StageReport& stage, const StageSync& sync) {
  if (is_fsdp(sync.strategy) || sync.rows.empty()) return nullptr;
  if (stage.states && stage.states->plan) return stage.states->plan;
  const Graph& graph = report.graph();
  const StageShape& shape = report.model->shapes[static_cast<size_t>(stage.shape)];
  const auto kinds = chunk_kinds(graph, stage, report.design.model);
  const SyncBasis basis = sync_basis(graph);
  return std::make_shared<const PlacedPlan>(place_plan(basis, stage_plan(basis, graph.structure, stage.binding, report.design.parallel, shape.first, shape.last, kinds)));
}

}  // namespace shardscape
