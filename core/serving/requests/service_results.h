// Latencies, throughput and goodput of a simulated service.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serving/requests/request_simulation.h"

namespace shardscape {

// Percentiles interpolate linearly between the sorted values, as numpy.percentile does.
struct Distribution {
  int64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};
Distribution distribution(std::vector<double> values);
Distribution distribution(std::vector<TokenGap> gaps);  // every gap counts once per chunk

// Seconds that a request may take.
struct RequestLimits {
  std::optional<double> ttft, tpot, e2e;
  bool any() const { return ttft || tpot || e2e; }
  friend bool operator==(const RequestLimits&, const RequestLimits&) = default;
};

// Definitions of `vllm bench serve` (vllm/benchmarks/serve.py), over the finished requests:
//   TTFT      first token - arrival
//   E2E       last token - arrival
//   TPOT      (E2E - TTFT) / (output - 1), of requests with at least two output tokens
//   ITL       gap between two consecutive tokens of a request; every gap counts. With speculative decoding
//   the
//             tokens of a step arrive in one chunk, and the gaps between chunks count.
//   queueing  first scheduled chunk - arrival
// With prefill and decode replicas, of the requests whose prompt was transferred:
//   transfer       end - begin of the transfer of the KV cache
//   transfer wait  begin of the transfer - end of the prefill
// and TTFT is that of request_simulation.h, Disaggregation.
// Rates are per second between the first arrival and the last token.
struct ServiceResults {
  int64_t finished = 0, refused = 0;
  double seconds = 0;
  Distribution ttft, tpot, itl, e2e, queueing, transfer, transfer_wait;
  int64_t waited_for_receiver = 0;  // transfers that waited for blocks of a decode replica
  int64_t restarts = 0;             // requests that a failed replica had, once for each failure
  double requests_per_second = 0, input_per_second = 0, output_per_second = 0;
  double goodput = 0;  // requests per second that keep all limits; one output token keeps every TPOT
  int64_t preemptions = 0;
  // Speculative decoding, as vLLM reports it (v1/spec_decode/metrics.py): 1 + accepted tokens of a draft; 0
  // without drafts. Share of the drafts that were accepted up to each position.
  double acceptance_length = 0;
  std::vector<double> acceptance_per_position;
  double prefix_hits = 0;               // share of the prompt tokens found in the cache, on all tiers
  double host_hits = 0, disk_hits = 0;  // of the prompt tokens: shares that lower tiers had
  int64_t loaded_tokens = 0;            // from lower tiers
  double load_seconds = 0;  // mean of the requests that load, until their tokens are on the device
  double mean_cache = 0, peak_cache = 0;  // shares of the blocks in use; 0 for an endless cache
};
ServiceResults service_results(const Workload& workload, const RequestSimulation& simulation,
                               const RequestLimits& limits = {});

}  // namespace shardscape
