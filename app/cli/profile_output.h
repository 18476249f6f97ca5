// The output of `shardscape-cli profile`: text for a terminal, and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile_comparison.h"
#include "profile/rank_profile.h"

namespace shardscape {

struct ProfileAnswer {
  std::vector<RankProfile> ranks;
  size_t shown = 0;  // the rank whose step is shown in detail
  // With a design.
  std::string design, accelerator;
  std::optional<ProfileComparison> comparison;
};

std::string profile_text(const ProfileAnswer& answer);
std::string profile_json(const ProfileAnswer& answer);

}  // namespace shardscape
