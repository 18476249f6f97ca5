// What would save memory: designs with one knob changed, made and measured like any other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulate/memory_timeline.h"

namespace shardscape {

struct MemoryAdvice {
  std::string what;                    // "recompute the attention core"
  std::string knob, value;             // what to set
  int64_t saved = 0;                   // bytes in use on the worst rank
  bool fits = false;                   // the design then does
  std::optional<double> time_percent;  // longer step, where times are known
  std::string text() const;            // "recompute the attention core: saves 11.3 GiB for 2.1 % time"
};

// Seconds of a step; nothing where they are not known.
using StepSeconds = std::function<std::optional<double>(const Report&)>;

// Those that save anything, most first. Every one is a valid design. Nothing when stopped.
std::vector<MemoryAdvice> memory_advice(const Report& report, const MemoryTimeline& memory, const StepSeconds& seconds = {},
                                        std::stop_token stop = {});

}  // namespace shardscape
