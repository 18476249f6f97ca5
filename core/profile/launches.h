// Which host call launched a kernel, and inside which ranges. Private to core/profile.
#pragma once

#include <unordered_map>
#include <vector>

#include "profile/profile.h"

namespace shardscape {

class Launches {
 public:
  explicit Launches(const Profile& profile);
  // The call that launched the span; otherwise its host op; null: neither is recorded.
  const HostSpan* launch(const DeviceSpan& span) const;
  const HostSpan* op(const DeviceSpan& span) const;
  // The innermost of the ranges that covers the begin of `call` on its thread; null: none. ranges: from
  // by_thread().
  using Ranges = std::vector<std::vector<const HostSpan*>>;
  template <class Wanted>
  Ranges by_thread(Wanted wanted) const {
    Ranges out(threads_);
    for (const HostSpan& span : profile_.host)
      if (wanted(span)) out[span.thread].push_back(&span);
    return out;
  }
  static const HostSpan* around(const Ranges& ranges, const HostSpan& call);

 private:
  const Profile& profile_;
  size_t threads_ = 0;
  std::unordered_map<int64_t, const HostSpan*> calls_, ops_;
};

}  // namespace shardscape
