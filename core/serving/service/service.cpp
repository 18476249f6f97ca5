#include "serving/service/service.h"

#include <algorithm>

#include "base/memory_limit.h"
#include "base/units.h"
#include "design/cluster.h"
#include "serving/engine/engine_clock.h"
#include "serving/requests/lengths.h"
#include "serving/requests/trace_file.h"
#include "serving/service/service_draft.h"
#include "serving/service/service_fleet.h"

namespace shardscape {
namespace {

constexpr int64_t kMostCaptured = 512;  // tokens of the largest recorded graph (vLLM)

Result<std::vector<RequestLength>> lengths_of(const RequestSource& source) {
  const auto seed = static_cast<uint64_t>(source.seed);
  if (!source.lengths.empty()) {
    auto rows = read_lengths(source.lengths, source.characters_per_token);
    if (const auto* problem = std::get_if<Problem>(&rows)) return *problem;
    return sampled_lengths(std::get<0>(rows), source.requests, seed);
  }
  const auto rule = [&](int64_t tokens) {
    return LengthRule{source.range_ratio < 1 ? LengthKind::Uniform : LengthKind::Fixed,
                      static_cast<int32_t>(tokens), source.range_ratio};
  };
  return drawn_lengths(rule(source.input_len), rule(source.output_len), source.requests, seed);
}

// When the session of each request arrives.
Result<std::vector<double>> session_times(const RequestSource& source) {
  const int64_t turns = source.turns, sessions = (source.requests + turns - 1) / turns;
  const double rate = source.rate / static_cast<double>(turns);
  Arrivals arrivals = steady_arrivals(source.arrivals, rate, static_cast<uint64_t>(source.seed),
                                      source.burstiness);
  if (!source.rate_profile.empty()) {
    auto pieces = rate_pieces(source.rate_profile, source.rate_period, "rate_profile");
    if (const auto* problem = std::get_if<Problem>(&pieces)) return *problem;
    arrivals.rate = std::get<0>(std::move(pieces));
    arrivals.repeats = source.rate_period > 0;
    for (RatePiece& piece : arrivals.rate) {
      piece.first *= rate;
      piece.last *= rate;
    }
  }
  auto times = arrival_times(arrivals, sessions);
  if (const auto* problem = std::get_if<Problem>(&times)) return *problem;
  std::vector<double> out(static_cast<size_t>(source.requests));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::get<0>(times)[i / static_cast<size_t>(turns)];
  return out;
}

// Whether the data-parallel replicas of the design share experts.
bool shares_experts(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return design.model.experts > 0 && p.ep * p.expert_tp() > p.tp * p.cp;
}

// Whether the requests of a run need more memory than there is. A trace file says only later how many it has.
std::optional<Problem> requests_short(const RequestSource& source) {
  if (!source.trace.empty()) return std::nullopt;
  constexpr Wide kBytesOfRequest = 500;  // measured with Llama 3 8B: 350 of a million, 470 of ten million
  return memory_short({.what = "simulating " + grouped(source.requests) + " requests",
                       .bytes = source.requests * kBytesOfRequest,
                       .where = "requests",
                       .accepted = "a smaller number of requests"});
}

// Whether the schedulers of all replicas need more memory than there is: each has numbers per request of the
// run.
std::optional<Problem> replicas_short(const ServiceRun& run, const std::vector<ServicePool>& pools) {
  constexpr Wide kBytesOfRequest = 12, kBytesOfBlockSize = 24;
  const auto requests = static_cast<Wide>(run.workload.requests.size());
  Wide replicas = 0, bytes = 0;
  for (const ServicePool& pool : pools) {
    replicas += pool.replicas;
    bytes += pool.replicas * (requests * kBytesOfRequest + pool.engine.block_size * kBytesOfBlockSize);
  }
  return memory_short(
      {.what = "simulating " + grouped(replicas) + " replicas and " + grouped(requests) + " requests",
       .bytes = bytes,
       .where = "replicas",
       .accepted = "fewer replicas or requests"});
}

}  // namespace

Design engine_design(const Design& design) {
  Design out = design;
  if (!shares_experts(design)) out.parallel.dp = 1;
  return out;
}

int64_t engine_count(const Design& design) { return design.parallel.dp; }

Result<Workload> make_workload(const RequestSource& source) {
  if (!source.trace.empty()) {
    auto read = read_trace(source.trace);
    if (auto* workload = std::get_if<Workload>(&read)) workload->users = source.users;
    return read;
  }
  const auto lengths = lengths_of(source);
  if (const auto* problem = std::get_if<Problem>(&lengths)) return *problem;
  const auto times = source.users > 0 ? std::vector<double>() : session_times(source);
  if (const auto* problem = std::get_if<Problem>(&times)) return *problem;
  Workload workload = source.users > 0 ? closed_loop(source.users, std::get<0>(lengths))
                                       : open_loop(std::get<0>(times), std::get<0>(lengths));
  if (source.turns > 1)
    form_sessions(workload, source.turns, source.think_time, static_cast<uint64_t>(source.seed));
  return workload;
}

EngineProfile service_profile(const Design& design, const ServiceSpec& spec) {
  const auto accelerator = accelerator_of(design.cluster);
  const std::string& kernels = design.workload.profile;
  const bool named = std::any_of(engine_profiles().begin(), engine_profiles().end(),
                                 [&](const EngineProfile& of) { return of.engine == kernels; });
  // The default engine, or a code base of the engine ("trtllm-engine").
  const std::string engine = kEngineIds[static_cast<size_t>(spec.engine.engine)];
  const bool by_kernels = named &&
                          (spec.engine.engine == EngineKind::Vllm || kernels.starts_with(engine + "-"));
  EngineProfile profile = engine_profile(by_kernels ? kernels : engine,
                                         accelerator ? accelerator->family : "");
  if (!schedules_ahead(spec.engine)) profile.sequence_seconds = profile.sync_sequence_seconds;
  profile.draft_tokens = draft_tokens(spec.engine.speculation);
  // SGLang and TensorRT-LLM record graphs of about the same sizes.
  const int64_t tokens = 1 + profile.draft_tokens;
  profile.captured = vllm_captured_sizes(std::min(2 * tokens * most_sequences(spec.engine), kMostCaptured),
                                         tokens);
  return profile;
}

Result<std::unique_ptr<StepClock>> service_clock(const Design& design, const ServiceSpec& spec,
                                                 std::shared_ptr<PlanCache> cache) {
  auto draft = service_draft(engine_design(design), spec);
  if (auto* problem = std::get_if<Problem>(&draft)) return *std::move(problem);
  EngineProfile profile = service_profile(design, spec);
  profile.draft = std::get<0>(std::move(draft));
  auto clock = EngineClock::make(engine_design(design), profile, std::move(cache));
  if (auto* problem = std::get_if<Problem>(&clock)) return *std::move(problem);
  return std::get<0>(std::move(clock));
}

const ServicePool& pool_with(const ServiceRun& run, int64_t replica) {
  return replica < run.pools.front().replicas ? run.pools.front() : run.pools.back();
}

RequestWaits request_waits(const ServiceRun& run) {
  std::vector<EngineSettings> engines;
  for (const ServicePool& pool : run.pools) engines.push_back(pool.engine);
  return {engines, run.simulation};
}

Result<std::shared_ptr<const ServiceRun>> run_requests(const Design& design, const ServiceSpec& spec,
                                                       Workload workload, StepClock& clock,
                                                       std::stop_token stop, std::shared_ptr<PlanCache> cache,
                                                       RunSteps steps, const PrefillEngine& prefill) {
  auto run = std::make_shared<ServiceRun>();
  run->spec = spec;
  run->workload = std::move(workload);
  auto fleet = make_fleet(design, spec, clock, std::move(cache), prefill);
  if (const auto* problem = std::get_if<Problem>(&fleet)) return *problem;
  ServiceFleet& made = std::get<0>(fleet);
  if (auto problem = replicas_short(*run, made.pools)) return *std::move(problem);
  made.setup.keep_steps = steps == RunSteps::Kept;
  auto simulation = simulate_requests(run->workload, made.setup, clock, stop);
  if (const auto* problem = std::get_if<Problem>(&simulation)) return *problem;
  run->simulation = std::get<0>(std::move(simulation));
  run->results = service_results(run->workload, run->simulation, request_limits(spec));
  run->pools = made.pools;
  run->design = made.pools.back().design;
  run->cache = made.pools.back().cache;
  run->spec.engine = made.setup.engine;
  run->spec.replicas = 0;
  for (size_t i = 0; i < run->pools.size(); ++i) {
    ServicePool& pool = run->pools[i];
    run->spec.replicas += pool.replicas;
    run->accelerators += pool.replicas * pool.replica_accelerators;
    pool.gpu_seconds = run->simulation.pools[i].replica_seconds *
                       static_cast<double>(pool.replica_accelerators);
  }
  if (run->pools.size() > 1) run->spec.fleet.decode_replicas = run->pools.back().replicas;
  run->cost = fleet_cost(*run);
  return std::shared_ptr<const ServiceRun>(std::move(run));
}

Result<std::shared_ptr<const ServiceRun>> run_service(const Design& design, const ServiceSpec& spec,
                                                      std::stop_token stop, std::shared_ptr<PlanCache> cache,
                                                      RunSteps steps) {
  if (!cache) cache = std::make_shared<PlanCache>();
  if (const auto problem = check_spec(spec)) return *problem;
  if (auto problem = requests_short(spec.source)) return *std::move(problem);
  auto workload = make_workload(spec.source);
  if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
  auto clock = service_clock(design, spec, cache);
  if (const auto* problem = std::get_if<Problem>(&clock)) return *problem;
  return run_requests(design, spec, std::get<Workload>(std::move(workload)), *std::get<0>(clock), stop,
                      std::move(cache), steps);
}

}  // namespace shardscape
