#include "serving/service/service_cache.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "serving/service/service.h"
#include "serving/service/service_draft.h"

namespace shardscape {
namespace {

// design: of one engine.
Result<CacheSettings> cache_settings(const Design& design, const ServiceSpec& spec) {
  auto draft = service_draft(design, spec);
  if (auto* problem = std::get_if<Problem>(&draft)) return *std::move(problem);
  const EngineSettings& engine = spec.engine;
  return CacheSettings{memory_share(spec),
                       most_step_tokens(engine),
                       most_sequences(engine),
                       cache_block_size(engine),
                       0,
                       engine.engine,
                       engine.disable_hybrid_kv_cache_manager,
                       request_states(engine.sglang),
                       caches_prefixes(engine),
                       engine.mxfp4_use_marlin,
                       std::get<0>(std::move(draft))};
}

// The tiers of an engine's cache, in blocks of the cache. Engines but TensorRT-LLM copy what the device holds
// into the host (requests/kv_tiers.h).
CacheTierSettings cache_tiers(const ServiceSpec& spec, int64_t device_blocks, const CacheCapacity& cache) {
  CacheTierSettings out;
  if (cache.replica_block_bytes == 0) return out;
  const auto blocks = [&](double gib) {
    return static_cast<int64_t>(gib * 0x1p30 / static_cast<double>(cache.replica_block_bytes));
  };
  out.blocks = {blocks(spec.host_cache_gib), blocks(spec.disk_cache_gib)};
  if (spec.engine.engine != EngineKind::Trtllm)
    out.blocks[0] = std::max<int64_t>(0, out.blocks[0] - device_blocks);
  // Blocks of a disk pass through the host.
  const double host = static_cast<double>(cache.block_bytes) / (spec.host_cache_gbps * 1e9);
  const double disk = static_cast<double>(cache.replica_block_bytes) / (spec.disk_cache_gbps * 1e9);
  out.block_seconds = {host, std::max(host, disk)};
  return out;
}

}  // namespace

Result<CacheCapacity> service_cache(const Design& design, const ServiceSpec& spec,
                                    std::shared_ptr<PlanCache> cache) {
  const Design engine = engine_design(design);
  const auto settings = cache_settings(engine, spec);
  if (const auto* problem = std::get_if<Problem>(&settings)) return *problem;
  return cache_capacity(engine, std::get<0>(settings), std::move(cache));
}

Problem no_cache_problem(EngineKind engine, const CacheCapacity& cache) {
  return {ProblemCode::EngineSettingInvalid, memory_setting(engine).id,
          "weights (" + format_bytes(cache.states) + "), the largest step (" +
              format_bytes(cache.activations) + ") and the runtime (" + format_bytes(cache.runtime) +
              ") leave no room for a KV cache in " + format_bytes(cache.usable),
          "a larger share, more accelerators per engine, or smaller steps"};
}

std::optional<Problem> set_cache(const Design& design, const ServiceSpec& spec, EngineSettings& engine,
                                 CacheCapacity& cache, std::shared_ptr<PlanCache> plans) {
  const bool given = cache_blocks(engine) > 0;
  const Design of = engine_design(design);
  const auto settings = cache_settings(of, spec);
  if (const auto* problem = std::get_if<Problem>(&settings)) return *problem;
  const auto capacity = given ? cache_storage(of, std::get<0>(settings), std::move(plans))
                              : cache_capacity(of, std::get<0>(settings), std::move(plans));
  if (const auto* problem = std::get_if<Problem>(&capacity)) return *problem;
  cache = std::get<0>(capacity);
  engine.layout = cache.layout;
  if (engine.engine == EngineKind::Vllm) {
    engine.block_size = static_cast<int32_t>(cache.row_tokens);
    if (!given) engine.num_gpu_blocks = cache.blocks;
  } else if (!given) {
    set_cache_tokens(engine, cache.blocks * cache_block_size(engine));
  }
  if (cache_blocks(engine) == 0) return no_cache_problem(engine.engine, cache);
  int64_t& states = engine.sglang.max_mamba_cache_size;
  if (states > 0 && cache.state_slots == 0 && engine.engine == EngineKind::Sglang)
    return Problem(ProblemCode::EngineSettingInvalid, "max_mamba_cache_size",
                   "the model has no mixers with states", "0");
  if (states == 0) states = cache.state_slots;
  if (cache.sequences > 0)
    engine.sglang.max_running_requests = std::min(engine.sglang.max_running_requests, cache.sequences);
  engine.tiers = cache_tiers(spec, cache_blocks(engine), cache);
  return std::nullopt;
}

}  // namespace shardscape
