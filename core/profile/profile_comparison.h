// A profiled step next to the simulated step of a design.
#pragma once

#include <string>
#include <vector>

#include "profile/rank_profile.h"
#include "timing/simulation.h"

namespace shardscape {

// Seconds per step.
struct ComparedTime {
  std::string key, label;  // "launch_gaps", "Launch gaps"
  double measured = 0, predicted = 0;
  double difference() const { return measured - predicted; }
};

// Collectives of one kind, group size and type; both sides per step of one rank. Sends and receives are one
// row, whatever their group and type.
struct ComparedCollective {
  CollectiveKey key;
  double measured_calls = 0, predicted_calls = 0;
  double measured_bytes = 0, predicted_bytes = 0;  // of full buffers
  double measured_seconds = 0, predicted_seconds = 0;
  bool sized = true;         // false: the profile does not record the sizes
  bool same_volume() const;  // equal calls, and equal bytes where sized
};

struct ComparedLayer {
  std::string name;   // of the profile
  int64_t layer = 0;  // of the model
  ComparedTime forward, backward;
  double difference() const { return forward.difference() + backward.difference(); }
};

struct ProfileComparison {
  int stage = 0;
  ComparedTime step;
  std::vector<ComparedTime> parts;              // add up to the step; largest difference first
  std::vector<ComparedCollective> collectives;  // largest difference of seconds first
  std::vector<ComparedLayer> layers;            // largest difference first; empty: no layer ranges
  std::vector<std::string> notes;               // why numbers may not be comparable
};

// A profile without a recorded rank is compared with stage 0. Collectives without recorded groups are
// compared by kind alone.
ProfileComparison compare_profile(const RankProfile& profile, const Report& report,
                                  const Simulation& simulation);

// Only the collectives, for audits; predicted seconds are 0.
std::vector<ComparedCollective> compare_collectives(const ProfiledStep& step, const StageReport& stage);

}  // namespace shardscape
