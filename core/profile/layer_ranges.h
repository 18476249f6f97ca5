// Time by layer, from ranges that the program annotated. Private to core/profile.
#pragma once

#include <string>
#include <vector>

#include "profile/device_time.h"
#include "profile/launches.h"
#include "profile/profile_step.h"

namespace shardscape {

struct LayerTimes {
  std::string ranges;                 // ProfiledStep::layer_ranges
  std::vector<ProfiledLayer> layers;  // nanoseconds, of all spans
};

// Layers are nn.Module calls or annotations whose names contain "layer" or "block" and end in a number. Of
// several names, the one whose calls take longest. A backward op belongs to the layer of the forward op with
// its sequence number.
LayerTimes layer_times(const Profile& profile, const Launches& launches, const std::vector<TimedSpan>& spans);

}  // namespace shardscape
