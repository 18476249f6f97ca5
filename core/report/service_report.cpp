#include "report/service_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/units.h"
#include "report/band_report.h"
#include "report/text_columns.h"
#include "serving/requests/request_spans.h"
#include "serving/requests/request_wait.h"
#include "serving/service_limits.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

struct NamedDistribution {
  const char* key;
  const char* name;
  Distribution of;
};
std::vector<NamedDistribution> distributions(const ServiceResults& results) {
  return {{"ttft", "TTFT", results.ttft},
          {"tpot", "TPOT", results.tpot},
          {"itl", "ITL", results.itl},
          {"e2e", "end to end", results.e2e},
          {"queueing", "queueing", results.queueing}};
}

Json distribution_json(const Distribution& of) {
  return {{"count", of.count}, {"mean", of.mean}, {"p50", of.p50},
          {"p90", of.p90},     {"p95", of.p95},   {"p99", of.p99}};
}

Json latencies_json(const ServiceResults& results) {
  Json out = Json::object();
  for (const auto& [key, name, of] : distributions(results))
    out[std::string(key) + "_seconds"] = distribution_json(of);
  return out;
}

Json settings_json(const ServiceSpec& spec) {
  Json out = Json::object();
  for (const ServiceSetting& setting : service_settings())
    if (!check_engine(spec, setting)) out[setting.id] = setting.text(spec);
  return out;
}

Json throughput_json(const ServiceResults& results) {
  return {{"requests_per_second", results.requests_per_second},
          {"input_tokens_per_second", results.input_per_second},
          {"output_tokens_per_second", results.output_per_second},
          {"goodput_requests_per_second", results.goodput}};
}

// Null without speculative decoding.
Json speculation_json(const ServiceResults& results) {
  if (results.acceptance_length == 0) return nullptr;
  return {{"acceptance_length", results.acceptance_length},
          {"acceptance_per_position", results.acceptance_per_position}};
}

// The promised limits of percentiles, and what the service reaches.
Json level_json(const ServiceResults& results, const ServiceLevel& level) {
  Json out = Json::array();
  for (const LatencyTarget& target : level.targets)
    out.push_back({{"limit", target_text(target)},
                   {"limit_seconds", target.seconds},
                   {"seconds", figure_of(distribution_of(results, target.latency), target.figure)},
                   {"kept", keeps_target(results, target)}});
  return out;
}

std::string level_lines(const ServiceResults& results, const ServiceLevel& level) {
  std::string out;
  for (const LatencyTarget& target : level.targets)
    out += target_text(target) + (keeps_target(results, target) ? " is kept: " : " is exceeded: ") +
           format_seconds(figure_of(distribution_of(results, target.latency), target.figure)) + "\n";
  return out;
}

Json running_cost_json(const RunningCost& cost) {
  const auto json = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"dollars", json(cost.dollars)}, {"kwh", json(cost.kwh)}};
}

std::string exact(double value) { return Json(value).dump(); }  // without separators of thousands

// How many requests were refused, by reason.
std::vector<std::pair<RequestEnd, int64_t>> refusals(const ServiceRun& run) {
  std::vector<std::pair<RequestEnd, int64_t>> out;
  for (const RequestRecord& request : run.simulation.requests) {
    if (request.end == RequestEnd::Finished || request.end == RequestEnd::Pending) continue;
    auto at = std::find_if(out.begin(), out.end(), [&](const auto& row) { return row.first == request.end; });
    if (at == out.end()) at = out.insert(at, {request.end, 0});
    ++at->second;
  }
  return out;
}

// The role of a pool in sentences: "prefill ", "decode ", or nothing if all replicas are equal.
std::string role(const EngineSettings& engine) {
  switch (engine.role) {
    case EngineRole::Combined: return "";
    case EngineRole::Prefill: return "prefill ";
    case EngineRole::Decode: return "decode ";
  }
  return "";
}

bool varies(const PoolUse& use) { return use.counts.size() > 1; }

// What the replicas of each kind did; nothing for a fixed number of equal ones.
std::string pools_text(const ServiceRun& run) {
  const ServiceResults& r = run.results;
  std::string out;
  for (size_t i = 0; i < run.pools.size(); ++i) {
    const PoolUse& use = run.simulation.pools[i];
    if (run.pools.size() == 1 && !varies(use)) continue;
    const auto [least, most] = std::minmax_element(
        use.counts.begin(), use.counts.end(),
        [](const ReplicaCount& a, const ReplicaCount& b) { return a.replicas < b.replicas; });
    out += grouped(least->replicas) + (varies(use) ? " to " + grouped(most->replicas) : "") + " " +
           role(run.pools[i].engine) + (most->replicas == 1 ? "replica: " : "replicas: ") +
           significant(run.pools[i].gpu_seconds) + " GPU-seconds, " +
           format_percent(use.busy_seconds / std::max(use.replica_seconds, 1e-9)) + " busy\n";
  }
  if (r.transfer.count > 0)
    out += "KV transfer " + format_seconds(r.transfer.mean) + " on average, p99 " +
           format_seconds(r.transfer.p99) + "; before it " + format_seconds(r.transfer_wait.mean) +
           " of waiting on average; " + grouped(r.waited_for_receiver) +
           " requests waited for blocks of a decode replica\n";
  if (r.restarts > 0) out += grouped(r.restarts) + " requests were sent again after a failure\n";
  return out;
}

Json pools_json(const ServiceRun& run) {
  constexpr const char* kRoles[] = {"combined", "prefill", "decode"};
  Json out = Json::array();
  for (size_t i = 0; i < run.pools.size(); ++i) {
    const ServicePool& pool = run.pools[i];
    const PoolUse& use = run.simulation.pools[i];
    Json counts = Json::array();
    for (const ReplicaCount& count : use.counts)
      counts.push_back({{"seconds", count.time}, {"replicas", count.replicas}});
    out.push_back({{"role", kRoles[static_cast<size_t>(pool.engine.role)]},
                   {"replicas", pool.replicas},
                   {"accelerators_per_replica", pool.replica_accelerators},
                   {"gpu_seconds", pool.gpu_seconds},
                   {"busy_seconds", use.busy_seconds},
                   {"cache_blocks", allocated_blocks(pool.engine)},
                   {"mean_blocks", use.mean_blocks},
                   {"peak_blocks", use.peak_blocks},
                   {"replicas_over_time", counts}});
  }
  return out;
}

// Null if no prompt is transferred.
Json transfers_json(const ServiceResults& results) {
  if (results.transfer.count == 0) return nullptr;
  return {{"transfer_seconds", distribution_json(results.transfer)},
          {"wait_seconds", distribution_json(results.transfer_wait)},
          {"waited_for_blocks", results.waited_for_receiver}};
}

// Bytes on all ranks that came from lower tiers of the cache.
Wide loaded_bytes(const ServiceRun& run) {
  const int64_t row = run.cache.layout.full * run.cache.replica_block_bytes;
  return Wide{run.results.loaded_tokens} * row / std::max<int64_t>(1, run.cache.row_tokens);
}

std::string cache_text(const ServicePool& pool) {
  const int64_t blocks = allocated_blocks(pool.engine);
  const int32_t size = cache_block_size(pool.engine);
  std::string out = "KV cache of " + (role(pool.engine).empty() ? "an " : "a " + role(pool.engine)) +
                    "engine: " + grouped(blocks) +
                    (size == 1 ? " tokens" : " blocks of " + grouped(size) + " tokens");
  const CacheCapacity& cache = pool.cache;
  if (cache.layout != CacheLayout())
    out += " in layers that store in different ways (" + grouped(cache.layout.row_blocks()) +
           " for these tokens, " + grouped(cache.layout.states) + " for states)";
  if (cache.cache > 0)
    out += " (" + format_bytes(cache.cache) + " of " + format_bytes(cache.usable) + "; weights " +
           format_bytes(cache.states) + ", largest step " + format_bytes(cache.activations) + ", runtime " +
           format_bytes(cache.runtime) + ")";
  return out + "\n";
}

}  // namespace

std::string service_text(const ServiceRun& run) {
  const ServiceResults& r = run.results;
  std::string out = grouped(static_cast<Wide>(run.simulation.requests.size())) + " requests on " +
                    grouped(run.spec.replicas) + " " + engine_name(run.spec.engine.engine) +
                    (run.spec.replicas == 1 ? " engine" : " engines") + ", " + grouped(run.accelerators) +
                    (run.accelerators == 1 ? " GPU: " : " GPUs: ") + grouped(r.finished) + " answered in " +
                    format_seconds(r.seconds) + "\n";
  for (const auto& [reason, number] : refusals(run))
    out += "refused: " + grouped(number) + " (" + end_text(reason) + ")\n";
  for (const ServicePool& pool : run.pools) out += cache_text(pool);
  out += pad("", 12, false);
  for (const char* name : {"mean", "p50", "p90", "p95", "p99"}) out += pad(name, 12);
  for (const auto& [key, name, of] : distributions(r)) {
    out += "\n" + pad(name, 12, false);
    for (const double value : {of.mean, of.p50, of.p90, of.p95, of.p99})
      out += pad(format_seconds(value), 12);
  }
  const std::string bands = service_bands_text(run.design);
  out += "\n" + bands + significant(r.requests_per_second) + " requests/s, " +
         significant(r.input_per_second) + " prompt tokens/s, " + significant(r.output_per_second) +
         " output tokens/s";
  if (request_limits(run.spec).any())
    out += ", goodput " + significant(r.goodput) + " requests/s within the limits";
  out += "\ncache " + format_percent(r.mean_cache) + " in use on average, " + format_percent(r.peak_cache) +
         " at most; " + format_percent(r.prefix_hits) + " of the prompt tokens found in it; " +
         grouped(r.preemptions) + " preemptions\n";
  out += pools_text(run);
  if (r.acceptance_length > 0) {
    out += significant(r.acceptance_length) + " tokens per step and sequence; accepted per position:";
    for (const double share : r.acceptance_per_position) out += " " + format_percent(share);
    out += "\n";
  }
  out += level_lines(r, promised_level(run.spec));
  if (r.loaded_tokens > 0)
    out += format_percent(r.host_hits) + " of the prompt tokens from host memory, " +
           format_percent(r.disk_hits) + " from disk: " + format_bytes(loaded_bytes(run)) + " loaded, " +
           format_seconds(r.load_seconds) + " per request on average\n";
  if (run.cost.dollars) out += "$" + significant(*run.cost.dollars) + " per million output tokens\n";
  if (run.cost.kwh) out += significant(*run.cost.kwh) + " kWh per million output tokens\n";
  return out;
}

std::string service_json(const ServiceRun& run) {
  const ServiceResults& r = run.results;
  Json refused = Json::object();
  for (const auto& [reason, number] : refusals(run)) refused[end_text(reason)] = number;
  const Json out{{"settings", settings_json(run.spec)},
                 {"accelerators", run.accelerators},
                 {"finished", r.finished},
                 {"refused", refused},
                 {"seconds", r.seconds},
                 {"steps", run.simulation.step_count},
                 {"latencies", latencies_json(r)},
                 {"bands", Json::parse(service_bands_json(run.design))},
                 {"service_level", level_json(r, promised_level(run.spec))},
                 {"throughput", throughput_json(r)},
                 {"cache",
                  {{"bytes", run.cache.cache},
                   {"blocks", allocated_blocks(run.spec.engine)},
                   {"tokens", run.cache.tokens},
                   {"mean_share", r.mean_cache},
                   {"peak_share", r.peak_cache},
                   {"prefix_hits", r.prefix_hits},
                   {"host_hits", r.host_hits},
                   {"disk_hits", r.disk_hits},
                   {"loaded_bytes", static_cast<int64_t>(loaded_bytes(run))},
                   {"load_seconds", r.load_seconds},
                   {"preemptions", r.preemptions}}},
                 {"speculation", speculation_json(r)},
                 {"pools", pools_json(run)},
                 {"transfers", transfers_json(r)},
                 {"restarts", r.restarts},
                 {"per_million_output_tokens", running_cost_json(run.cost)}};
  return json_document(out);
}

std::string requests_csv(const ServiceRun& run) {
  std::string out =
      "arrival_s,input_tokens,output_tokens,scheduled_s,first_token_s,last_token_s,cached_tokens,host_tokens,"
      "disk_tokens,load_s,chunks,preemptions,waited_for,replica,prefill_replica,prefilled_s,transfer_begin_s,"
      "transfer_end_s,restarts,end\n";
  const RequestWaits waits = request_waits(run);
  for (size_t i = 0; i < run.simulation.requests.size(); ++i) {
    const RequestRecord& record = run.simulation.requests[i];
    const Request& request = run.workload.requests[i];
    out += exact(record.arrival) + "," + std::to_string(request.prompt) + "," +
           std::to_string(request.output) + ",";
    if (record.end == RequestEnd::Finished)
      out += exact(record.scheduled) + "," + exact(record.first_token) + "," + exact(record.last_token) +
             "," + std::to_string(record.cached) + "," + std::to_string(record.from_host) + "," +
             std::to_string(record.from_disk) + "," + exact(record.load_seconds) + "," +
             std::to_string(record.chunks) + "," + std::to_string(record.preemptions) + "," +
             wait_text(waits.reason_of(record)) + "," + std::to_string(record.replica) + ",";
    else
      out += ",,,,,,,,,,,";
    if (record.end == RequestEnd::Finished && record.prefill_replica >= 0)
      out += std::to_string(record.prefill_replica) + "," + exact(record.prefilled) + "," +
             exact(record.transfer_begin) + "," + exact(record.transfer_end) + ",";
    else
      out += ",,,,";
    out += std::to_string(record.restarts) + ",";
    out += std::string(end_text(record.end)) + "\n";
  }
  return out;
}

std::string service_timeline(const ServiceRun& run) {
  const auto microseconds = [](double seconds) { return std::round(seconds * 1e9) / 1e3; };
  Json events = Json::array();
  for (int64_t replica = 0; replica < run.spec.replicas; ++replica) {
    events.push_back(
        {{"ph", "M"},
         {"name", "process_name"},
         {"pid", replica},
         {"args", {{"name", role(pool_with(run, replica).engine) + "engine " + std::to_string(replica)}}}});
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", replica}, {"tid", 0}, {"args", {{"name", "steps"}}}});
  }
  for (const StepRecord& step : run.simulation.steps) {
    events.push_back({{"ph", "X"},
                      {"name", step.prefill_tokens > 0 ? "prompts" : "decode"},
                      {"pid", step.replica},
                      {"tid", 0},
                      {"ts", microseconds(step.begin)},
                      {"dur", microseconds(step.seconds)},
                      {"args",
                       {{"prefill_tokens", step.prefill_tokens},
                        {"decode_sequences", step.decode_sequences},
                        {"draft_tokens", step.draft_tokens}}}});
    events.push_back({{"ph", "C"},
                      {"name", "blocks in use"},
                      {"pid", step.replica},
                      {"ts", microseconds(step.begin)},
                      {"args", {{"blocks", step.blocks}}}});
  }
  const RequestSpans spans(run.simulation);
  for (size_t i = 0; i < run.simulation.requests.size(); ++i) {
    const RequestRecord& record = run.simulation.requests[i];
    if (record.end != RequestEnd::Finished) continue;
    const bool sent = record.prefill_replica >= 0;
    const int32_t prompt = sent ? record.prefill_replica : record.replica;
    const double prefilled = sent ? record.prefilled : record.first_token;
    struct Part {
      const char* name;
      double begin, end;
      int32_t replica;
    };
    std::vector<Part> parts{
        {"request", record.arrival, record.last_token, record.replica},
        {"queued", record.arrival, record.scheduled, prompt},
        {"prompt", record.scheduled, prefilled, prompt},
        {"answer", sent ? record.transfer_end : prefilled, record.last_token, record.replica}};
    if (sent) {
      parts.push_back({"transfer wait", prefilled, record.transfer_begin, prompt});
      parts.push_back({"transfer", record.transfer_begin, record.transfer_end, prompt});
    }
    for (const RequestSpan& span : spans.of(i))
      if (span.kind != RequestSpanKind::Queued && span.kind != RequestSpanKind::Prompt &&
          span.kind != RequestSpanKind::Answer)
        parts.push_back({request_span_text(span.kind), span.begin, span.end,
                         span.end <= prefilled ? prompt : record.replica});
    for (const Part& part : parts)
      for (const bool begin : {true, false})
        events.push_back({{"ph", begin ? "b" : "e"},
                          {"cat", "request"},
                          {"name", part.name},
                          {"id", i},
                          {"pid", part.replica},
                          {"ts", microseconds(begin ? part.begin : part.end)}});
  }
  for (const PoolUse& use : run.simulation.pools)
    for (const ReplicaCount& count : use.counts)
      if (varies(use))
        events.push_back({{"ph", "C"},
                          {"name", "replicas in use"},
                          {"pid", use.first_replica},
                          {"ts", microseconds(count.time)},
                          {"args", {{"replicas", count.replicas}}}});
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump() + "\n";
}

std::string rates_text(const RateSweep& sweep) {
  const bool limited = promised_level(sweep.spec).any();
  std::string out = pad("requests/s", 12);
  for (const char* name : {"answered/s", "TTFT p50", "p90", "p99", "TPOT p50", "p90", "p99"})
    out += pad(name, 12);
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    const ServiceResults& r = sweep.points[i].results;
    out += "\n" + pad(significant(sweep.points[i].rate), 12) + pad(significant(r.requests_per_second), 12);
    for (const Distribution& of : {r.ttft, r.tpot})
      for (const double value : {of.p50, of.p90, of.p99}) out += pad(format_seconds(value), 12);
    if (!limited) continue;
    out += sweep.knee == i                 ? "  largest rate within the limits"
           : !sweep.points[i].keeps_limits ? "  over the limits"
                                           : "";
  }
  if (limited && !sweep.knee) out += "\nno rate keeps the limits";
  return out + "\n" + service_bands_text(sweep.design);
}

std::string rates_json(const RateSweep& sweep) {
  const bool limited = promised_level(sweep.spec).any();
  Json rates = Json::array();
  for (const RatePoint& point : sweep.points) {
    const ServiceResults& r = point.results;
    rates.push_back({{"rate", point.rate},
                     {"finished", r.finished},
                     {"latencies", latencies_json(r)},
                     {"throughput", throughput_json(r)},
                     {"peak_cache_share", r.peak_cache},
                     {"preemptions", r.preemptions},
                     {"speculation", speculation_json(r)},
                     {"per_million_output_tokens", running_cost_json(point.cost)},
                     {"keeps_limits", limited ? Json(point.keeps_limits) : Json(nullptr)}});
  }
  Json settings = settings_json(sweep.spec);
  settings.erase("rate");
  return json_document(Json{{"settings", settings},
                            {"bands", Json::parse(service_bands_json(sweep.design))},
                            {"rates", rates},
                            {"knee", sweep.knee ? Json(sweep.points[*sweep.knee].rate) : Json(nullptr)}});
}

std::string rates_csv(const RateSweep& sweep) {
  const bool limited = promised_level(sweep.spec).any();
  std::string out = "rate,requests_per_second,output_tokens_per_second,goodput_requests_per_second";
  for (const auto& [key, name, of] : distributions({}))
    for (const char* figure : {"mean", "p50", "p90", "p95", "p99"})
      out += std::string(",") + key + "_" + figure + "_seconds";
  out += ",peak_cache_share,preemptions,keeps_limits\n";
  for (const RatePoint& point : sweep.points) {
    const ServiceResults& r = point.results;
    out += exact(point.rate) + "," + exact(r.requests_per_second) + "," + exact(r.output_per_second) + "," +
           exact(r.goodput);
    for (const auto& [key, name, of] : distributions(r))
      for (const double value : {of.mean, of.p50, of.p90, of.p95, of.p99}) out += "," + exact(value);
    out += "," + exact(r.peak_cache) + "," + std::to_string(r.preemptions) + ",";
    if (limited) out += point.keeps_limits ? "true" : "false";
    out += "\n";
  }
  return out;
}

}  // namespace shardscape
