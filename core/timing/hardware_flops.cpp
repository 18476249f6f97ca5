#include "timing/hardware_flops.h"

#include <algorithm>
#include <map>

#include "graph/useful_flops.h"
#include "plan/stage_layout.h"

namespace shardscape {
namespace {

struct SkippedFlops {
  double masked = 0, idle = 0;
};

// FLOPs of each op on one rank that kernels do not compute. Masked tiles of a ring lie in each rank's own
// block, so every position gives the same number.
std::vector<std::vector<SkippedFlops>> skipped_by_op(const Report& report, const OpSeconds& ops) {
  const Binding& binding = report.stages.front().binding;
  std::vector<std::vector<SkippedFlops>> out;
  for (size_t s = 0; s < report.graph().segments.size(); ++s) {
    const Segment& segment = report.graph().segments[s];
    out.emplace_back(segment.ops.size());
    for (size_t i = 0; i < segment.ops.size(); ++i) {
      const Op& op = segment.ops[i];
      if (const double skipped = ops.ops[s][i].skipped; skipped > 0)
        out[s][i].masked = skipped * number(op.flops, binding);
      if (!report.graph().structure.derived_slots || report.design.workload.pad_to_capacity) continue;
      if (const Expr useful = useful_flops_of(segment, op.flops); useful != op.flops)
        out[s][i].idle = std::max(0.0, number(op.flops, binding) - number(useful, binding));
    }
  }
  return out;
}

}  // namespace

HardwareFlops hardware_flops(const Report& report, const OpSeconds& ops) {
  const std::vector<std::vector<SkippedFlops>> skipped_flops = skipped_by_op(report, ops);
  const PipelineLayout places = pipeline_layout(report.design.parallel);
  const double runs_of_stage = static_cast<double>(places.microbatches(report.microbatches)) *
                               static_cast<double>(report.ranks) / static_cast<double>(report.stages.size());
  std::map<int, SkippedFlops> stages;  // by StageReport::representative
  double masked = 0, idle = 0;
  for (const StageReport& stage : report.stages) {
    const auto [found, fresh] = stages.try_emplace(stage.representative);
    SkippedFlops& of = found->second;
    if (fresh)
      for (const StageInstance& instance : stage_layout(report, stage).instances) {
        const Segment& segment = report.graph().segments[static_cast<size_t>(instance.segment)];
        for (size_t i = 0; i < segment.ops.size(); ++i) {
          if (!runs(segment.ops[i], instance.of.checkpoint_policy)) continue;
          of.masked += skipped_flops[static_cast<size_t>(instance.segment)][i].masked;
          of.idle += skipped_flops[static_cast<size_t>(instance.segment)][i].idle;
        }
      }
    masked += of.masked * runs_of_stage;
    idle += of.idle * runs_of_stage;
  }
  return {report.step_flops - masked - idle, masked};
}

}  // namespace shardscape
