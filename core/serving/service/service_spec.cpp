#include "serving/service/service_spec.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace shardscape {

const char* group_label(SettingGroup group) {
  switch (group) {
    case SettingGroup::Requests: return "Requests";
    case SettingGroup::Engine: return "Engine";
    case SettingGroup::Fleet: return "Fleet";
    case SettingGroup::Limits: return "Service level";
  }
  return "";
}

std::string ServiceSetting::flag() const {
  std::string out = std::string("--") + id;
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::string ServiceSetting::accepted() const {
  switch (kind) {
    case SettingKind::Whole: return "a whole number";
    case SettingKind::Number: return "a number";
    case SettingKind::Numbers: return "numbers such as 0.7,0.5,0.3";
    case SettingKind::Switch: return "true or false";
    case SettingKind::File: return "a file";
    case SettingKind::Seconds: return "a time such as 50 ms or 2 s";
    case SettingKind::Level: return level_help();
    case SettingKind::Choice: break;
  }
  std::string out;
  for (size_t i = 0; i < choices.size(); ++i)
    out += std::string(i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  return out;
}

const ServiceSetting* find_setting(std::string_view id) {
  for (const ServiceSetting& setting : service_settings())
    if (id == setting.id) return &setting;
  return nullptr;
}

std::optional<Problem> set_setting(ServiceSpec& spec, const ServiceSetting& setting,
                                   const std::string& text) {
  if (setting.read(spec, text)) return std::nullopt;
  if (setting.kind == SettingKind::Level)
    return std::get<Problem>(parse_service_level(text, setting.id));  // names the part
  return Problem(ProblemCode::EngineSettingInvalid, setting.id, "\"" + text + "\" is not accepted",
                 setting.accepted());
}

std::optional<Problem> check_engine(const ServiceSpec& spec, const ServiceSetting& setting) {
  if (!setting.engine || *setting.engine == spec.engine.engine) return std::nullopt;
  const char* other = kEngineIds[static_cast<size_t>(*setting.engine)];
  return Problem(ProblemCode::EngineSettingInvalid, setting.id,
                 std::string("it is a setting of ") + engine_name(*setting.engine) + ", and the engine is " +
                     engine_name(spec.engine.engine),
                 std::string("a setting of ") + engine_name(spec.engine.engine) + ", or the engine " + other);
}

ServiceLevel promised_level(const ServiceSpec& spec) {
  ServiceLevel out = spec.level;
  const std::pair<Latency, std::optional<double>> limits[] = {
      {Latency::Ttft, spec.limits.ttft}, {Latency::Tpot, spec.limits.tpot}, {Latency::E2e, spec.limits.e2e}};
  for (const auto& [latency, seconds] : limits)
    if (seconds) out.targets.push_back({LatencyFigure::P99, latency, *seconds});
  return out;
}

RequestLimits request_limits(const ServiceSpec& spec) {
  RequestLimits out = spec.limits;
  const auto loosest = [&](Latency latency, std::optional<double>& limit) {
    if (limit) return;
    for (const LatencyTarget& target : spec.level.targets)
      if (target.latency == latency && target.figure != LatencyFigure::Mean)
        limit = std::max(limit.value_or(0), target.seconds);
  };
  loosest(Latency::Ttft, out.ttft);
  loosest(Latency::Tpot, out.tpot);
  loosest(Latency::E2e, out.e2e);
  return out;
}

const ServiceSetting& memory_setting(EngineKind engine) {
  switch (engine) {
    case EngineKind::Vllm: return *find_setting("gpu_memory_utilization");
    case EngineKind::Sglang: return *find_setting("mem_fraction_static");
    case EngineKind::Trtllm: break;
  }
  return *find_setting("free_gpu_memory_fraction");
}

double memory_share(const ServiceSpec& spec) {
  switch (spec.engine.engine) {
    case EngineKind::Vllm: return spec.gpu_memory_utilization;
    case EngineKind::Sglang: return spec.mem_fraction_static;
    case EngineKind::Trtllm: break;
  }
  return spec.free_gpu_memory_fraction;
}

namespace {

constexpr int64_t kMostReplicas = 100'000;

std::optional<Problem> check_fleet(const ServiceSpec& spec) {
  const auto problem = [](const char* id, std::string what, const char* accepted) {
    return Problem(ProblemCode::EngineSettingInvalid, id, std::move(what), accepted);
  };
  const FleetSpec& fleet = spec.fleet;
  const std::pair<const char*, int64_t> counts[] = {{"replicas", spec.replicas},
                                                    {"prefill_replicas", fleet.prefill_replicas},
                                                    {"decode_replicas", fleet.decode_replicas},
                                                    {"least_replicas", fleet.least_replicas},
                                                    {"least_prefill_replicas", fleet.least_prefill_replicas},
                                                    {"failed_replica", fleet.failed_replica}};
  for (const auto& [id, count] : counts)
    if (count < 0 || count > kMostReplicas)
      return problem(id, "the value is " + grouped(count), "0 to 100,000");
  if (fleet.prefill_step_tokens < 0 || fleet.prefill_step_tokens > kMostTokens)
    return problem("prefill_step_tokens", "the value is " + grouped(fleet.prefill_step_tokens), "0 or more");
  const std::pair<const char*, double> loads[] = {
      {"requests_per_replica", fleet.requests_per_replica},
      {"requests_per_prefill_replica", fleet.requests_per_prefill_replica}};
  for (const auto& [id, requests] : loads)
    if (requests <= 0) return problem(id, "the value is " + significant(requests), "a number above 0");
  const std::pair<const char*, double> times[] = {
      {"start_seconds", fleet.start_seconds},
      {"cool_down_seconds", fleet.cool_down_seconds},
      {"prefill_start_seconds", fleet.prefill_start_seconds},
      {"prefill_cool_down_seconds", fleet.prefill_cool_down_seconds},
      {"failure_time", fleet.failure_time},
      {"failure_seconds", fleet.failure_seconds}};
  for (const auto& [id, seconds] : times)
    if (seconds < 0) return problem(id, "the value is " + significant(seconds), "0 or more seconds");
  if (fleet.prefill_replicas == 0 &&
      (fleet.decode_replicas > 0 || !fleet.prefill_design.empty() || fleet.least_prefill_replicas > 0))
    return problem("prefill_replicas", "no replica computes prompts for the decode replicas", "1 or more");
  return std::nullopt;
}

}  // namespace

std::optional<Problem> check_spec(const ServiceSpec& spec) {
  const auto problem = [](const char* id, double value, const char* accepted) {
    return Problem(ProblemCode::EngineSettingInvalid, id, "the value is " + significant(value), accepted);
  };
  constexpr int64_t kMostRequests = 10'000'000, kMostTurns = 10'000;
  constexpr double kMostTierGib = 1e6;
  const RequestSource& source = spec.source;
  const std::pair<const char*, int64_t> lengths[] = {{"input_len", source.input_len},
                                                     {"output_len", source.output_len}};
  for (const auto& [id, tokens] : lengths)
    if (tokens < 1 || tokens > kMostTokens)
      return problem(id, static_cast<double>(tokens), "at least 1 token");
  if (source.requests < 1 || source.requests > kMostRequests)
    return problem("requests", static_cast<double>(source.requests), "1 to 10,000,000");
  if (source.rate <= 0) return problem("rate", source.rate, "a number above 0");
  if (source.burstiness <= 0) return problem("burstiness", source.burstiness, "a number above 0");
  if (!(source.rate_period >= 0)) return problem("rate_period", source.rate_period, "0 or more seconds");
  if (source.turns < 1 || source.turns > kMostTurns)
    return problem("turns", static_cast<double>(source.turns), "1 to 10,000");
  if (!(source.think_time >= 0)) return problem("think_time", source.think_time, "0 or more seconds");
  if (source.users < 0) return problem("users", static_cast<double>(source.users), "0 or more");
  if (source.range_ratio < 0 || source.range_ratio > 1)
    return problem("range_ratio", source.range_ratio, "0 to 1");
  if (!(source.characters_per_token >= 0))
    return problem("characters_per_token", source.characters_per_token, "0 or more");
  if (source.seed < 0) return problem("seed", static_cast<double>(source.seed), "0 or more");
  const bool estimated = spec.engine.engine == EngineKind::Sglang && spec.mem_fraction_static == 0;
  if (const double share = memory_share(spec); !estimated && (share <= 0 || share > 1))
    return problem(memory_setting(spec.engine.engine).id, share, "above 0, at most 1");
  if (auto fleet_problem = check_fleet(spec)) return fleet_problem;
  const std::pair<const char*, double> tiers[] = {{"host_cache_gib", spec.host_cache_gib},
                                                  {"disk_cache_gib", spec.disk_cache_gib}};
  for (const auto& [id, gib] : tiers)
    if (gib < 0 || gib > kMostTierGib) return problem(id, gib, "0 to 1,000,000 GiB");
  const std::pair<const char*, double> links[] = {{"host_cache_gbps", spec.host_cache_gbps},
                                                  {"disk_cache_gbps", spec.disk_cache_gbps}};
  for (const auto& [id, gbps] : links)
    if (gbps <= 0) return problem(id, gbps, "a number above 0");
  return check_settings(spec.engine);
}

}  // namespace shardscape
