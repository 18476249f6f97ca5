// Exhaustive or guided search through a space of designs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>

#include "explore/result.h"

namespace shardscape {

struct SearchOptions {
  ResultOptions result;
  int64_t shard = 0, shards = 1;         // visits one of `shards` parts; 0 <= shard < shards
  int threads = 0;                       // 0: all hardware threads
  std::optional<Guided> guided;          // set: a seeded local search instead of all designs
  const SearchResult* resume = nullptr;  // continues this result of the same shard
};

struct SearchProgress {
  const SearchCounts& counts;
  Wide done = 0, total = 0;  // designs of this shard, or the budget of a guided search
  double seconds = 0;        // since this run began
  double enumerated_per_second = 0, timed_per_second = 0;
  double seconds_left = 0;           // extrapolated; 0: unknown
  const ResultCollector& collector;  // result() returns the result so far
};

// Called from threads of the search, one call at a time.
struct SearchCallbacks {
  std::function<void(const SearchProgress&)> progress;  // about ten times a second
  std::function<void(std::span<const Point>)> points;   // newly timed designs, in the order of visits
  // The result so far, which SearchOptions::resume continues, every checkpoint_seconds. Not called by a
  // guided search, which cannot be resumed.
  std::function<void(const SearchResult&)> checkpoint{};
  double checkpoint_seconds = 60;
};

// Runs the search.
// The result does not depend on the number of threads. The results of all shards merge to the result of one
// run. Spaces of up to 2^21 designs are visited in order of the index, so that neighbours share work. Larger
// spaces are visited in scattered blocks, so that a stopped search has seen designs of all regions. Memory
// does not grow with the size of the space. A stopped search returns its result so far within 100 ms. A
// Problem: an invalid shard, or an objective that is unknown for this space.
Result<SearchResult> search(std::shared_ptr<const Space> space, const SearchOptions& options,
                            const SearchCallbacks& callbacks = {}, std::stop_token stop = {});

// Parses "i/n" into i and n. i counts from 0 or from 1: n/n means 0/n.
Result<std::pair<int64_t, int64_t>> parse_shard(const std::string& text);

// Number of valid designs of a space. Designs that a constraint excludes are not valid.
struct ValidCount {
  Wide size = 0;
  double valid = 0;
  bool exact = false;              // false: estimated from a sample
  std::string text() const;        // "1,031,448, of which 82,508 valid"; "..., of which about 82,000 valid"
  std::string valid_text() const;  // "of which 82,508 valid"
};
// First an estimate, then an exact parallel count; `progress` receives both. Spaces with more than at_most
// designs are only estimated. Empty if stopped.
std::optional<ValidCount> count_valid(const Space& space,
                                      const std::function<void(const ValidCount&)>& progress = {},
                                      std::stop_token stop = {}, Wide at_most = 20'000'000);

}  // namespace shardscape
