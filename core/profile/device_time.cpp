#include "profile/device_time.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace shardscape {
namespace {

struct Edge {
  int64_t time = 0;
  bool begins = false;
  size_t span = 0;
  bool operator<(const Edge& other) const {
    return std::tie(time, begins, span) < std::tie(other.time, other.begins, other.span);
  }
};

std::vector<Edge> edges_of(const std::vector<TimedSpan>& spans, int64_t begin, int64_t end) {
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    const int64_t from = std::max(begin, spans[i].span->begin), to = std::min(end, spans[i].span->end);
    if (from >= to) continue;
    edges.push_back({from, true, i});
    edges.push_back({to, false, i});
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace

DeviceTime share_time(std::vector<TimedSpan>& spans, int64_t begin, int64_t end) {
  DeviceTime out;
  std::set<std::pair<ProfileCategory, size_t>> running;  // the first one gets the time
  int64_t now = begin, communicating = 0;
  const auto pass = [&](int64_t until, int64_t next) {
    if (until <= now) return;
    if (running.empty()) {
      out.gaps.push_back({now, until, next});
    } else {
      spans[running.begin()->second].own += until - now;
      out.busy += until - now;
    }
    if (communicating > 0) out.communication += until - now;
    now = until;
  };
  for (const Edge& edge : edges_of(spans, begin, end)) {
    pass(edge.time, static_cast<int64_t>(edge.span));
    const ProfileCategory category = spans[edge.span].category;
    if (is_communication(category)) communicating += edge.begins ? 1 : -1;
    if (edge.begins)
      running.emplace(category, edge.span);
    else
      running.erase({category, edge.span});
  }
  pass(end, -1);
  return out;
}

}  // namespace shardscape
