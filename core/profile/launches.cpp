#include "profile/launches.h"

#include <algorithm>

namespace shardscape {
namespace {

// Ranges that ended before the call and begin after the one around it; deeper searches would make hostile
// files slow.
constexpr int kSearched = 256;

}  // namespace

Launches::Launches(const Profile& profile) : profile_(profile) {
  for (const HostSpan& span : profile.host) {
    threads_ = std::max<size_t>(threads_, size_t{span.thread} + 1);
    if (span.id < 0) continue;
    if (span.work == HostWork::Launch) calls_.emplace(span.id, &span);
    if (span.work == HostWork::Op) ops_.emplace(span.id, &span);
  }
}

const HostSpan* Launches::op(const DeviceSpan& span) const {
  const auto at = ops_.find(span.op);
  return at == ops_.end() ? nullptr : at->second;
}

const HostSpan* Launches::launch(const DeviceSpan& span) const {
  const auto at = calls_.find(span.correlation);
  return at == calls_.end() ? op(span) : at->second;
}

const HostSpan* Launches::around(const Ranges& ranges, const HostSpan& call) {
  if (call.thread >= ranges.size()) return nullptr;
  const auto& list = ranges[call.thread];
  auto at = std::upper_bound(list.begin(), list.end(), call.begin,
                             [](int64_t time, const HostSpan* span) { return time < span->begin; });
  for (int searched = 0; at != list.begin() && searched < kSearched; ++searched) {
    --at;
    if ((*at)->end > call.begin) return *at;
  }
  return nullptr;
}

}  // namespace shardscape
