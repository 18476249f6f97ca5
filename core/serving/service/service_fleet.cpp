#include "serving/service/service_fleet.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "design/document.h"
#include "serving/engine/kv_link.h"

namespace shardscape {
namespace {

Problem fleet_problem(const char* where, std::string what, const char* accepted) {
  return {ProblemCode::EngineSettingInvalid, where, std::move(what), accepted};
}

// spec.engine: the settings of the pool.
Result<ServicePool> make_pool(const Design& design, const ServiceSpec& spec, int64_t replicas,
                              std::shared_ptr<PlanCache> cache) {
  ServicePool out;
  out.design = engine_design(design);
  out.engine = spec.engine;
  out.replicas = replicas > 0 ? replicas : engine_count(design);
  out.replica_accelerators = design.world() / std::max<int64_t>(1, design.parallel.dp);
  out.engine.speculation.seed = spec.source.seed;
  out.engine.pipeline_stages = static_cast<int32_t>(design.parallel.pp);
  out.engine.attention_dp = static_cast<int32_t>(out.design.parallel.dp);
  if (auto problem = set_cache(design, spec, out.engine, out.cache, std::move(cache)))
    return *std::move(problem);
  return out;
}

void set_step_tokens(EngineSettings& engine, int64_t tokens) {
  switch (engine.engine) {
    case EngineKind::Vllm: engine.max_num_batched_tokens = tokens; break;
    case EngineKind::Sglang:
      engine.sglang.chunked_prefill_size = tokens;
      engine.sglang.max_prefill_tokens = std::max(engine.sglang.max_prefill_tokens, tokens);
      break;
    case EngineKind::Trtllm: engine.trtllm.max_num_tokens = tokens; break;
  }
}

HandoffOrder handoff_order(const ServiceSpec& spec) {
  switch (spec.fleet.kv_handoff) {
    case HandoffChoice::Engine: break;
    case HandoffChoice::SourceFirst: return HandoffOrder::SourceFirst;
    case HandoffChoice::DestinationFirst: return HandoffOrder::DestinationFirst;
  }
  return spec.engine.engine == EngineKind::Sglang ? HandoffOrder::DestinationFirst
                                                  : HandoffOrder::SourceFirst;
}

// vLLM's documents start with NixlConnector; disaggregation_transfer_backend of SGLang is mooncake by default
// (server_args.py).
KvConnector connector_of(const ServiceSpec& spec) {
  KvConnectorChoice choice = spec.fleet.kv_connector;
  if (choice == KvConnectorChoice::Engine) switch (spec.engine.engine) {
      case EngineKind::Vllm: choice = KvConnectorChoice::Nixl; break;
      case EngineKind::Sglang: choice = KvConnectorChoice::Mooncake; break;
      case EngineKind::Trtllm: choice = KvConnectorChoice::Network; break;
    }
  switch (choice) {
    case KvConnectorChoice::Engine:
    case KvConnectorChoice::Network: break;
    case KvConnectorChoice::Mooncake: return kv_connector("mooncake");
    case KvConnectorChoice::Nixl: return kv_connector("nixl");
  }
  return {};
}

// Adds the replicas that compute prompts. The pool of the decode replicas is there.
std::optional<Problem> add_prefill(const Design& design, const ServiceSpec& spec, StepClock& clock,
                                   const std::shared_ptr<PlanCache>& cache, const PrefillEngine& engine,
                                   ServiceFleet& fleet) {
  const FleetSpec& f = spec.fleet;
  const auto prompts = engine.design ? Result<Design>(*engine.design)
                                     : prefill_design(design, f.prefill_design);
  if (const auto* problem = std::get_if<Problem>(&prompts)) return *problem;
  const Design& of = std::get<0>(prompts);
  ServiceSpec prefill = spec;
  if (f.prefill_step_tokens > 0) set_step_tokens(prefill.engine, f.prefill_step_tokens);
  Disaggregation& d = fleet.setup.disaggregation;
  d.clock = engine.clock ? engine.clock : &clock;
  if (!engine.clock && !f.prefill_design.empty()) {
    auto made = service_clock(of, prefill, cache);
    if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
    fleet.prefill_clock = std::get<0>(std::move(made));
    d.clock = fleet.prefill_clock.get();
  }
  auto pool = make_pool(of, prefill, f.prefill_replicas, cache);
  if (const auto* problem = std::get_if<Problem>(&pool)) return *problem;
  const ServicePool& decode = fleet.pools.front();
  // A cache whose blocks are given lacks the bytes of a token.
  const auto capacity = decode.cache.blocks > 0 ? decode.cache : service_cache(design, spec, cache);
  if (const auto* problem = std::get_if<Problem>(&capacity)) return *problem;
  const auto ranks = static_cast<double>(decode.replica_accelerators);
  d.token_bytes = ranks * static_cast<double>(std::get<0>(capacity).token_bytes);
  d.sequence_bytes = ranks * static_cast<double>(std::get<0>(capacity).sequence_bytes);
  d.link = kv_link(of, design);
  const KvConnector connector = connector_of(spec);
  d.link.latency += connector.transfer_seconds;
  // A rank of a decode replica has the layers of its stage.
  const int64_t pp = std::max<int64_t>(1, design.parallel.pp), layers = (design.model.layers + pp - 1) / pp;
  d.block_seconds = static_cast<double>(layers) * connector.descriptor_seconds;
  d.block_tokens = std::max<int64_t>(1, decode.cache.row_tokens);
  d.order = handoff_order(spec);
  fleet.pools.insert(fleet.pools.begin(), std::get<0>(std::move(pool)));
  d.prefill = fleet.pools.front().engine;
  d.prefill_replicas = static_cast<int32_t>(f.prefill_replicas);
  d.lockstep = d.prefill.attention_dp;
  d.autoscaling = {static_cast<int32_t>(f.least_prefill_replicas), f.requests_per_prefill_replica,
                   f.prefill_start_seconds, f.prefill_cool_down_seconds};
  fleet.pools.front().engine.role = EngineRole::Prefill;
  fleet.pools.back().engine.role = EngineRole::Decode;
  return std::nullopt;
}

}  // namespace

Result<Design> prefill_design(const Design& design, const std::string& file) {
  if (file.empty()) return design;
  auto read = load_design(file);
  if (const auto* of = std::get_if<Design>(&read); of && !(of->model == design.model))
    return fleet_problem("prefill_design", "it has another model than the design of the decode replicas",
                         "a design of the same model");
  return read;
}

Result<ServiceFleet> make_fleet(const Design& design, const ServiceSpec& spec, StepClock& clock,
                                std::shared_ptr<PlanCache> cache, const PrefillEngine& prefill) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const FleetSpec& f = spec.fleet;
  const bool separate = f.prefill_replicas > 0;
  ServiceFleet out;
  auto pool = make_pool(design, spec, separate ? f.decode_replicas : spec.replicas, cache);
  if (const auto* problem = std::get_if<Problem>(&pool)) return *problem;
  out.pools.push_back(std::get<0>(std::move(pool)));
  ServiceSetup& setup = out.setup;
  setup.engine = out.pools.back().engine;
  setup.replicas = static_cast<int32_t>(out.pools.back().replicas);
  setup.router = spec.router;
  setup.lockstep = setup.engine.attention_dp;
  if (f.failure_seconds > 0)
    setup.failures.push_back({f.failure_time, f.failure_seconds, static_cast<int32_t>(f.failed_replica)});
  setup.autoscaling = {static_cast<int32_t>(f.least_replicas), f.requests_per_replica, f.start_seconds,
                       f.cool_down_seconds};
  if (!separate) return out;
  if (const int64_t all = setup.replicas + f.prefill_replicas; spec.replicas != 0 && spec.replicas != all)
    return fleet_problem("replicas", "prefill and decode replicas are " + grouped(all) + " in total",
                         "0, or that number");
  if (auto problem = add_prefill(design, spec, clock, cache, prefill, out)) return *std::move(problem);
  return out;
}

RunningCost fleet_cost(const ServiceRun& run) {
  const bool varies = run.spec.fleet.least_replicas > 0;
  if (run.pools.size() == 1 && !varies)
    return running_cost(run.design.cluster, run.accelerators, run.results.output_per_second);
  RunningCost out{0, 0};
  const double tokens = run.results.output_per_second * run.results.seconds;
  const auto add = [](std::optional<double>& sum, const std::optional<double>& value) {
    sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
  };
  for (const ServicePool& pool : run.pools) {
    const RunningCost of = running_cost(pool.design.cluster, 1, tokens / pool.gpu_seconds);
    add(out.dollars, of.dollars);
    add(out.kwh, of.kwh);
  }
  return out;
}

}  // namespace shardscape
