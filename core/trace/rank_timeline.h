// When the nodes of one rank run in the simulation of its bundle.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bundle/bundle_simulation.h"

namespace shardscape {

// The rows of a rank: computation, communication, and as many for receives as wait at the same time.
class TimelineTracks {
 public:
  static constexpr int kCompute = 0, kCommunication = 1, kFirstReceive = 2;
  // Spans come in the order of their begin.
  int track_of(const SimulatedSpan& span);
  int count() const { return kFirstReceive + static_cast<int>(free_at_.size()); }

 private:
  std::vector<int64_t> free_at_;  // by receive track, ns
};
std::string track_name(int track);  // "compute", "receive 1"

struct TimelineSpan {
  SimulatedSpan span;
  int track = 0;
  std::string name;  // of the node
};
struct RankTimeline {
  int64_t rank = 0;
  int tracks = 0;
  std::vector<TimelineSpan> spans;  // by begin
  SimulationReport simulation;      // of all ranks
};

// Simulates the bundle. trace: of the rank. Problems: as simulate_bundle and visit_nodes.
Result<RankTimeline> simulate_rank(const BundlePaths& paths, int64_t rank, const std::filesystem::path& trace,
                                   const std::function<void(double)>& progress, std::stop_token stop);

}  // namespace shardscape
