// Goes through a space of designs and keeps what matters.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>

#include "explore/result.h"

namespace shardscape {

struct SearchOptions {
  ResultOptions keep;
  int64_t shard = 0, shards = 1;         // visits only this share of the space; 0 <= shard < shards
  int threads = 0;                       // 0: as many as there are
  std::optional<Guided> guided;          // instead of all designs those that a seeded local search comes by
  const SearchResult* resume = nullptr;  // goes on where this result of the same shard ended
};

struct SearchProgress {
  const SearchCounts& counts;
  Wide done = 0, total = 0;  // designs; of this shard, or of a guided search's budget
  double seconds = 0;        // since this run began
  double enumerated_per_second = 0, timed_per_second = 0;
  double seconds_left = 0;  // at this rate; 0: not known yet
  const Keeper& keeper;     // result() gives what is known so far
};

// Called from threads of the search, never two at once.
struct SearchCallbacks {
  std::function<void(const SearchProgress&)> progress;  // some ten times a second
  std::function<void(std::span<const Point>)>
      points;  // as they are timed, in the order in which the space is visited
};

// The result does not depend on the number of threads, and those of all shards merge to the result of one
// run. Spaces of up to 2^21 designs are visited in order of the index, so that neighbours share what they
// have in common; larger ones in blocks scattered all over, so that a search that is stopped has seen a bit
// of everything. Memory does not grow with the space. When stopped, it returns within 100 ms with what is
// known. A Problem: shards that make no sense, an objective that is not known here.
std::variant<SearchResult, Problem> search(std::shared_ptr<const Space> space, const SearchOptions& options,
                                           const SearchCallbacks& callbacks = {}, std::stop_token stop = {});

// "objective", "i/n": as people write them. i counts from 0 or from 1: n/n is 0/n.
std::variant<std::pair<int64_t, int64_t>, Problem> parse_shard(const std::string& text);

// How many designs of a space are valid: first estimated by a sample, then counted one by one, in parallel.
struct ValidCount {
  Wide size = 0;
  double valid = 0;  // exact once counted
  bool exact = false;
  std::string text() const;  // "1,031,448, of which 82,508 valid"; "..., of which about 82,000 valid"
};
// Calls back with the estimate and on the way. Spaces of more than at_most designs are only estimated. A
// design that a constraint excludes is not valid. Nothing when stopped.
std::optional<ValidCount> count_valid(const Space& space,
                                      const std::function<void(const ValidCount&)>& progress = {},
                                      std::stop_token stop = {}, Wide at_most = 20'000'000);

}  // namespace shardscape
