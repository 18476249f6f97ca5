// Measured serving points: requests to the engines of a design, and the latencies and rates that a client
// saw.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "serving/requests/request.h"
#include "serving/service/service_spec.h"

namespace shardscape {

// Latencies in seconds (serving/requests/service_results.h has the definitions). Throughput: output tokens
// per second of all engines. Capacity: tokens of an engine's KV cache. TokensPerStep: tokens that a step with
// speculative decoding yields for a sequence. Preemptions: their number over the whole run; it may be 0.
enum class ServedQuantity : uint8_t {
  Ttft,
  Tpot,
  Itl,
  E2e,
  Throughput,
  Capacity,
  TokensPerStep,
  Preemptions
};
inline constexpr int kServedQuantityCount = static_cast<int>(ServedQuantity::Preemptions) + 1;
const char* served_quantity_name(ServedQuantity quantity);  // "ttft"

enum class ServedStatistic : uint8_t { Mean, P50, P99 };

struct ServedFigure {
  // "ttft": the mean, or the median where the set has no mean. "ttft_p50": the median where the set has both.
  // "ttft_p99".
  std::string metric;
  ServedQuantity quantity = ServedQuantity::Ttft;
  ServedStatistic statistic = ServedStatistic::Mean;  // of `value`
  double value = 0;
};

// Rows whose errors are averaged.
struct ServedCell {
  std::string gpu, model, engine, precision;
  friend auto operator<=>(const ServedCell&, const ServedCell&) = default;
};

struct MeasuredServing {
  ServiceSpec spec;
  std::optional<Design> prefill;  // of the replicas that compute prompts, if the spec has such replicas
  std::function<Result<Workload>()> requests;  // makes them; empty: drawn from spec.source
  // The client of InferenceX, to whose rows EngineProfile::request_seconds and prompt_seconds are fitted.
  bool inferencex_client = false;
  std::vector<ServedFigure> figures;
  // Whether the measured service kept spec.level; empty: the set names no level.
  std::optional<bool> kept_level;
  ServedCell cell;
  std::string engine_version;
  // Rows with equal series have the same model, GPU and lengths. They differ in layout, engine, precision and
  // load.
  std::string series;
  std::string load;  // "c64"
  // What the server was started with, if the set varies one setting at a time (server_command.h).
  std::map<std::string, std::string> settings;
};

}  // namespace shardscape
