// A step as a timeline for ui.perfetto.dev: nested slices of passes, layers and ops.
#pragma once

#include <memory>
#include <string>

#include "timing/simulation.h"

namespace shardscape {

// Which ops the timeline contains; passes and layers are always present. Some: all ops if the step has at
// most kMostTimelineOps, otherwise the ops of the first and the last microbatch.
enum class TimelineOps : uint8_t { Some, All, None };
inline constexpr size_t kMostTimelineOps = 100'000;

struct TimelineFile {
  std::string json;
  size_t spans = 0, layers = 0, ops = 0;  // counts of written slices
  std::string left_out;                   // number and kind of omitted ops; empty: all are written
};

// Trace Event Format (Google, "Trace Event Format", 2016): one process per stage, one thread per stream.
// Times are microseconds, rounded to nanoseconds as readers round them.
// Slices of a thread nest and never overlap partially. Layers follow one another inside their pass, ops
// inside their layer. Between ops are waits of the compute stream for the host. Between layers are waits for
// FSDP units or for the memory of the host.
// Collectives of concurrent blocks (timing/concurrent_ops.h) have a thread of their own.
// Collectives have `group`, `group_size`, `dtype` and `bytes` (full buffer). `alone_us` is the duration
// without overlap. `packing_us` is the part of the slice that kernels spend on packing and unpacking. Time
// that compute hides has no slice. Ring attention has the same arguments for the sum of its messages, and
// `waits_us`: the time that compute waits for messages. otherData has the machine with the overrides of the
// design, and the omitted ops. `simulation` is the result of simulating `report`.
TimelineFile timeline_file(const std::shared_ptr<const Report>& report,
                           const std::shared_ptr<const Simulation>& simulation, const std::string& title,
                           TimelineOps ops = TimelineOps::Some);

}  // namespace shardscape
