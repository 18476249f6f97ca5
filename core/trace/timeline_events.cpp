#include "trace/timeline_events.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "trace/rank_timeline.h"
#include "trace/trace_file.h"

namespace shardscape {
namespace {

constexpr int kFirstTrack = 1;  // thread id of the first track

// "12.345" microseconds.
std::string microseconds(int64_t ns) {
  constexpr int64_t kNsPerMicrosecond = 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / kNsPerMicrosecond),
                static_cast<long long>(ns % kNsPerMicrosecond));
  return text;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class EventWriter {
 public:
  std::string take() { return std::move(out_) + "\n]}\n"; }

  // spans: of the rank, by begin.
  void rank(int64_t rank, const std::vector<SimulatedSpan>& spans,
            const std::unordered_map<uint64_t, std::string>& names) {
    name("process_name", rank, 0, "rank " + std::to_string(rank));
    TimelineTracks tracks;
    int named = 0;
    for (const SimulatedSpan& span : spans) {
      const int track = kFirstTrack + tracks.track_of(span);
      for (; named < tracks.count(); ++named)
        name("thread_name", rank, kFirstTrack + named, track_name(named));
      const auto it = names.find(span.node);
      event(rank, track);
      out_ += R"(,"ph":"X","name":)" + quoted(it == names.end() ? "" : it->second) + R"(,"cat":")" +
              std::string(chakra::node_type_name(span.type)) + R"(","ts":)" + microseconds(span.begin) +
              R"(,"dur":)" + microseconds(span.end - span.begin) + R"(,"args":{"node":)" +
              std::to_string(span.node) + "}}";
    }
  }

 private:
  void event(int64_t rank, int track) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    out_ += R"({"pid":)" + std::to_string(rank) + R"(,"tid":)" + std::to_string(track);
  }
  void name(const char* what, int64_t rank, int track, const std::string& text) {
    event(rank, track);
    out_ += R"(,"ph":"M","name":")" + std::string(what) + R"(","args":{"name":)" + quoted(text) + "}}";
  }
  std::string out_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
  bool first_ = true;
};

}  // namespace

Result<std::string> timeline_events(const std::map<int64_t, std::filesystem::path>& traces,
                                    std::vector<SimulatedSpan> spans, const std::stop_token& stop) {
  std::stable_sort(spans.begin(), spans.end(), [](const SimulatedSpan& a, const SimulatedSpan& b) {
    return std::tie(a.rank, a.begin) < std::tie(b.rank, b.begin);
  });
  EventWriter writer;
  for (auto first = spans.begin(); first != spans.end();) {
    const int64_t rank = first->rank;
    const auto last = std::find_if(first, spans.end(),
                                   [&](const SimulatedSpan& s) { return s.rank != rank; });
    std::unordered_map<uint64_t, std::string> names;
    if (const auto it = traces.find(rank); it != traces.end()) {
      const auto content = load_trace(it->second, stop);
      if (const auto* problem = std::get_if<Problem>(&content)) return *problem;
      if (stop.stop_requested()) break;
      const auto header = visit_nodes(
          it->second, std::get<std::string>(content),
          [&](const RawNode& node, std::string_view) { names.emplace(node.id, node.name); }, stop);
      if (const auto* problem = std::get_if<Problem>(&header)) return *problem;
    }
    writer.rank(rank, {first, last}, names);
    first = last;
  }
  return writer.take();
}

}  // namespace shardscape
