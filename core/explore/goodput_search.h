// Explore by goodput: the designs of a space by the rate of requests per GPU that keeps a service level.
#pragma once

#include <string>
#include <vector>

#include "explore/search.h"
#include "serving/service/engine_figures.h"
#include "serving/service/largest_rate.h"

namespace shardscape {

struct GoodputOptions {
  ServiceSpec spec;         // requests, engine and level
  size_t considered = 256;  // engines whose figures are computed
  size_t evaluated = 32;    // engines that are simulated
  friend bool operator==(const GoodputOptions&, const GoodputOptions&) = default;
};

struct GoodputEntry {
  Point point;  // of the search
  Design design;
  double estimated = 0;  // requests per second and GPU, of EngineFigures
  bool simulated = false;
  LargestRate found;   // of a simulated design
  std::string reason;  // why there is no rate
  // Requests per second and GPU; 0: no rate.
  double per_gpu() const {
    return found.accelerators > 0 ? found.rate / static_cast<double>(found.accelerators) : 0;
  }
};

struct GoodputResult {
  SearchResult search;                // of the first stage
  std::vector<GoodputEntry> entries;  // simulated ones first, the best first
  size_t engines = 0;                 // different engines among the timed designs
  // The best design of each of them, the best first. Read from a file, they have the index and the objective
  // of the search only; so have the points of the entries.
  std::vector<Point> engine_points;
};

// 1. The search of the space, by tokens/s per GPU. Designs that differ only in batch, microbatch and lengths
//    are the same engine, because the scheduler chooses the batch of a step. The best design stands for it.
// 2. The estimate of requests per second (EngineFigures) of the `considered` best engines. It respects the
//    limits of TTFT and TPOT.
// 3. largest_rate() of the `evaluated` engines with the best estimates, in parallel.
// The result does not depend on threads. A stopped search has the entries that are done. A Problem if the
// space trains, if nothing is promised, or if the requests have no rate. resume: the result so far of the
// same search and options; its `search` is SearchOptions::resume. checkpoint: receives the result so far as
// SearchCallbacks::checkpoint does, and the result of step 1.
Result<GoodputResult> search_goodput(const std::shared_ptr<const Space>& space, const SearchOptions& options,
                                     const GoodputOptions& goodput, const SearchCallbacks& callbacks = {},
                                     std::stop_token stop = {}, const GoodputResult* resume = nullptr,
                                     const std::function<void(const GoodputResult&)>& checkpoint = {});
// Merges shards, in any order, into the result of one run: steps 2 and 3 for the engines of all shards. What
// a shard has estimated or simulated is not repeated. A Problem as merge_results().
Result<GoodputResult> merge_goodput(const std::vector<GoodputResult>& parts, const GoodputOptions& goodput,
                                    std::stop_token stop = {});

// {"search": result_json without figures of the run, "service_level", "engines", "goodput": [...]}.
std::string goodput_json(const GoodputResult& result, const GoodputOptions& options);

}  // namespace shardscape
