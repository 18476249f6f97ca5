// Microbatches and saved quantities that a stage holds between forward and backward as its schedule runs.
#include <algorithm>

#include "pipeline/schedule.h"

namespace shardscape {
namespace {

bool covers(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](int64_t x, int64_t y) { return x >= y; });
}

}  // namespace

std::vector<int> microbatches_in_flight(const Schedule& schedule) {
  std::vector<int> result;
  for (const std::vector<Action>& actions : schedule.actions) {
    int now = 0, most = 0;
    if (schedule.forward_only) most = actions.empty() ? 0 : 1;  // nothing is saved beyond the forward
    for (const Action& action : actions) {
      if (schedule.forward_only) break;
      if (action.kind == ActionKind::Forward) most = std::max(most, ++now);
      if (action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardWeight) --now;
    }
    result.push_back(most);
  }
  return result;
}

std::vector<std::vector<int64_t>> pareto_peaks(const std::vector<Action>& actions,
                                               const std::vector<std::vector<int64_t>>& held,
                                               const std::vector<std::vector<int64_t>>& deferred) {
  std::vector<std::vector<int64_t>> fullest;
  std::vector<int64_t> now(held.empty() ? 0 : held.front().size(), 0);
  const auto record = [&] {
    if (std::any_of(fullest.begin(), fullest.end(), [&](const auto& other) { return covers(other, now); }))
      return;
    std::erase_if(fullest, [&](const auto& other) { return covers(now, other); });
    fullest.push_back(now);
  };
  bool grew = false;
  for (const Action& action : actions) {
    const ActionKind kind = action.kind;
    const bool input = kind == ActionKind::BackwardInput, weight = kind == ActionKind::BackwardWeight;
    if (kind != ActionKind::Forward && kind != ActionKind::Backward && !input && !weight) continue;
    const bool forward = kind == ActionKind::Forward;
    // Totals can be maximal only where a backward follows a forward, or where deferred weight gradients
    // follow an input gradient.
    if (!forward && grew) record();
    const auto c = static_cast<size_t>(action.chunk);
    for (size_t i = 0; i < now.size(); ++i) {
      if (!weight) now[i] += forward ? held[c][i] : -held[c][i];
      if (!deferred.empty() && input) now[i] += deferred[c][i];
      if (!deferred.empty() && weight) now[i] -= deferred[c][i];
    }
    grew = forward || input;
  }
  if (grew) record();
  return fullest;
}

}  // namespace shardscape
