// When the nodes of one rank run in the simulation of its bundle.
#pragma once

#include <filesystem>
#include <functional>
#include <queue>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bundle/bundle_simulation.h"

namespace shardscape {

// The rows of a rank: computation, communication, and as many for receives as wait at the same time.
class TimelineTracks {
 public:
  static constexpr int kCompute = 0, kCommunication = 1, kFirstReceive = 2;
  // Spans come in the order of their begin.
  int track_of(const SimulatedSpan& span);
  int count() const { return kFirstReceive + receive_tracks_; }

 private:
  template <class T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;
  int receive_tracks_ = 0;
  LeastFirst<std::pair<int64_t, int>> busy_;  // end in ns, track
  LeastFirst<int> free_;                      // tracks
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
