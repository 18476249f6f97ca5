// What would save memory: designs with one knob changed, or with several where no single one suffices, made
// and measured like any other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/memory_timeline.h"

namespace shardscape {

struct MemoryAdvice {
  std::string what;                                           // "recomputing the attention core"
  std::vector<std::pair<std::string, std::string>> settings;  // knob id and value, of each that changes
  int64_t saved = 0;                                          // bytes in use on the worst rank
  bool fits = false;                                          // the design then does
  std::optional<double> time_percent;                         // longer step, where times are known
  std::string time_text() const;  // "a step 2.1 % longer"; empty where times are not known
  std::string text() const;       // "recomputing the attention core: saves 11.3 GiB, a step 2.1 % longer"
};

// Seconds of a step; nothing where they are not known.
using StepSeconds = std::function<std::optional<double>(const Report&)>;

// Those that save anything, most first. Every one is a valid design. Where none fits by itself, those that
// save most are put together until the design does, if it ever does. Nothing when stopped.
std::vector<MemoryAdvice> memory_advice(const Report& report, const MemoryTimeline& memory,
                                        const StepSeconds& seconds = {}, std::stop_token stop = {});

}  // namespace shardscape
