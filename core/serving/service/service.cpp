#include "serving/service/service.h"

#include <algorithm>

#include "base/units.h"
#include "design/cluster.h"
#include "serving/engine/engine_clock.h"
#include "serving/requests/lengths.h"
#include "serving/requests/trace_file.h"

namespace shardscape {
namespace {

constexpr int64_t kMostCaptured = 512;  // tokens of the largest recorded graph (vLLM)

Result<std::vector<RequestLength>> lengths_of(const RequestSource& source) {
  const auto seed = static_cast<uint64_t>(source.seed);
  if (!source.lengths.empty()) {
    auto rows = read_lengths(source.lengths);
    if (const auto* problem = std::get_if<Problem>(&rows)) return *problem;
    return sampled_lengths(std::get<0>(rows), source.requests, seed);
  }
  const auto rule = [&](int64_t tokens) {
    return LengthRule{source.range_ratio < 1 ? LengthKind::Uniform : LengthKind::Fixed,
                      static_cast<int32_t>(tokens), source.range_ratio};
  };
  return drawn_lengths(rule(source.input_len), rule(source.output_len), source.requests, seed);
}

// Whether the data-parallel replicas of the design share experts.
bool shares_experts(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return design.model.experts > 0 && p.ep * p.expert_tp() > p.tp * p.cp;
}

CacheSettings cache_settings(const ServiceSpec& spec) {
  const EngineSettings& engine = spec.engine;
  return {memory_share(spec),
          most_step_tokens(engine),
          most_sequences(engine),
          cache_block_size(engine),
          0,
          engine.engine,
          engine.disable_hybrid_kv_cache_manager,
          caches_prefixes(engine)};
}

// The tiers of an engine's cache, in blocks of the cache. Engines but TensorRT-LLM copy what the device holds
// into the host (requests/kv_tiers.h).
CacheTierSettings cache_tiers(const ServiceSpec& spec, const CacheCapacity& cache) {
  CacheTierSettings out;
  if (cache.replica_block_bytes == 0) return out;
  const auto blocks = [&](double gib) {
    return static_cast<int64_t>(gib * 0x1p30 / static_cast<double>(cache.replica_block_bytes));
  };
  out.blocks = {blocks(spec.host_cache_gib), blocks(spec.disk_cache_gib)};
  if (spec.engine.engine != EngineKind::Trtllm)
    out.blocks[0] = std::max<int64_t>(0, out.blocks[0] - cache_blocks(spec.engine));
  // Blocks of a disk pass through the host.
  const double host = static_cast<double>(cache.block_bytes) / (spec.host_cache_gbps * 1e9);
  const double disk = static_cast<double>(cache.replica_block_bytes) / (spec.disk_cache_gbps * 1e9);
  out.block_seconds = {host, std::max(host, disk)};
  return out;
}

Problem no_cache_problem(EngineKind engine, const CacheCapacity& cache) {
  return {ProblemCode::EngineSettingInvalid, memory_setting(engine).id,
          "weights (" + format_bytes(cache.states) + "), the largest step (" +
              format_bytes(cache.activations) + ") and the runtime (" + format_bytes(cache.runtime) +
              ") leave no room for a KV cache in " + format_bytes(cache.usable),
          "a larger share, more accelerators per engine, or smaller steps"};
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
  if (source.users > 0) return closed_loop(source.users, std::get<0>(lengths));
  const auto arrivals = arrival_times(
      steady_arrivals(source.arrivals, source.rate, static_cast<uint64_t>(source.seed), source.burstiness),
      source.requests);
  if (const auto* problem = std::get_if<Problem>(&arrivals)) return *problem;
  return open_loop(std::get<0>(arrivals), std::get<0>(lengths));
}

Result<CacheCapacity> service_cache(const Design& design, const ServiceSpec& spec,
                                    std::shared_ptr<PlanCache> cache) {
  return cache_capacity(engine_design(design), cache_settings(spec), std::move(cache));
}

EngineProfile service_profile(const Design& design, const ServiceSpec& spec) {
  const auto accelerator = accelerator_of(design.cluster);
  const std::string& kernels = design.workload.profile;
  const bool named = std::any_of(engine_profiles().begin(), engine_profiles().end(),
                                 [&](const EngineProfile& of) { return of.engine == kernels; });
  const bool by_kernels = spec.engine.engine == EngineKind::Vllm && named;
  EngineProfile profile = engine_profile(
      by_kernels ? kernels : kEngineIds[static_cast<size_t>(spec.engine.engine)],
      accelerator ? accelerator->family : "");
  const SpeculativeSettings& speculation = spec.engine.speculation;
  profile.draft_tokens = draft_tokens(speculation);
  profile.draft_module = lookahead_tokens(speculation) > 0;
  // SGLang and TensorRT-LLM record graphs of about the same sizes.
  const int64_t tokens = 1 + profile.draft_tokens;
  profile.captured = vllm_captured_sizes(std::min(2 * tokens * most_sequences(spec.engine), kMostCaptured),
                                         tokens);
  return profile;
}

Result<std::unique_ptr<StepClock>> service_clock(const Design& design, const ServiceSpec& spec,
                                                 std::shared_ptr<PlanCache> cache) {
  auto clock = EngineClock::make(engine_design(design), service_profile(design, spec), std::move(cache));
  if (auto* problem = std::get_if<Problem>(&clock)) return *std::move(problem);
  return std::get<0>(std::move(clock));
}

Result<std::shared_ptr<const ServiceRun>> run_requests(const Design& design, const ServiceSpec& spec,
                                                       Workload workload, StepClock& clock,
                                                       std::stop_token stop,
                                                       std::shared_ptr<PlanCache> cache) {
  auto run = std::make_shared<ServiceRun>();
  run->design = engine_design(design);
  run->spec = spec;
  run->workload = std::move(workload);
  if (run->spec.replicas == 0) run->spec.replicas = engine_count(design);
  EngineSettings& engine = run->spec.engine;
  engine.speculation.seed = spec.source.seed;
  engine.pipeline_stages = static_cast<int32_t>(design.parallel.pp);
  engine.attention_dp = static_cast<int32_t>(run->design.parallel.dp);
  const bool given = cache_blocks(engine) > 0;
  const auto capacity = given ? cache_storage(run->design, cache_settings(spec), std::move(cache))
                              : service_cache(design, spec, std::move(cache));
  if (const auto* problem = std::get_if<Problem>(&capacity)) return *problem;
  run->cache = std::get<0>(capacity);
  engine.layout = run->cache.layout;
  if (engine.engine == EngineKind::Vllm) {
    engine.block_size = static_cast<int32_t>(run->cache.row_tokens);
    if (!given) engine.num_gpu_blocks = run->cache.blocks;
  } else if (!given) {
    set_cache_tokens(engine, run->cache.blocks * cache_block_size(engine));
  }
  if (cache_blocks(engine) == 0) return no_cache_problem(engine.engine, run->cache);
  if (run->cache.sequences > 0)
    engine.sglang.max_running_requests = std::min(engine.sglang.max_running_requests, run->cache.sequences);
  engine.tiers = cache_tiers(run->spec, run->cache);
  auto simulation = simulate_requests(
      run->workload,
      {engine, static_cast<int32_t>(run->spec.replicas), spec.router, true, engine.attention_dp}, clock,
      stop);
  if (const auto* problem = std::get_if<Problem>(&simulation)) return *problem;
  run->simulation = std::get<0>(std::move(simulation));
  run->results = service_results(run->workload, run->simulation, spec.limits);
  run->accelerators = run->spec.replicas * design.world() / std::max<int64_t>(1, design.parallel.dp);
  run->cost = running_cost(design.cluster, run->accelerators, run->results.output_per_second);
  return std::shared_ptr<const ServiceRun>(std::move(run));
}

Result<std::shared_ptr<const ServiceRun>> run_service(const Design& design, const ServiceSpec& spec,
                                                      std::stop_token stop,
                                                      std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  if (const auto problem = check_spec(spec)) return *problem;
  auto workload = make_workload(spec.source);
  if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
  auto clock = service_clock(design, spec, cache);
  if (const auto* problem = std::get_if<Problem>(&clock)) return *problem;
  return run_requests(design, spec, std::get<Workload>(std::move(workload)), *std::get<0>(clock), stop,
                      std::move(cache));
}

}  // namespace shardscape
