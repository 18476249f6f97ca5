// What one engine can do, from a few of its steps. Searches use it to choose what they simulate.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "serving/service/service.h"

namespace shardscape {

struct WorkloadMeans {
  double prompt = 1, output = 1;  // tokens of a request
  double rate = 0;                // arrivals per second; 0: all at once, or a closed loop
};
WorkloadMeans workload_means(const Workload& workload);

// Of all replicas that step together: one, or those that share experts.
struct EngineFigures {
  int64_t accelerators = 0, replicas = 1;
  int64_t cache_tokens = 0;   // of the KV cache
  int64_t sequences = 0;      // that run at once: the setting of the engine, or what the cache holds
  double lone_ttft = 0;       // seconds of a mean prompt on an idle engine
  double prompt_seconds = 0;  // per request while steps are full of prompts, of the slowest stage
  // Of steps that only decode, with 8, 64 and 512 sequences at the mean context: the seconds of a step, and
  // those of its slowest stage. A pipeline starts steps at intervals of the latter.
  std::vector<double> decode_seconds;
  // Estimate of the most requests per second. With b running sequences, P seconds for a prompt and D(b) for a
  // decode step, a token takes D(b) + b·P/output, because b/output prompts start between two steps. The rate
  // is b/output over this time, for the best power of two b whose time per token is within every limit of
  // TPOT. 0: even one sequence exceeds a limit of TPOT, or a lone prompt a limit of TTFT.
  double requests_per_second = 0;
  // The same of an engine that only computes prompts (1/P, or 0), and of one that only generates answers
  // (P = 0).
  double prompts_per_second = 0, answers_per_second = 0;
};

// design: of one engine. clock: of this design and these settings. A Problem if no cache is left.
Result<EngineFigures> engine_figures(const Design& design, const ServiceSpec& spec,
                                     const WorkloadMeans& means, StepClock& clock,
                                     std::shared_ptr<PlanCache> cache = {});

// Whether engine a is at least as good as b in every figure, on as many accelerators.
bool dominates(const EngineFigures& a, const EngineFigures& b);

}  // namespace shardscape
