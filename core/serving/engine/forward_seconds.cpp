#include "serving/engine/forward_seconds.h"

#include <algorithm>

#include "plan/stage_layout.h"
#include "timing/layer_seconds.h"
#include "timing/machine_of.h"
#include "timing/served_seconds.h"

namespace shardscape {
namespace {

double sum(const std::vector<ForwardSeconds::Stage>& stages, double ForwardSeconds::Stage::*part) {
  double out = 0;
  for (const ForwardSeconds::Stage& stage : stages) out += stage.*part;
  return out;
}

}  // namespace

double ForwardSeconds::tokens() const { return sum(stages, &Stage::tokens); }
double ForwardSeconds::attention() const { return sum(stages, &Stage::attention); }
double ForwardSeconds::head() const { return sum(stages, &Stage::head); }

ForwardSeconds forward_seconds(const Report& report) {
  const Machine machine = machine_of(report.design);
  LayerTable table(report, machine);
  // Of each segment.
  std::vector<int64_t> kernels;
  for (const std::vector<OpTime>& ops : table.ops().ops)
    kernels.push_back(std::count_if(ops.begin(), ops.end(), [](const OpTime& op) { return op.seconds > 0; }));
  ForwardSeconds out;
  for (const StageReport& stage : report.stages) {
    ForwardSeconds::Stage& part = out.stages.emplace_back();
    for (const StageInstance& instance : stage_layout(report, stage).instances) {
      const PartSeconds& forward = table.at(instance.segment, instance.of).of(Part::Forward);
      const double attention = forward.categories[static_cast<size_t>(TimeCategory::Attention)];
      const bool head = report.graph().segments[static_cast<size_t>(instance.segment)].kind ==
                        SegmentKind::Head;
      part.attention += attention;
      out.kernels += kernels[static_cast<size_t>(instance.segment)];
      (head ? part.head : part.tokens) += forward.seconds - attention;
    }
  }
  if (report.stages.size() > 1)
    if (const auto simulation = simulate(report))
      out.messages = std::max(
          0.0, seconds_through_stages(*simulation) - out.tokens() - out.attention() - out.head());
  return out;
}

}  // namespace shardscape
