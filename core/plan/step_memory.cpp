#include "plan/step_memory.h"

#include "base/memory_limit.h"
#include "base/units.h"
#include "mesh/pipeline_layout.h"
#include "pipeline/schedule.h"

namespace shardscape {
namespace {

int64_t microbatches(const Design& d) { return d.workload.batch / (d.workload.microbatch * d.parallel.dp); }

}  // namespace

Wide step_memory(const Design& d) {
  // Layers, embedding, head with its loss, and depths of multi-token prediction.
  const Wide layers = Wide{d.model.layers} + d.model.mtp_layers + 2;
  const Wide forwards = microbatches(d) * layers;
  if (!trains(d)) return forwards * kBytesOfPass;
  const int passes = 2 + splits_backward(schedule_of(d.parallel)) + (d.workload.recompute == Recompute::Full);
  const ScheduleKind schedule = schedule_of(d.parallel);
  const bool all_wait = schedule == ScheduleKind::GPipe || schedule == ScheduleKind::ZbAuto;
  return forwards * passes * (kBytesOfPass + (all_wait ? kBytesOfWaitingPass : 0));
}

std::optional<Problem> step_memory_short(const Design& d) {
  const int64_t m = microbatches(d);
  return memory_short({.what = "simulating a step of " + grouped(m) + " microbatches",
                       .bytes = step_memory(d),
                       .where = "batch",
                       .accepted = "a smaller batch, a larger microbatch or more replicas"});
}

}  // namespace shardscape
