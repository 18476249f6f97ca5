// Limits of percentiles that a service promises: "p99 ttft<2s, p99 tpot<50ms". The only place that reads such
// a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "serving/requests/service_results.h"

namespace shardscape {

enum class Latency : uint8_t { Ttft, Tpot, Itl, E2e, Queueing };
enum class LatencyFigure : uint8_t { Mean, P50, P90, P95, P99 };

// Definitions of the latencies: requests/service_results.h.
struct LatencyTarget {
  LatencyFigure figure = LatencyFigure::P99;
  Latency latency = Latency::Ttft;
  double seconds = 0;  // the most that the figure may be
  friend bool operator==(const LatencyTarget&, const LatencyTarget&) = default;
};

struct ServiceLevel {
  std::vector<LatencyTarget> targets;  // in the order of the text; no figure of a latency twice
  bool any() const { return !targets.empty(); }
  friend bool operator==(const ServiceLevel&, const ServiceLevel&) = default;
};

// Parts are separated by commas: figure, latency, "<" or "<=", time. Figures: mean, p50, p90, p95, p99.
// Latencies: ttft, tpot, itl, e2e, queueing. Times: "50 ms", "1.5s" (serving/service_limits.h). Capitals
// count as small letters. Empty text: no targets. A Problem names the part and what is accepted.
Result<ServiceLevel> parse_service_level(std::string_view text, const std::string& where);
// "p99 ttft<2 s, p99 tpot<50 ms"; parse_service_level() reads it back.
std::string level_text(const ServiceLevel& level);
std::string target_text(const LatencyTarget& target);  // "p99 ttft<2 s"
std::string level_help();                              // the accepted parts

const Distribution& distribution_of(const ServiceResults& results, Latency latency);
double figure_of(const Distribution& distribution, LatencyFigure figure);
// Whether the results are within the target. A latency without values keeps every target.
bool keeps_target(const ServiceResults& results, const LatencyTarget& target);
bool keeps_level(const ServiceResults& results, const ServiceLevel& level);
// The target that the results exceed by the largest factor; nothing: they keep the level.
std::optional<LatencyTarget> worst_target(const ServiceResults& results, const ServiceLevel& level);

}  // namespace shardscape
