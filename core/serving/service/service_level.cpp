#include "serving/service/service_level.h"

#include <algorithm>
#include <utility>

#include "base/number_text.h"
#include "serving/service_limits.h"

namespace shardscape {
namespace {

constexpr const char* kFigures[] = {"mean", "p50", "p90", "p95", "p99"};
constexpr const char* kLatencies[] = {"ttft", "tpot", "itl", "e2e", "queueing"};
constexpr const char* kExample = "a limit such as p99 ttft<2s";

template <size_t size>
std::string names(const char* const (&words)[size]) {
  return or_list(std::vector<std::string>(std::begin(words), std::end(words)));
}

template <size_t size>
std::optional<size_t> place(const char* const (&words)[size], std::string_view word) {
  for (size_t i = 0; i < size; ++i)
    if (word == words[i]) return i;
  return std::nullopt;
}

Result<LatencyTarget> read_target(const std::string& part, const std::string& where) {
  const auto problem = [&](const std::string& what, const std::string& accepted) {
    return Problem(ProblemCode::EngineSettingInvalid, where, what, accepted);
  };
  const std::string quoted = "\"" + part + "\"";
  const size_t sign = part.find('<');
  if (sign == std::string::npos) return problem(quoted + " has no sign <", kExample);
  const std::string_view left = trimmed(std::string_view(part).substr(0, sign));
  const size_t space = left.find(' ');
  if (space == std::string_view::npos)
    return problem(quoted + " needs a percentile and a latency",
                   names(kFigures) + " of " + names(kLatencies) + ", as in p99 ttft<2s");
  const auto figure = place(kFigures, left.substr(0, space));
  if (!figure)
    return problem(quoted + " has no percentile \"" + std::string(left.substr(0, space)) + "\"",
                   names(kFigures));
  const std::string_view latency_name = trimmed(left.substr(space));
  const auto latency = place(kLatencies, latency_name);
  if (!latency)
    return problem(quoted + " has no latency \"" + std::string(latency_name) + "\"", names(kLatencies));
  std::string_view time = std::string_view(part).substr(sign + 1);
  if (time.starts_with('=')) time.remove_prefix(1);
  const auto seconds = limit_seconds(time, where);
  if (const auto* wrong = std::get_if<Problem>(&seconds))
    return problem(quoted + ": " + wrong->what, wrong->accepted);
  if (!std::get<0>(seconds)) return problem(quoted + " has no time", kExample);
  return LatencyTarget{static_cast<LatencyFigure>(*figure), static_cast<Latency>(*latency),
                       *std::get<0>(seconds)};
}

}  // namespace

Result<ServiceLevel> parse_service_level(std::string_view text, const std::string& where) {
  ServiceLevel out;
  const std::string all = lower_case(trimmed(text));
  if (all.empty()) return out;
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(',', begin), all.size());
    const std::string part(trimmed(std::string_view(all).substr(begin, end - begin)));
    begin = end + 1;
    if (part.empty())
      return Problem(ProblemCode::EngineSettingInvalid, where, "a part between commas is empty", kExample);
    const auto read = read_target(part, where);
    if (const auto* wrong = std::get_if<Problem>(&read)) return *wrong;
    const LatencyTarget& target = std::get<0>(read);
    if (std::any_of(out.targets.begin(), out.targets.end(), [&](const LatencyTarget& other) {
          return other.figure == target.figure && other.latency == target.latency;
        }))
      return Problem(ProblemCode::EngineSettingInvalid, where,
                     "\"" + part + "\" is a second limit of the same figure", "one limit for each figure");
    out.targets.push_back(target);
  }
  return out;
}

std::string target_text(const LatencyTarget& target) {
  return std::string(kFigures[static_cast<size_t>(target.figure)]) + " " +
         kLatencies[static_cast<size_t>(target.latency)] + "<" + limit_text(target.seconds);
}

std::string level_text(const ServiceLevel& level) {
  std::string out;
  for (const LatencyTarget& target : level.targets) out += (out.empty() ? "" : ", ") + target_text(target);
  return out;
}

std::string level_help() {
  return "limits such as p99 ttft<2s, p99 tpot<50ms: " + names(kFigures) + " of " + names(kLatencies);
}

const Distribution& distribution_of(const ServiceResults& results, Latency latency) {
  switch (latency) {
    case Latency::Ttft: return results.ttft;
    case Latency::Tpot: return results.tpot;
    case Latency::Itl: return results.itl;
    case Latency::E2e: return results.e2e;
    case Latency::Queueing: break;
  }
  return results.queueing;
}

double figure_of(const Distribution& distribution, LatencyFigure figure) {
  switch (figure) {
    case LatencyFigure::Mean: return distribution.mean;
    case LatencyFigure::P50: return distribution.p50;
    case LatencyFigure::P90: return distribution.p90;
    case LatencyFigure::P95: return distribution.p95;
    case LatencyFigure::P99: break;
  }
  return distribution.p99;
}

bool keeps_target(const ServiceResults& results, const LatencyTarget& target) {
  return figure_of(distribution_of(results, target.latency), target.figure) <= target.seconds;
}

bool keeps_level(const ServiceResults& results, const ServiceLevel& level) {
  return std::all_of(level.targets.begin(), level.targets.end(),
                     [&](const LatencyTarget& target) { return keeps_target(results, target); });
}

std::optional<LatencyTarget> worst_target(const ServiceResults& results, const ServiceLevel& level) {
  std::optional<LatencyTarget> out;
  double worst = 1;
  for (const LatencyTarget& target : level.targets) {
    const double factor = figure_of(distribution_of(results, target.latency), target.figure) / target.seconds;
    if (factor <= worst) continue;
    worst = factor;
    out = target;
  }
  return out;
}

}  // namespace shardscape
