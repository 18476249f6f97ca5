// Memory of a step as text and JSON for the command line.
#pragma once

#include <optional>
#include <string>

#include "memory/allocator_use.h"
#include "memory/memory_advice.h"
#include "timing/step_ops.h"

namespace shardscape {

// "fits: 61.3 GiB of 80.0 GiB in use on the worst rank, stage 0 (tensors 58.9 GiB, ...)", then the peak of
// every stage. With ops, each peak has its time.
std::string memory_text(const MemoryTimeline& memory, StepOps* ops = nullptr);
// "native segments: 71.2 GiB reserved, 9.76 GiB of them hold no tensor at the peak (...)", and the same for
// expandable segments. Without a replay: why there is none.
std::string fragmentation_text(const std::optional<Fragmentation>& fragmentation);
// Warning for a design whose tensors fit although PyTorch's allocator exceeds the capacity with native
// segments, expandable segments or both. `fits` ignores fragmentation: the allocator setting of a job is not
// part of a design. None without a replay.
std::optional<std::string> segments_warning(const MemoryTimeline& memory,
                                            const std::optional<Fragmentation>& fragmentation);
std::string advice_text(const std::vector<MemoryAdvice>& advice);
// The JSON of `shardscape-cli report --json`: report_json(). For an estimate it adds the verdict and the peak
// of every stage.
std::string estimate_json(const Report& report, const std::optional<std::vector<MemoryAdvice>>& advice = {},
                          const std::optional<Fragmentation>& fragmentation = {}, StepOps* ops = nullptr);

}  // namespace shardscape
