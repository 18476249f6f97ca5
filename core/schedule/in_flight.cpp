// What a stage keeps between forward and backward as its schedule runs.
#include <algorithm>

#include "schedule/schedule.h"

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
    for (const Action& action : actions) {
      if (action.kind == ActionKind::Forward) most = std::max(most, ++now);
      if (action.kind == ActionKind::Backward) --now;
    }
    result.push_back(most);
  }
  return result;
}

std::vector<std::vector<int64_t>> fullest_moments(const std::vector<Action>& actions,
                                                  const std::vector<std::vector<int64_t>>& held) {
  std::vector<std::vector<int64_t>> fullest;
  std::vector<int64_t> now(held.empty() ? 0 : held.front().size(), 0);
  const auto keep = [&] {
    if (std::any_of(fullest.begin(), fullest.end(), [&](const auto& other) { return covers(other, now); })) return;
    std::erase_if(fullest, [&](const auto& other) { return covers(now, other); });
    fullest.push_back(now);
  };
  bool grew = false;
  for (const Action& action : actions) {
    if (action.kind != ActionKind::Forward && action.kind != ActionKind::Backward) continue;
    const bool forward = action.kind == ActionKind::Forward;
    // Only a turn from forward to backward can be a maximum.
    if (!forward && grew) keep();
    grew = forward;
    const std::vector<int64_t>& change = held[static_cast<size_t>(action.chunk)];
    for (size_t i = 0; i < now.size(); ++i) now[i] += forward ? change[i] : -change[i];
  }
  if (grew) keep();
  return fullest;
}

}  // namespace shardscape
