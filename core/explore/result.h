// Result of a search: counts, the best designs, the Pareto front, the best design per value, a sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "explore/objective.h"
#include "explore/space.h"

namespace shardscape {

// A timed design, stored as its index in the space; Space::design_at(index) restores the design.
struct Point {
  Wide index = 0;
  Evaluation evaluation;
  ObjectiveValues values{};
};

// Together with the space, these options determine the result.
struct ResultOptions {
  int objective = 1;             // ranks best and groups; index in objectives(): tokens/s per GPU
  int front_x = 1, front_y = 3;  // axes of the Pareto front; the second is free memory
  size_t top = 10;               // size of best
  size_t sample = 0;             // size of sample
  double price_per_hour = 0;     // of a GPU in dollars; 0: the catalogue's price
  friend bool operator==(const ResultOptions&, const ResultOptions&) = default;
};

// Every visited design counts in exactly one of excluded, invalid, repeated, too_large, unknown and timed.
struct SearchCounts {
  int64_t enumerated = 0;
  int64_t repeated = 0;   // valid, but differs from an earlier design only in knobs without effect
  int64_t too_large = 0;  // does not fit and is not timed
  int64_t timed = 0;
  std::map<std::string, int64_t> excluded;  // by the first constraint that the design breaks
  std::map<std::string, int64_t> invalid;   // by the knob of the first problem
  std::map<std::string, int64_t> unknown;   // fits, but its objective is unknown; by the missing value
  int64_t all_excluded() const;
  int64_t all_invalid() const;
  int64_t all_unknown() const;
  int64_t valid() const { return repeated + too_large + all_unknown() + timed; }
  void add(const SearchCounts& other);
  friend bool operator==(const SearchCounts&, const SearchCounts&) = default;
};

// Progress of shard `shard` of `shards`. The shards divide the chunks of a space in the order of visits.
struct SearchPart {
  int64_t shard = 0, shards = 1;
  Wide done = 0, chunks = 0;
  bool complete() const { return done == chunks; }
  friend bool operator==(const SearchPart&, const SearchPart&) = default;
};

struct Guided {
  uint64_t seed = 0;
  int64_t budget = 0;  // maximum number of timed designs
  friend bool operator==(const Guided&, const Guided&) = default;
};

struct SearchResult {
  std::shared_ptr<const Space> space;
  ResultOptions options;
  std::vector<SearchPart> parts;  // of an exhaustive search, in order of shards
  std::optional<Guided> guided;   // of a guided search, which has no parts
  SearchCounts counts;
  std::vector<Point> best;   // best first; equally good designs in order of index
  std::vector<Point> front;  // Pareto-optimal, by the first objective, best first
  // Per axis and value: the best design with that value.
  std::vector<std::vector<std::optional<Point>>> groups;
  // A uniform sample of the timed designs: those whose index has the smallest hash. In order of index.
  std::vector<Point> sample;
  bool complete() const;  // every design was visited
};

// Whether the first point is better by an objective. Of equal points, that with the smaller index is better.
struct BetterPoint {
  int objective = 0;
  bool operator()(const Point& a, const Point& b) const;
};

// Collects points into a result. The result does not depend on the order of the points.
class ResultCollector {
 public:
  ResultCollector(std::shared_ptr<const Space> space, const ResultOptions& options);
  void add(const Point& point, const std::vector<int>& values);  // values: one index per axis
  void add(const SearchResult& part);  // requires the space and options of this collector
  SearchCounts& counts() { return counts_; }
  SearchResult result() const;  // without parts
  const Point* best() const { return best_.empty() ? nullptr : &*best_.begin(); }

 private:
  void to_best(const Point& point);
  void to_front(const Point& point);
  void to_sample(const Point& point);
  void to_group(size_t axis, int value, const Point& point);
  std::shared_ptr<const Space> space_;
  ResultOptions options_;
  SearchCounts counts_;
  std::set<Point, BetterPoint> best_;
  std::vector<Point> front_;                        // sorted
  std::vector<std::pair<uint64_t, Point>> sample_;  // heap, largest hash first
  std::vector<std::vector<std::optional<Point>>> groups_;
};

// Speed of one run of a search; not part of the result.
struct RunFigures {
  double seconds = 0;
  int threads = 0;
};

// Indented JSON that ends with a newline: enumerated, valid, timed, infeasible, best, front, groups, sample,
// space, parts. Points of best and front
// have the 80 % bands of step_seconds and memory, and whether they are a tie with the best. With figures also
// seconds, threads and rates. Equal results give equal bytes.
std::string result_json(const SearchResult& result, const RunFigures* figures = nullptr);
Result<SearchResult> result_from_json(const std::string& text, const std::string& where);
Result<SearchResult> load_result(const std::filesystem::path& path);
// Every stored design once, best first: the lists that contain it, its values on the axes, figures and
// objectives.
std::string result_csv(const SearchResult& result);
// Merges shards of one search, in any order, into the result of one run. A Problem if the shards overlap or
// belong to different searches.
Result<SearchResult> merge_results(const std::vector<SearchResult>& parts);

// "memory: 812, batch: 77, ...": reasons why designs are infeasible, the most frequent first. A constraint
// appears as its text.
std::vector<std::pair<std::string, int64_t>> infeasible(const SearchCounts& counts);

}  // namespace shardscape
