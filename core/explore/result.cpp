#include "explore/result.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/units.h"

namespace shardscape {
namespace {

int64_t sum(const std::map<std::string, int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0},
                         [](int64_t s, const auto& c) { return s + c.second; });
}

// SplitMix64 over both halves: neighbouring indices get unrelated hashes.
uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
uint64_t hash_of(Wide index) {
  return mixed(static_cast<uint64_t>(index) ^ mixed(static_cast<uint64_t>(index >> 64)));
}

bool smaller_hash(const std::pair<uint64_t, Point>& a, const std::pair<uint64_t, Point>& b) {
  return a.first != b.first ? a.first < b.first : a.second.index < b.second.index;
}

}  // namespace

int64_t SearchCounts::all_excluded() const { return sum(excluded); }
int64_t SearchCounts::all_invalid() const { return sum(invalid); }
int64_t SearchCounts::all_unknown() const { return sum(unknown); }

void SearchCounts::add(const SearchCounts& other) {
  enumerated += other.enumerated;
  repeated += other.repeated;
  too_large += other.too_large;
  timed += other.timed;
  for (const auto& [why, n] : other.excluded) excluded[why] += n;
  for (const auto& [why, n] : other.invalid) invalid[why] += n;
  for (const auto& [why, n] : other.unknown) unknown[why] += n;
}

bool SearchResult::complete() const {
  if (parts.empty()) return false;
  int64_t shards = 0;
  for (const SearchPart& part : parts) {
    if (!part.complete()) return false;
    ++shards;
  }
  return shards == parts.front().shards;
}

ResultCollector::ResultCollector(std::shared_ptr<const Space> space, const ResultOptions& options)
    : space_(std::move(space)), options_(options), best_(BetterPoint{options.objective}) {
  for (const SpaceAxis& axis : space_->axes()) groups_.emplace_back(axis.values.size());
}

bool BetterPoint::operator()(const Point& a, const Point& b) const {
  const double x = score(objective, a.values[static_cast<size_t>(objective)]),
               y = score(objective, b.values[static_cast<size_t>(objective)]);
  return x != y ? x < y : a.index < b.index;
}

void ResultCollector::to_best(const Point& point) {
  const bool full = best_.size() == options_.top;
  if (options_.top == 0 || (full && !best_.key_comp()(point, *best_.rbegin()))) return;
  if (best_.insert(point).second && full) best_.erase(std::prev(best_.end()));
}

// Along the front, sorted by the first objective, the second objective improves strictly.
void ResultCollector::to_front(const Point& point) {
  const auto x = [this](const Point& p) {
    return score(options_.front_x, p.values[static_cast<size_t>(options_.front_x)]);
  };
  const auto y = [this](const Point& p) {
    return score(options_.front_y, p.values[static_cast<size_t>(options_.front_y)]);
  };
  const double px = x(point), py = y(point);
  if (px == std::numeric_limits<double>::infinity() || py == std::numeric_limits<double>::infinity()) return;
  const auto after = std::upper_bound(front_.begin(), front_.end(), px,
                                      [&](double value, const Point& p) { return value < x(p); });
  auto first = after;
  if (after != front_.begin()) {
    // The best second objective among points that are at least as good in the first.
    Point& before = *(after - 1);
    if (y(before) < py) return;
    if (y(before) == py && (x(before) < px || before.index <= point.index)) return;
    if (x(before) == px) first = after - 1;
  }
  auto last = after;
  while (last != front_.end() && y(*last) >= py) ++last;
  front_.insert(front_.erase(first, last), point);
}

void ResultCollector::to_sample(const Point& point) {
  if (options_.sample == 0) return;
  std::pair<uint64_t, Point> entry{hash_of(point.index), point};
  if (sample_.size() == options_.sample) {
    if (!smaller_hash(entry, sample_.front())) return;
    std::pop_heap(sample_.begin(), sample_.end(), smaller_hash);
    sample_.back() = std::move(entry);
  } else {
    sample_.push_back(std::move(entry));
  }
  std::push_heap(sample_.begin(), sample_.end(), smaller_hash);
}

void ResultCollector::to_group(size_t axis, int value, const Point& point) {
  std::optional<Point>& best = groups_[axis][static_cast<size_t>(value)];
  if (!best || BetterPoint{options_.objective}(point, *best)) best = point;
}

void ResultCollector::add(const Point& point, const std::vector<int>& values) {
  to_best(point);
  to_front(point);
  to_sample(point);
  for (size_t axis = 0; axis < groups_.size(); ++axis) to_group(axis, values[axis], point);
}

void ResultCollector::add(const SearchResult& part) {
  counts_.add(part.counts);
  for (const Point& point : part.best) to_best(point);
  for (const Point& point : part.front) to_front(point);
  for (const Point& point : part.sample) to_sample(point);
  for (size_t axis = 0; axis < part.groups.size(); ++axis)
    for (size_t value = 0; value < part.groups[axis].size(); ++value)
      if (const auto& point = part.groups[axis][value]) to_group(axis, static_cast<int>(value), *point);
}

SearchResult ResultCollector::result() const {
  SearchResult out;
  out.space = space_;
  out.options = options_;
  out.counts = counts_;
  out.best.assign(best_.begin(), best_.end());
  out.front = front_;
  out.groups = groups_;
  for (const auto& [_, point] : sample_) out.sample.push_back(point);
  std::sort(out.sample.begin(), out.sample.end(),
            [](const Point& a, const Point& b) { return a.index < b.index; });
  return out;
}

std::vector<std::pair<std::string, int64_t>> infeasible(const SearchCounts& counts) {
  std::vector<std::pair<std::string, int64_t>> out;
  if (counts.too_large > 0) out.emplace_back("memory", counts.too_large);
  out.insert(out.end(), counts.invalid.begin(), counts.invalid.end());
  out.insert(out.end(), counts.excluded.begin(), counts.excluded.end());
  out.insert(out.end(), counts.unknown.begin(), counts.unknown.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

Result<SearchResult> merge_results(const std::vector<SearchResult>& parts) {
  const auto wrong = [](ProblemCode code, std::string what, std::string accepted) {
    return Problem{code, "merge", std::move(what), std::move(accepted)};
  };
  if (parts.empty())
    return wrong(ProblemCode::ShardsMissing, "there is nothing to merge", "at least one result of a shard");
  const SearchResult& first = parts.front();
  ResultCollector collector(first.space, first.options);
  std::vector<SearchPart> shards;
  for (const SearchResult& part : parts) {
    if (part.guided)
      return wrong(ProblemCode::GuidedSearchSharded, "a guided search has no shards",
                   "results of exhaustive searches");
    if (!(part.space->spec() == first.space->spec()))
      return wrong(ProblemCode::ResultOfOtherSearch, "the parts belong to different spaces",
                   "shards of one search");
    if (!(part.options == first.options))
      return wrong(ProblemCode::ResultOfOtherSearch,
                   "the parts have different objectives, prices or numbers of stored designs",
                   "shards of one search");
    collector.add(part);
    shards.insert(shards.end(), part.parts.begin(), part.parts.end());
  }
  std::sort(shards.begin(), shards.end(),
            [](const SearchPart& a, const SearchPart& b) { return a.shard < b.shard; });
  for (size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].shards != shards[0].shards)
      return wrong(ProblemCode::ResultOfOtherSearch,
                   "one part is a shard of " + grouped(shards[0].shards) + ", another is a shard of " +
                       grouped(shards[i].shards),
                   "the same number of shards");
    if (i > 0 && shards[i].shard == shards[i - 1].shard)
      return wrong(ProblemCode::ShardRepeated, "shard " + grouped(shards[i].shard) + " is given twice",
                   "each shard once");
  }
  SearchResult out = collector.result();
  out.parts = std::move(shards);
  // The result of all shards equals the result of a complete run.
  if (out.complete()) {
    Wide chunks = 0;
    for (const SearchPart& part : out.parts) chunks += part.chunks;
    out.parts = {{0, 1, chunks, chunks}};
  }
  return out;
}

}  // namespace shardscape
