#include "serving/requests/request_simulation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/units.h"
#include "serving/requests/simulator.h"

namespace shardscape {
namespace {

Problem problem(std::string where, std::string what, std::string accepted) {
  return Problem(ProblemCode::WorkloadInvalid, std::move(where), std::move(what), std::move(accepted));
}

// Replicas in groups that step together.
std::optional<Problem> check_groups(const char* where, int64_t replicas, int64_t lockstep) {
  if (replicas < 1) return problem(where, "there is no replica", "at least 1");
  if (lockstep < 1 || replicas % lockstep != 0)
    return problem(where, grouped(replicas) + " replicas in groups of " + grouped(lockstep),
                   "a multiple of the replicas that share experts");
  return std::nullopt;
}

std::optional<Problem> check_scaling(const char* where, const Autoscaling& a, int32_t replicas,
                                     int32_t lockstep) {
  if (a.least == 0) return std::nullopt;
  if (auto groups = check_groups(where, a.least, lockstep)) return groups;
  if (a.least > replicas)
    return problem(where, grouped(a.least) + " of " + grouped(replicas) + " replicas",
                   "at most the replicas");
  if (!(a.outstanding > 0) || !(a.start_seconds >= 0) || !(a.cool_down >= 0))
    return problem(where,
                   significant(a.outstanding) + " requests per replica, " + significant(a.start_seconds) +
                       " s to start, " + significant(a.cool_down) + " s to cool down",
                   "more than 0 requests, and times of at least 0");
  return std::nullopt;
}

std::optional<Problem> check_disaggregation(const ServiceSetup& setup) {
  const Disaggregation& d = setup.disaggregation;
  if (d.prefill_replicas == 0) return std::nullopt;
  if (auto groups = check_groups("prefill_replicas", d.prefill_replicas, d.lockstep)) return groups;
  if (auto settings = check_settings(d.prefill)) return settings;
  if (d.prefill.engine != setup.engine.engine)
    return problem("prefill_replicas", "prefill and decode replicas have different engines", "one engine");
  if (!d.clock) throw std::logic_error("prefill replicas without a clock");
  return check_scaling("least_prefill_replicas", d.autoscaling, d.prefill_replicas, d.lockstep);
}

std::optional<Problem> check_fleet(const ServiceSetup& setup) {
  if (auto groups = check_groups("replicas", setup.replicas, setup.lockstep)) return groups;
  if (auto disaggregation = check_disaggregation(setup)) return disaggregation;
  const int64_t replicas = int64_t{setup.replicas} + setup.disaggregation.prefill_replicas;
  for (const ReplicaFailure& failure : setup.failures) {
    if (failure.replica < 0 || failure.replica >= replicas)
      return problem("failed_replica", "the number is " + grouped(failure.replica),
                     "0 to " + grouped(replicas - 1));
    if (!(failure.time >= 0) || !(failure.seconds > 0) || !std::isfinite(failure.time + failure.seconds))
      return problem("failure_time",
                     "it is " + significant(failure.time) + " s, for " + significant(failure.seconds) + " s",
                     "a time of at least 0, for more than 0 s");
  }
  return check_scaling("least_replicas", setup.autoscaling, setup.replicas, setup.lockstep);
}

std::optional<Problem> check(const Workload& workload, const ServiceSetup& setup) {
  if (auto problem = check_settings(setup.engine)) return problem;
  if (auto fleet_problem = check_fleet(setup)) return fleet_problem;
  if (workload.requests.empty()) return problem("requests", "there is no request", "at least 1");
  if (workload.users < 0) return problem("users", grouped(workload.users) + " users", "at least 0");
  for (size_t i = 0; i < workload.requests.size(); ++i) {
    const Request& r = workload.requests[i];
    const std::string where = "request " + std::to_string(i);
    if (std::min(r.prompt, r.output) < 1 || std::max(r.prompt, r.output) > kMostTokens)
      return problem(where, grouped(r.prompt) + " prompt tokens and " + grouped(r.output) + " output tokens",
                     "1 to " + grouped(kMostTokens));
    if (!(r.arrival >= 0) || !std::isfinite(r.arrival))
      return problem(where, "it arrives at " + significant(r.arrival) + " s", "a time of at least 0");
    if (r.parent >= 0 && static_cast<size_t>(r.parent) >= i)
      return problem(where, "its parent is request " + std::to_string(r.parent), "an earlier request");
  }
  return std::nullopt;
}

}  // namespace

StepBatch batch_of(const RequestSimulation& simulation, size_t step) {
  const StepRecord& of = simulation.steps.at(step);
  const size_t end = step + 1 < simulation.steps.size() ? simulation.steps[step + 1].first_chunk
                                                        : simulation.chunks.size();
  return {of.decode_sequences, of.decode_context,
          std::span(simulation.chunks).subspan(of.first_chunk, end - of.first_chunk), of.sampled,
          of.draft_tokens};
}

Result<RequestSimulation> simulate_requests(const Workload& workload, const ServiceSetup& setup,
                                            StepClock& clock, std::stop_token stop) {
  if (auto problem = check(workload, setup)) return *std::move(problem);
  try {
    return Simulator(workload, setup, clock).run(stop);
  } catch (const TooManyContents& error) {
    return problem("requests",
                   "the requests have more different " + std::string(error.what()) +
                       " than the simulation of a prefix cache can hold",
                   "fewer or shorter requests, larger blocks, or no prefix caching");
  }
}

}  // namespace shardscape
