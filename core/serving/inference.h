// What serving gives: time to first token, time per output token, throughput, the cache of keys and values,
// and how many sequences fit.
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
#include "timing/served_seconds.h"
#include "timing/simulation.h"

namespace shardscape {

struct InferenceFigures {
  // Prefill: seconds to the first token of the last of its prompts, which all came at once. Decode: seconds
  // from one token of a sequence to the next in a running pipeline, which takes a microbatch's next token up
  // as soon as the one before is sampled and the stages are free: the longer of what the busiest stage
  // computes in a step, and of the way of a microbatch through all stages.
  double seconds = 0;
  double first_seconds = 0;  // prefill: to the first token of the prompts that are read first, a microbatch
                             // of every replica; decode: 0
  double tokens_per_second = 0;  // all ranks; prefill: of prompts, decode: made
  double tokens_per_gpu = 0;     // the same per rank
  int64_t kv_cache_bytes = 0;    // of one rank, of the stage that has most
};
// Of a valid report in prefill or decode.
InferenceFigures inference_figures(const Report& report, const Simulation& simulation);

// The design as it reads prompts of so many tokens, together where they are short; or as it makes the last
// token of so many of each sequence: in as few microbatches as fill the pipeline. These are equally large, so
// that the batch of decode may come out larger than what was asked for, by places that stay empty.
Design serving_design(const Design& design, Mode mode, int64_t batch, int64_t context);

struct ServedPhase {
  std::shared_ptr<const Report> report;  // an estimate; with errors nothing below is set
  std::shared_ptr<const Simulation> simulation;
  InferenceFigures figures;
  bool valid() const { return simulation != nullptr; }
};
// Nothing in it when stopped.
// Here and below, cache: shared with whatever else the caller computes; null: a cache of its own.
ServedPhase serve(const Design& design, std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {});

// The most sequences of so many tokens that decode can hold at once, the same number on all replicas and in
// as many microbatches as stages; by bisection, as memory only grows. 0: none, or the design is not valid.
int64_t largest_batch(const Design& design, int64_t context, std::stop_token stop = {},
                      std::shared_ptr<PlanCache> cache = {});

// What is swept over where nobody says: contexts from 1,024 to 65,536 tokens and the design's own, as far as
// a table of positions reaches; batches from the smallest that the layout takes, in a dozen steps at most, to
// past what fits at the shortest of them, and the design's own.
std::vector<int64_t> usual_contexts(const Design& design);
std::vector<int64_t> usual_batches(const Design& design, const std::vector<int64_t>& contexts,
                                   std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {});

// A phase of a point of a sweep: what serve() gives, in numbers. Of many microbatches of prompts a part is
// played, as they follow each other evenly.
struct SweptPhase {
  std::optional<Problem> problem;  // why it cannot be; then nothing below is set
  InferenceFigures figures;
  int64_t microbatch = 0;
  int64_t memory = 0;           // bytes in use on the rank that has most
  int64_t cache_per_token = 0;  // bytes of one token on all ranks of a replica
  bool fits = false;
  bool valid() const { return !problem; }
};
SweptPhase swept_phase(const Design& design, std::stop_token stop = {},
                       std::shared_ptr<PlanCache> cache = {});

struct ServedPoint {
  int64_t batch = 0, context = 0;
  SweptPhase prefill, decode;
  bool asked = true;     // false: it is there because it is the largest
  bool largest = false;  // the largest batch of that context that decode can hold
};
std::optional<Problem> point_problem(
    const ServedPoint& point);  // that of either phase; nothing where both are valid

// Of one design, whatever its mode.
struct ServingSweep {
  Design design;
  std::vector<ServedPoint>
      points;  // context by context, in each by batch; the largest batches are among them
  std::vector<std::pair<int64_t, int64_t>> largest;  // context, batch; 0: none fits
};
// As far as it came when it is stopped. progress: contexts and batches that are done, of how many.
using SweepProgress = std::function<void(size_t done, size_t of)>;
ServingSweep sweep(const Design& design, const std::vector<int64_t>& batches,
                   const std::vector<int64_t>& contexts, std::stop_token stop = {},
                   const SweepProgress& progress = {}, std::shared_ptr<PlanCache> cache = {});

}  // namespace shardscape
