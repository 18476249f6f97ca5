#include "serving/engine/draft.h"

#include <algorithm>
#include <string>

#include "graph/graph.h"
#include "memory/estimate.h"
#include "serving/inference.h"
#include "timing/op_seconds.h"

namespace shardscape {
namespace {

constexpr int64_t kDraftContext = 1 << 20;  // exceeds every window

// The block of the segment that reads the parameter; empty: none.
std::string block_reading(const Segment& segment, TensorId parameter) {
  for (const Op& op : segment.ops)
    if (std::find(op.inputs.begin(), op.inputs.end(), parameter) != op.inputs.end() && op.block >= 0)
      return segment.blocks[static_cast<size_t>(op.block)].template_id;
  return "";
}

// Tables of the vocabulary that the model has, too.
int64_t shared_bytes(const Report& draft, const Report& model) {
  const std::vector<BlockInstance>&
      head = model.graph().segments[static_cast<size_t>(model.graph().head())].blocks;
  double out = 0;
  for (const Segment& segment : draft.graph().segments) {
    if (segment.kind != SegmentKind::Embedding && segment.kind != SegmentKind::Head) continue;
    for (const Param& param : segment.params) {
      if (!param.vocab_padded) continue;
      const std::string block = block_reading(segment, param.tensor);
      const bool shared = segment.kind == SegmentKind::Embedding ||
                          std::any_of(head.begin(), head.end(),
                                      [&](const BlockInstance& of) { return of.template_id == block; });
      if (shared) out += number(local_bytes(segment.tensor(param.tensor)), draft.stages.front().binding);
    }
  }
  return static_cast<int64_t>(out);
}

}  // namespace

Design module_design(const Design& engine) {
  Design out = engine;
  out.workload.draft_module = true;
  out.parallel.pp = out.parallel.virtual_stages = 1;
  out.parallel.stage_layers.clear();
  out.parallel.account_for_embedding_in_pipeline_split = false;
  out.parallel.account_for_loss_in_pipeline_split = false;
  return out;
}

Design draft_model_design(const Design& engine, const ModelSpec& model, int64_t tp) {
  Design out = engine;
  out.model = model;
  out.parallel = ParallelSpec{};
  out.parallel.tp = tp;
  out.parallel.dp = engine.parallel.dp;
  return out;
}

std::shared_ptr<const Report> draft_step(const Design& draft, std::shared_ptr<PlanCache> cache) {
  return estimate(serving_design(draft, Mode::Decode, least_batch(draft), kDraftContext), std::move(cache));
}

Result<int64_t> draft_weights(const Draft& draft, const Report& model, std::shared_ptr<PlanCache> cache) {
  if (!draft.design) return int64_t{0};
  const auto report = draft_step(*draft.design, std::move(cache));
  for (const Problem& problem : report->problems)
    if (problem.severity == Severity::Error) return problem;
  int64_t out = report->memory->stages.front().at_peak[static_cast<size_t>(MemoryCategory::Parameters)];
  if (draft.kind != DraftKind::Model) out -= shared_bytes(*report, model);
  if (draft.kind == DraftKind::Eagle)
    out += 2 * model.design.model.hidden * draft.design->model.hidden *
           dtype_bytes(model.design.workload.dtype);
  return out;
}

}  // namespace shardscape
