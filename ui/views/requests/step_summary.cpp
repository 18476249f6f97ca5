#include "ui/views/requests/step_summary.h"

#include <algorithm>
#include <utility>

namespace shardscape::ui {
namespace {

constexpr size_t kBranch = 8;

// A step with these seconds of its time.
StepTotals totals_of(const StepRecord& step, double seconds) {
  StepTotals out;
  (step.prefill_tokens > 0 ? out.prompts : out.decode) = seconds;
  out.blocks = step.blocks;
  out.running = step.running;
  return out;
}

}  // namespace

void StepTotals::add(const StepTotals& other) {
  prompts += other.prompts;
  decode += other.decode;
  blocks = std::max(blocks, other.blocks);
  running = std::max(running, other.running);
}

StepSummary::StepSummary(std::vector<const StepRecord*> steps) : steps_(std::move(steps)) {
  const auto group = [&](size_t count, const auto& of) {
    std::vector<StepTotals> level((count + kBranch - 1) / kBranch);
    for (size_t i = 0; i < count; ++i) level[i / kBranch].add(of(i));
    levels_.push_back(std::move(level));
  };
  if (steps_.size() <= kBranch) return;
  group(steps_.size(), [&](size_t i) { return totals_of(*steps_[i], steps_[i]->seconds); });
  while (levels_.back().size() > kBranch) {
    const std::vector<StepTotals> below = levels_.back();
    group(below.size(), [&](size_t i) { return below[i]; });
  }
}

// Records of a simulation are stored in the order of time.
size_t StepSummary::find(const StepRecord& step) const {
  return static_cast<size_t>(std::lower_bound(steps_.begin(), steps_.end(), &step) - steps_.begin());
}

size_t StepSummary::endingAfter(double seconds) const {
  const auto at = std::upper_bound(
      steps_.begin(), steps_.end(), seconds,
      [](double time, const StepRecord* step) { return time < step->begin + step->seconds; });
  return static_cast<size_t>(at - steps_.begin());
}

StepTotals StepSummary::of(size_t first, size_t end) const {
  StepTotals out;
  for (size_t level = 0; first < end; ++level) {
    const bool top = level == levels_.size();
    const auto add = [&](size_t i) {
      out.add(level == 0 ? totals_of(*steps_[i], steps_[i]->seconds) : levels_[level - 1][i]);
    };
    while (first < end && (top || first % kBranch != 0)) add(first++);
    while (first < end && end % kBranch != 0) add(--end);
    first /= kBranch;
    end /= kBranch;
  }
  return out;
}

StepTotals StepSummary::between(double from, double to) const {
  StepTotals out;
  size_t first = endingAfter(from);
  const size_t last = endingAfter(to);  // the first step that ends later
  const auto add_part = [&](size_t i) {
    const StepRecord& step = *steps_[i];
    const double seconds = std::min(to, step.begin + step.seconds) - std::max(from, step.begin);
    if (seconds > 0) out.add(totals_of(step, seconds));
  };
  if (first < last) add_part(first++);
  out.add(of(first, last));
  if (last < steps_.size() && steps_[last]->begin < to) add_part(last);
  return out;
}

}  // namespace shardscape::ui
