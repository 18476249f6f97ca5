// Figures of inference: time to first token, time per output token, throughput, KV cache, largest batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "memory/estimate.h"
#include "serving/service_limits.h"
#include "timing/served_seconds.h"
#include "timing/simulation.h"

namespace shardscape {

struct InferenceFigures {
  // Prefill: seconds to the first token of the last prompt; all prompts arrive at once. Decode: seconds
  // between two tokens of a sequence in a running pipeline. The next token of a microbatch starts as soon as
  // the previous token is sampled and the stages are free. The time per token is the larger of two times: the
  // compute time of the busiest stage in a step, and the time of a microbatch through all stages.
  double seconds = 0;
  // Prefill: seconds to the first token of the first prompts (one microbatch of every replica).
  // Decode: 0.
  double first_seconds = 0;
  double tokens_per_second = 0;  // of all ranks; prefill counts prompt tokens, decode generated tokens
  double tokens_per_gpu = 0;     // tokens_per_second / ranks
  int64_t kv_cache_bytes = 0;    // of one rank on the stage with the largest cache
};
// The report is valid, its mode prefill or decode.
InferenceFigures inference_figures(const Report& report, const Simulation& simulation);

// The design with the batch and the context (tokens) of a serving point. Prefill reads several short prompts
// in one microbatch. Decode generates the last token of the context, in as few microbatches as fill the
// pipeline. All microbatches have the same size, so the batch of decode can be larger than requested; the
// added places stay empty.
Design serving_design(const Design& design, Mode mode, int64_t batch, int64_t context);

struct ServedPhase {
  std::shared_ptr<const Report> report;  // an estimate; if it has errors, the other members are unset
  std::shared_ptr<const Simulation> simulation;
  InferenceFigures figures;
  bool valid() const { return simulation != nullptr; }
};
// Empty if stopped.
// cache, here and below: shared with other computations of the caller; null: the function makes a cache.
ServedPhase serve(const Design& design, std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {});

// The most sequences of `context` tokens that decode can hold at once: the same number on all replicas, in as
// many microbatches as stages. Found by bisection, because memory only grows with the batch. 0: none fits, or
// the design is invalid.
int64_t largest_batch(const Design& design, int64_t context, std::stop_token stop = {},
                      std::shared_ptr<PlanCache> cache = {});

// The smallest batch that the layout accepts: dp, times the sequences that a microbatch of decode splits over
// ranks. Batches are multiples of it.
int64_t least_batch(const Design& design);

// Default values of a sweep. Contexts: 1,024 to 65,536 tokens and the design's own, up to the length of a
// table of positions. Batches: from the smallest that the layout accepts to past the largest that fits at the
// shortest context, in at most a dozen steps, plus the design's own batch.
std::vector<int64_t> usual_contexts(const Design& design);
std::vector<int64_t> usual_batches(const Design& design, const std::vector<int64_t>& contexts,
                                   std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {});

// One phase at a point of a sweep: the numbers of serve(). Prefill with many microbatches simulates some of
// them and extrapolates, because they follow each other at equal distances.
struct SweptPhase {
  std::optional<Problem> problem;  // why the point is impossible; if set, the other members are unset
  InferenceFigures figures;
  int64_t microbatch = 0;
  int64_t memory = 0;           // bytes in use on the fullest rank
  int64_t cache_per_token = 0;  // bytes of one token on all ranks of a replica
  bool fits = false;
  bool valid() const { return !problem; }
};
SweptPhase swept_phase(const Design& design, std::stop_token stop = {},
                       std::shared_ptr<PlanCache> cache = {});

struct ServedPoint {
  int64_t batch = 0, context = 0;
  SweptPhase prefill, decode;
  bool requested = true;  // false: added by the sweep, as the largest batch or the largest within limits
  bool largest = false;   // the largest batch of this context that decode can hold
  bool within = false;    // the largest batch of this context that keeps the limits of the sweep
};
// Both phases of the design at a batch and a context. Empty places of decode generate no tokens.
ServedPoint served_point(const Design& design, int64_t batch, int64_t context, std::stop_token stop = {},
                         std::shared_ptr<PlanCache> cache = {});
// The problem of prefill, else of decode; empty if both are valid.
std::optional<Problem> point_problem(const ServedPoint& point);

// A sweep over batches and contexts; the mode of the design has no effect.
struct ServingSweep {
  Design design;
  std::vector<ServedPoint> points;                   // by context, then batch; contains the largest batches
  std::vector<std::pair<int64_t, int64_t>> largest;  // context and its largest batch; 0: none fits
  // With limits (find_within_limits, within_limits.h): context and the largest batch that keeps them; 0:
  // none.
  ServiceLimits limits = {};
  std::vector<std::pair<int64_t, int64_t>> within = {};
};
// A stopped sweep returns the points computed so far. Progress counts contexts and batches.
using SweepProgress = std::function<void(size_t done, size_t of)>;
ServingSweep sweep(const Design& design, const std::vector<int64_t>& batches,
                   const std::vector<int64_t>& contexts, std::stop_token stop = {},
                   const SweepProgress& progress = {}, std::shared_ptr<PlanCache> cache = {});

}  // namespace shardscape
