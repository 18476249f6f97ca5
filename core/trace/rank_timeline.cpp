#include "trace/rank_timeline.h"

#include <algorithm>
#include <unordered_map>

#include "trace/trace_file.h"

namespace shardscape {

int TimelineTracks::track_of(const SimulatedSpan& span) {
  if (span.type == chakra::NodeType::Comp) return kCompute;
  if (span.type != chakra::NodeType::Recv) return kCommunication;
  while (!busy_.empty() && busy_.top().first <= span.begin) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  int track = receive_tracks_;
  if (free_.empty()) {
    ++receive_tracks_;
  } else {
    track = free_.top();
    free_.pop();
  }
  busy_.emplace(span.end, track);
  return kFirstReceive + track;
}

std::string track_name(int track) {
  if (track == TimelineTracks::kCompute) return "compute";
  if (track == TimelineTracks::kCommunication) return "communication";
  return "receive " + std::to_string(track - TimelineTracks::kFirstReceive + 1);
}

Result<RankTimeline> simulate_rank(const BundlePaths& paths, int64_t rank, const std::filesystem::path& trace,
                                   const std::function<void(double)>& progress, std::stop_token stop) {
  RankTimeline out;
  out.rank = rank;
  auto simulated = simulate_bundle(paths, progress, stop, [&](const SimulatedSpan& span) {
    if (span.rank == rank) out.spans.push_back({span, 0, {}});
  });
  if (auto* problem = std::get_if<Problem>(&simulated)) return std::move(*problem);
  out.simulation = std::get<SimulationReport>(std::move(simulated));
  std::stable_sort(out.spans.begin(), out.spans.end(),
                   [](const TimelineSpan& a, const TimelineSpan& b) { return a.span.begin < b.span.begin; });
  const auto content = load_trace(trace, stop);
  if (const auto* problem = std::get_if<Problem>(&content)) return *problem;
  if (stop.stop_requested()) return out;
  std::unordered_map<uint64_t, std::string> names;
  const auto header = visit_nodes(
      trace, std::get<std::string>(content),
      [&](const RawNode& node, std::string_view) { names.emplace(node.id, node.name); }, stop);
  if (const auto* problem = std::get_if<Problem>(&header)) return *problem;
  TimelineTracks tracks;
  for (TimelineSpan& one : out.spans) {
    one.track = tracks.track_of(one.span);
    if (const auto name = names.find(one.span.node); name != names.end()) one.name = name->second;
  }
  out.tracks = tracks.count();
  return out;
}

}  // namespace shardscape
