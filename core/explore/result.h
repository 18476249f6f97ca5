// What a search keeps of a space: counts, and the designs that matter.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "explore/objective.h"
#include "explore/space.h"

namespace shardscape {

// A timed design of a space, without the design: Space::design_at(index) has it.
struct Point {
  Wide index = 0;
  Evaluation evaluation;
  ObjectiveValues values{};
};

// What decides a result, beside the space.
struct ResultOptions {
  int objective = 1;             // of best and groups, a place in objectives(): tokens per second and GPU
  int front_x = 1, front_y = 3;  // of the Pareto front: free memory as the second
  size_t top = 10;               // designs in best
  size_t sample = 0;             // designs in sample
  double price_per_hour = 0;     // of a GPU; 0: as the catalogue has it
  friend bool operator==(const ResultOptions&, const ResultOptions&) = default;
};

// Every design visited is in exactly one of excluded, invalid, repeated, too_large, unknown and timed.
struct SearchCounts {
  int64_t enumerated = 0;
  int64_t repeated = 0;   // valid, but the same as an earlier one: what differs has no effect
  int64_t too_large = 0;  // does not fit, and so was not timed
  int64_t timed = 0;
  std::map<std::string, int64_t> excluded;  // by constraint, the first that is broken
  std::map<std::string, int64_t> invalid;   // by the knob of the first problem
  std::map<std::string, int64_t> unknown;   // fit, but their objective is not known: by what it lacks
  int64_t all_excluded() const;
  int64_t all_invalid() const;
  int64_t all_unknown() const;
  int64_t valid() const { return repeated + too_large + all_unknown() + timed; }
  void add(const SearchCounts& other);
  friend bool operator==(const SearchCounts&, const SearchCounts&) = default;
};

// Shard i of n of the chunks of a space, in the order in which they are visited, and how many of them are
// done.
struct SearchPart {
  int64_t shard = 0, shards = 1;
  Wide done = 0, chunks = 0;
  bool complete() const { return done == chunks; }
  friend bool operator==(const SearchPart&, const SearchPart&) = default;
};

struct Guided {
  uint64_t seed = 0;
  int64_t budget = 0;  // designs to time at most
  friend bool operator==(const Guided&, const Guided&) = default;
};

struct SearchResult {
  std::shared_ptr<const Space> space;
  ResultOptions options;
  std::vector<SearchPart> parts;  // of an exhaustive search; shards in order
  std::optional<Guided> guided;   // a guided search has no parts
  SearchCounts counts;
  std::vector<Point> best;   // the best first; ties by index
  std::vector<Point> front;  // no other is better in both objectives; by the first, the best first
  std::vector<std::vector<std::optional<Point>>>
      groups;                 // per axis and value of it: the best design that has it
  std::vector<Point> sample;  // evenly drawn from all timed ones, by a hash of the index; in order of index
  bool complete() const;      // whether every design was visited
};

// Takes points in any order and keeps the same of them.
class Keeper {
 public:
  Keeper(std::shared_ptr<const Space> space, const ResultOptions& options);
  void add(const Point& point, const std::vector<int>& values);  // values: of the axes
  void add(const SearchResult& part);                            // of the same space and options
  SearchCounts& counts() { return counts_; }
  SearchResult result() const;  // without parts
  const Point* leader() const { return best_.empty() ? nullptr : &best_.front(); }

 private:
  bool better(const Point& a, const Point& b) const;
  void to_best(const Point& point);
  void to_front(const Point& point);
  void to_sample(const Point& point);
  void to_group(size_t axis, int value, const Point& point);
  std::shared_ptr<const Space> space_;
  ResultOptions options_;
  SearchCounts counts_;
  std::vector<Point> best_, front_;                 // in order
  std::vector<std::pair<uint64_t, Point>> sample_;  // a heap, the largest hash first
  std::vector<std::vector<std::optional<Point>>> groups_;
};

// How a search ran; not part of its result.
struct RunFigures {
  double seconds = 0;
  int threads = 0;
};

// Pretty JSON, ends with a newline: enumerated, valid, timed, infeasible, best, front, groups, sample, space,
// parts. With figures also seconds, threads and rates. The same result gives the same bytes.
std::string result_json(const SearchResult& result, const RunFigures* figures = nullptr);
std::variant<SearchResult, Problem> result_from_json(const std::string& text, const std::string& where);
std::variant<SearchResult, Problem> load_result(const std::filesystem::path& path);
// All designs that are kept, each once, the best first: what it is kept as, the axes, figures and objectives.
std::string result_csv(const SearchResult& result);
// Shards of one search, in any order, as one run of all of them gives it. A Problem where they are not of the
// same search or overlap.
std::variant<SearchResult, Problem> merge_results(const std::vector<SearchResult>& parts);

// "memory: 812, batch: 77, ...": why designs are infeasible, the most frequent first. Constraints are named
// by their text.
std::vector<std::pair<std::string, int64_t>> infeasible(const SearchCounts& counts);

}  // namespace shardscape
