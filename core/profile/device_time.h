// Gives every moment of a device to one span, or to a gap. Private to core/profile.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/kernel_class.h"

namespace shardscape {

struct TimedSpan {
  const DeviceSpan* span = nullptr;
  ProfileCategory category{};
  int64_t own = 0;  // nanoseconds that count for this span
};

// Nothing runs from begin to end. next: index of the span that ends the gap; -1: none before the window ends.
struct DeviceGap {
  int64_t begin = 0, end = 0;
  int64_t next = -1;
};

struct DeviceTime {
  std::vector<DeviceGap> gaps;
  int64_t busy = 0;           // nanoseconds with at least one span
  int64_t communication = 0;  // with at least one collective or message
};

inline bool is_communication(ProfileCategory category) {
  return category == ProfileCategory::Collectives || category == ProfileCategory::Messages;
}

// spans: sorted by begin. A moment counts for the running span of the first category, and of equal categories
// for the one that began first. The window is [begin, end) in nanoseconds; time outside does not count.
DeviceTime share_time(std::vector<TimedSpan>& spans, int64_t begin, int64_t end);

}  // namespace shardscape
