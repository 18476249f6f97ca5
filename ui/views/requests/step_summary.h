// Sums over the steps of an engine, in logarithmic time: a picture of a million steps takes as long as one of
// a thousand. No widgets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serving/requests/request_record.h"

namespace shardscape::ui {

struct StepTotals {
  double prompts = 0, decode = 0;   // seconds of steps with chunks of prompts, and of the other steps
  int32_t blocks = 0, running = 0;  // the most of a step
  void add(const StepTotals& other);
};

class StepSummary {
 public:
  StepSummary() = default;
  // steps: of one engine, in the order of time. They outlive this object.
  explicit StepSummary(std::vector<const StepRecord*> steps);
  size_t size() const { return steps_.size(); }
  const StepRecord& step(size_t at) const { return *steps_[at]; }
  size_t find(const StepRecord& step) const;         // of one of the steps
  size_t endingAfter(double seconds) const;          // the first step that ends later; size(): none
  StepTotals of(size_t first, size_t end) const;     // of whole steps
  StepTotals between(double from, double to) const;  // seconds of steps inside of the range
 private:
  std::vector<const StepRecord*> steps_;
  std::vector<std::vector<StepTotals>> levels_;  // of 8, 64, 512, ... steps
};

}  // namespace shardscape::ui
