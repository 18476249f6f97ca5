#include "serving/service/largest_rate.h"

#include <utility>

namespace shardscape {
namespace {

constexpr int kHalvings = 8;

}  // namespace

std::optional<Problem> check_has_rate(const ServiceSpec& spec) {
  const auto problem = [](const char* where, const char* what, const char* accepted) {
    return Problem(ProblemCode::EngineSettingInvalid, where, what, accepted);
  };
  if (!spec.source.trace.empty())
    return problem("trace", "the requests of a trace have times, not a rate", "no trace: drawn requests");
  if (spec.source.users > 0)
    return problem("users", "users of a closed loop have no rate", "0: requests arrive at a rate");
  return std::nullopt;
}

Result<LargestRate> largest_rate(const Design& design, const ServiceSpec& spec, StepClock& clock,
                                 std::stop_token stop, std::shared_ptr<PlanCache> cache) {
  if (const auto problem = check_spec(spec)) return *problem;
  if (auto problem = check_has_rate(spec)) return *std::move(problem);
  const ServiceLevel level = promised_level(spec);
  const auto run_with = [&](const RequestSource& source) -> Result<std::shared_ptr<const ServiceRun>> {
    auto workload = make_workload(source);
    if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
    return run_requests(design, spec, std::get<Workload>(std::move(workload)), clock, stop, cache,
                        RunSteps::Counted);
  };
  RequestSource source = spec.source;
  source.arrivals = ArrivalKind::AllAtOnce;
  const auto most = run_with(source);
  if (const auto* problem = std::get_if<Problem>(&most)) return *problem;
  LargestRate out;
  const auto take = [&](const ServiceRun& run, double rate) {
    out.rate = rate;
    out.results = run.results;
    out.cost = run.cost;
    out.accelerators = run.accelerators;
  };
  take(*std::get<0>(most), 0);
  if (out.results.refused > 0 || stop.stop_requested()) return out;
  source.arrivals = spec.source.arrivals;
  double low = 0, high = out.results.requests_per_second;
  for (int i = 0; i <= kHalvings && !stop.stop_requested(); ++i) {
    source.rate = i == 0 ? high : (low + high) / 2;
    const auto made = run_with(source);
    if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
    const ServiceRun& run = *std::get<0>(made);
    const bool kept = keeps_level(run.results, level);
    if (kept || low == 0) take(run, kept ? source.rate : 0);
    (kept ? low : high) = source.rate;
    out.by_throughput = kept && i == 0;
    if (out.by_throughput) break;
  }
  return out;
}

}  // namespace shardscape
