// A step as a timeline that ui.perfetto.dev opens: a pass, its layers, their ops, nested.
#pragma once

#include <memory>
#include <string>

#include "timing/simulation.h"

namespace shardscape {

// Passes and layers are always written. Some: all ops of a step that has no more than kMostTimelineOps,
// beyond that those of the first and the last microbatch.
enum class TimelineOps : uint8_t { Some, All, None };
inline constexpr size_t kMostTimelineOps = 100'000;

struct TimelineFile {
  std::string json;
  size_t spans = 0, layers = 0, ops = 0;  // written
  std::string left_out;                   // which ops are not, and how many; empty: all are
};

// Trace Event Format (Google, "Trace Event Format", 2016): a process per stage, a thread per stream,
// microseconds to the nanosecond, as readers keep no more. Slices of a thread nest by time and never overlap
// in part. Layers and ops follow one another inside theirs; between ops stands what the compute stream waits
// for the host, between layers what it waits for units of FSDP or the host's memory. Collectives have
// `group`, `group_size`, `dtype` and `bytes` (of the full buffer), `alone_us`, what they take where nothing
// hides them, and `packing_us`, what kernels that pack or unpack take of the slice; what is hidden is no
// slice. An attention over a ring has the same of all its messages, and `waits_us` for them. otherData: the
// machine, with what the design overrides of it, and what was left out. The simulation is that of the report.
TimelineFile timeline_file(const std::shared_ptr<const Report>& report,
                           const std::shared_ptr<const Simulation>& simulation, const std::string& title,
                           TimelineOps ops = TimelineOps::Some);

}  // namespace shardscape
