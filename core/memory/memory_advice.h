// Advice on saving memory: designs with one changed setting, or with several where no single change suffices.
// The memory timeline evaluates every design.
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
  std::vector<std::pair<std::string, std::string>> settings;  // knob id and new value of every changed knob
  int64_t saved = 0;                                          // bytes in use on the fullest rank
  bool fits = false;                                          // whether the changed design fits
  std::optional<double> time_percent;  // increase of the step time in percent; empty: unknown
  std::string time_text() const;       // "a step 2.1 % longer"; empty without times
  std::string text() const;  // "recomputing the attention core: saves 11.3 GiB, a step 2.1 % longer"
};

// Seconds of a step; empty: unknown.
using StepSeconds = std::function<std::optional<double>(const Report&)>;

// Changes that save memory, largest saving first. Every changed design is valid. If no single change makes
// the design fit, the first entry combines changes until the design fits, if possible. Returns an empty list
// when stopped.
std::vector<MemoryAdvice> memory_advice(const Report& report, const MemoryTimeline& memory,
                                        const StepSeconds& seconds = {}, std::stop_token stop = {});

}  // namespace shardscape
