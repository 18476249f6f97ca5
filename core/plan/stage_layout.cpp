#include "plan/stage_layout.h"

#include "plan/bound_plan.h"

namespace shardscape {

StageLayout stage_layout(const Report& report, const StageReport& stage) {
  return stage_layout(report.graph(), report.design, stage.stage, stage.chunks);
}

bool holds_messages(const Report& report) {
  const Structure& s = report.graph().structure;
  const bool llama3 = s.every_microbatch && s.stays_after_backward;
  return s.trains() && s.sync == SyncStrategy::Fsdp2 && report.stages.size() > 1 && !llama3;
}

bool holds_outputs(const Report& report) {
  const Structure& s = report.graph().structure;
  return holds_messages(report) || (s.trains() && is_deepspeed(s.sync) && report.stages.size() > 1);
}

std::shared_ptr<const PlacedPlan> placed_plan(const Report& report, const StageReport& stage,
                                              const StageSync& sync) {
  if (is_fsdp(sync.strategy) || sync.rows.empty()) return nullptr;
  if (stage.states && stage.states->plan) return stage.states->plan;
  const Graph& graph = report.graph();
  const StageShape& shape = report.model->shapes[static_cast<size_t>(stage.shape)];
  const auto kinds = chunk_kinds(graph, stage, report.design.model);
  const SyncBasis basis = sync_basis(graph);
  return std::make_shared<const PlacedPlan>(place_plan(
      basis, std::get<StagePlan>(stage_plan(basis, graph.structure, stage.binding, report.design.parallel,
                                            shape.first, shape.last, kinds))));
}

}  // namespace shardscape
