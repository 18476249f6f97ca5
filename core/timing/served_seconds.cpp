#include "timing/served_seconds.h"

#include <algorithm>

namespace shardscape {
namespace {

double busiest_stage(const Simulation& simulation) {
  double most = 0;
  for (const StageTimes& stage : simulation.stages) {
    double busy = 0;
    for (const Span& span : stage.spans)
      if (span.stream == StreamKind::Compute) busy += span.end - span.begin;
    most = std::max(most, busy);
  }
  return most;
}

}  // namespace

double seconds_through_stages(const Simulation& simulation) {
  double end = 0;
  for (const StageTimes& stage : simulation.stages)
    for (const Span& span : stage.spans)
      if (span.microbatch == 0) end = std::max(end, span.end);
  return end;
}

double served_seconds(const Report& report, const Simulation& simulation) {
  return report.design.workload.mode == Mode::Decode
             ? std::max(busiest_stage(simulation), seconds_through_stages(simulation))
             : simulation.step_seconds;
}

}  // namespace shardscape
