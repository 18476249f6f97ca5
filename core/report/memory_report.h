// The memory of a step as the command line shows it.
#pragma once

#include <optional>
#include <string>

#include "memory/allocator_use.h"
#include "memory/memory_advice.h"
#include "timing/step_ops.h"

namespace shardscape {

// "fits: 61.3 of 80.0 GiB on the worst rank, stage 0 (allocated 58.9 GiB, ...)", then the fullest moment of
// every stage; ops: with when that is.
std::string memory_text(const MemoryTimeline& memory, StepOps* ops = nullptr);
// "native segments: 71.2 GiB reserved, 9.76 GiB of them in no tensor at the fullest moment (...)", and the
// same of expandable ones.
std::string fragmentation_text(const Fragmentation& fragmentation);
// Of a design whose tensors fit, where PyTorch's allocator does not make do with the device under one of its
// settings or both. `fits` counts no holes: which setting a job runs with is not part of a design.
std::optional<std::string> segments_warning(const MemoryTimeline& memory, const Fragmentation& fragmentation);
std::string advice_text(const std::vector<MemoryAdvice>& advice);
// The JSON of `shardscape-cli report --json`: that of the report; of an estimate with the verdict, and with
// every stage its fullest moment.
std::string estimate_json(const Report& report, const std::optional<std::vector<MemoryAdvice>>& advice = {},
                          const std::optional<Fragmentation>& fragmentation = {}, StepOps* ops = nullptr);

}  // namespace shardscape
