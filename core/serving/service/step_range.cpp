#include "serving/service/step_range.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "base/units.h"
#include "serving/service_limits.h"

namespace shardscape {
namespace {

constexpr const char* kAccepted = "FROM:TO, two numbers of steps such as 10:12, or two times such as 1.5s:2s";

Problem range_problem(std::string what, std::string accepted = kAccepted) {
  return {ProblemCode::RangeInvalid, "steps", std::move(what), std::move(accepted)};
}

// All steps of the replica.
std::vector<size_t> steps_of(const ServiceRun& run, int64_t replica) {
  std::vector<size_t> out;
  for (size_t i = 0; i < run.simulation.steps.size(); ++i)
    if (run.simulation.steps[i].replica == replica) out.push_back(i);
  return out;
}

std::optional<Problem> check_replica(const ServiceRun& run, int64_t replica) {
  if (replica >= 0 && replica < run.spec.replicas) return std::nullopt;
  return Problem{ProblemCode::RangeInvalid, "replica", "there is no replica " + std::to_string(replica),
                 "0 to " + grouped(run.spec.replicas - 1)};
}

std::optional<int64_t> whole(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0 ? std::optional(out)
                                                                              : std::nullopt;
}

// Seconds, as limit_seconds() reads them; also 0, with or without a unit.
std::optional<double> time_of(const std::string& text) {
  const size_t unit = std::min(text.size(), text.find_first_not_of("0. "));
  const auto valid = [](const std::string& time) {
    return std::holds_alternative<std::optional<double>>(limit_seconds(time, "steps"));
  };
  if (unit > 0 && (unit == text.size() || (std::isalpha(static_cast<unsigned char>(text[unit])) != 0 &&
                                           valid("1" + text.substr(unit)))))
    return 0;
  const auto read = limit_seconds(text, "steps");
  return std::holds_alternative<Problem>(read) ? std::nullopt : std::get<0>(read);
}

}  // namespace

Result<StepRange> read_step_range(const ServiceRun& run, int64_t replica, const std::string& text) {
  if (auto problem = check_replica(run, replica)) return *std::move(problem);
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return range_problem("\"" + text + "\" is not a range of steps");
  const std::string from = text.substr(0, colon), to = text.substr(colon + 1);
  const auto steps = static_cast<int64_t>(steps_of(run, replica).size());
  const auto first = from.empty() ? std::optional<int64_t>(0) : whole(from),
             last = to.empty() ? std::optional<int64_t>(steps - 1) : whole(to);
  if (first && last) {
    if (*first <= *last && *last < steps) return StepRange{replica, *first, *last};
    return range_problem(
        "replica " + std::to_string(replica) + " has " + grouped(steps) + " steps, and the range is " + text,
        "FROM:TO with numbers from 0 to " + grouped(steps - 1));
  }
  const auto begin = from.empty() ? std::optional<double>(0) : time_of(from),
             end = to.empty() ? std::optional<double>(std::numeric_limits<double>::infinity()) : time_of(to);
  if (!begin || !end) return range_problem("\"" + text + "\" is not a range of steps");
  return steps_between(run, replica, *begin, *end);
}

Result<StepRange> steps_between(const ServiceRun& run, int64_t replica, double from, double to) {
  if (auto problem = check_replica(run, replica)) return *std::move(problem);
  StepRange out{replica, 0, -1};
  int64_t number = 0;
  for (const size_t step : steps_of(run, replica)) {
    const double begin = run.simulation.steps[step].begin;
    if (begin < from) out.first = number + 1;
    if (begin < to) out.last = number;
    ++number;
  }
  if (out.first <= out.last) return out;
  return range_problem("no step of replica " + std::to_string(replica) + " begins in this time",
                       "a time of the run, which takes " + format_seconds(run.simulation.seconds));
}

std::vector<size_t> steps_in(const ServiceRun& run, const StepRange& range) {
  const std::vector<size_t> all = steps_of(run, range.replica);
  const auto size = static_cast<int64_t>(all.size());
  const auto first = std::clamp<int64_t>(range.first, 0, size),
             end = std::clamp<int64_t>(range.last + 1, first, size);
  return {all.begin() + first, all.begin() + end};
}

}  // namespace shardscape
