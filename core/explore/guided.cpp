// Seeded local search for spaces that are too large to visit. First, a sample covers all layouts. Then, hill
// climbing starts from the best samples: it moves to the best neighbour that differs in one digit, or else in
// two digits. Last, the search restarts from random changes of the best design.
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <random>
#include <set>
#include <unordered_set>

#include "explore/search_run.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

constexpr int64_t kVisitsPerTimed = 50;  // bounds the visits of invalid designs
constexpr size_t kBatch = 256;           // designs between two checks of the budget
constexpr size_t kStarts = 8;            // hill climbs after the sample
constexpr int kPatience = 12;            // restarts in a row without improvement
constexpr size_t kRowsTried = 96;        // values tried per digit
constexpr size_t kPairsTried = 6144;     // tried neighbours that differ in two digits

class GuidedSearch {
 public:
  GuidedSearch(SearchRun& run, const Guided& guided)
      : run_(run),
        space_(*run.space),
        random_(guided.seed),
        budget_(std::max<int64_t>(guided.budget, 1)),
        cursors_([this] { return SpaceCursor(space_); }) {}

  void go() {
    if (space_.size() <= budget_) {
      evaluate_all();
    } else {
      sample();
      climb_from_samples();
      restarts();
    }
    run_.report_progress(timed(), timed(), true);
  }

 private:
  using Rows = std::vector<int>;
  int64_t timed() const { return run_.collector.counts().timed; }
  bool finished() const {
    return run_.stop.stop_requested() || timed() >= budget_ ||
           run_.collector.counts().enumerated >= budget_ * kVisitsPerTimed;
  }

  struct Slot {
    std::optional<Point> point;
    std::vector<int> values;
    SearchCounts counts;
    bool done = false;
  };

  // Evaluates the designs that were not visited before, in slices whose order does not depend on threads.
  // Returns the best new design, if any.
  std::optional<Point> evaluate_new(const std::vector<Wide>& wanted) {
    std::vector<Wide> fresh;
    for (Wide index : wanted)
      if (seen_.insert(index).second) fresh.push_back(index);
    std::optional<Point> best;
    for (size_t from = 0; from < fresh.size() && !finished(); from += kBatch) {
      const size_t n = std::min(kBatch, fresh.size() - from);
      std::vector<Slot> slots(n);
      parallel_loop(n, [&](size_t i) {
        SpaceCursor& cursor = cursors_.local();
        slots[i].point = run_.visitor.visit(cursor, fresh[from + i], slots[i].counts, run_.stop);
        slots[i].values = cursor.values();
        slots[i].done = slots[i].point || !run_.stop.stop_requested();
      });
      // A slice that a stop interrupted does not count.
      const bool whole = std::all_of(slots.begin(), slots.end(), [](const Slot& s) { return s.done; });
      if (!whole) break;
      SearchCounts counts;
      std::vector<Point> points;
      std::vector<std::vector<int>> values;
      for (Slot& slot : slots) {
        counts.add(slot.counts);
        if (!slot.point) continue;
        if (!best || better(*slot.point, *best)) best = slot.point;
        points.push_back(std::move(*slot.point));
        values.push_back(std::move(slot.values));
      }
      run_.commit(points, values, counts);
      found_.insert(found_.end(), points.begin(), points.end());
      run_.report_progress(std::min<Wide>(timed(), budget_), budget_);
    }
    return best;
  }

  bool better(const Point& a, const Point& b) const {
    return BetterPoint{run_.options.result.objective}(a, b);
  }

  size_t radix(size_t digit) const { return space_.digits()[digit].rows.size(); }
  int any_row(size_t digit) { return static_cast<int>(random_() % radix(digit)); }
  Wide any_index() {
    Rows rows(space_.digits().size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = any_row(i);
    return space_.index_at(rows);
  }

  void evaluate_all() {
    std::vector<Wide> all(static_cast<size_t>(space_.size()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Wide>(i);
    budget_ = std::max<int64_t>(budget_, static_cast<int64_t>(all.size()) + 1);
    evaluate_new(all);
  }

  // Samples until a quarter of the budget is spent: every value of every digit with random other digits, and
  // as many random designs.
  void sample() {
    const int64_t enough = std::max<int64_t>(1, budget_ / 4);
    for (int round = 0; round < 64 && timed() < enough && !finished(); ++round) {
      std::vector<Wide> wanted;
      for (size_t digit = 0; digit < space_.digits().size(); ++digit)
        for (size_t row = 0; row < std::min(radix(digit), kRowsTried); ++row) {
          Rows rows = space_.digits_at(any_index());
          rows[digit] = radix(digit) <= kRowsTried ? static_cast<int>(row) : any_row(digit);
          wanted.push_back(space_.index_at(rows));
        }
      const size_t spread = wanted.size();
      for (size_t i = 0; i < spread; ++i) wanted.push_back(any_index());
      evaluate_new(wanted);
    }
  }

  // Values of a digit to try: all if there are few, otherwise the nearest ones and random ones.
  std::vector<int> rows_to_try(size_t digit, int now) {
    std::vector<int> out;
    const auto n = static_cast<int>(radix(digit));
    if (radix(digit) <= kRowsTried) {
      for (int row = 0; row < n; ++row)
        if (row != now) out.push_back(row);
      return out;
    }
    for (int step : {-4, -3, -2, -1, 1, 2, 3, 4})
      if (now + step >= 0 && now + step < n) out.push_back(now + step);
    while (out.size() < kRowsTried) out.push_back(any_row(digit));
    return out;
  }

  std::vector<Wide> neighbours(Wide index) {
    std::vector<Wide> out;
    const Rows rows = space_.digits_at(index);
    for (size_t digit = 0; digit < rows.size(); ++digit)
      for (int row : rows_to_try(digit, rows[digit])) {
        Rows other = rows;
        other[digit] = row;
        out.push_back(space_.index_at(other));
      }
    return out;
  }

  // Neighbours that differ in two digits. Some digits must change together: a layout and its virtual stages.
  std::vector<Wide> far_neighbours(Wide index) {
    std::vector<Wide> out;
    const Rows rows = space_.digits_at(index);
    for (size_t a = 0; a < rows.size(); ++a)
      for (size_t b = a + 1; b < rows.size() && !run_.stop.stop_requested(); ++b)
        for (int row : rows_to_try(a, rows[a]))
          for (int column : rows_to_try(b, rows[b])) {
            Rows other = rows;
            other[a] = row;
            other[b] = column;
            out.push_back(space_.index_at(other));
          }
    std::shuffle(out.begin(), out.end(), random_);
    if (out.size() > kPairsTried) out.resize(kPairsTried);
    return out;
  }

  // Moves to better neighbours until none is better.
  Point climb(Point from) {
    while (!finished()) {
      auto next = evaluate_new(neighbours(from.index));
      if (!finished() && (!next || !better(*next, from))) next = evaluate_new(far_neighbours(from.index));
      if (!next || !better(*next, from)) break;
      from = *next;
    }
    return from;
  }

  void keep_best(const Point& point) {
    if (!best_ || better(point, *best_)) best_ = point;
  }

  // Starts from the best design of each of the best layouts, so that the starts differ.
  void climb_from_samples() {
    std::sort(found_.begin(), found_.end(), [this](const Point& a, const Point& b) { return better(a, b); });
    std::vector<Point> starts;
    std::set<int> layouts;
    for (const Point& point : found_) {
      const Rows rows = space_.digits_at(point.index);
      if (starts.size() < kStarts && (rows.empty() || layouts.insert(rows.front()).second))
        starts.push_back(point);
    }
    found_.clear();
    for (const Point& start : starts) keep_best(climb(start));
  }

  void restarts() {
    for (int idle = 0; best_ && idle < kPatience && !finished(); ++idle) {
      Rows rows = space_.digits_at(best_->index);
      for (int i = 0; i < 3; ++i) {
        const size_t digit = random_() % rows.size();
        rows[digit] = any_row(digit);
      }
      const Wide index = space_.index_at(rows);
      std::vector<Wide> around = neighbours(index);
      around.push_back(index);
      const auto start = evaluate_new(around);
      if (!start) continue;
      const Point before = *best_;
      keep_best(climb(*start));
      if (better(*best_, before)) idle = -1;
    }
  }

  SearchRun& run_;
  const Space& space_;
  std::mt19937_64 random_;
  int64_t budget_;
  tbb::enumerable_thread_specific<SpaceCursor> cursors_;
  struct Hash {
    size_t operator()(Wide x) const {
      return static_cast<size_t>(static_cast<uint64_t>(x) * 0x9E3779B97F4A7C15u ^
                                 static_cast<uint64_t>(x >> 64));
    }
  };
  std::unordered_set<Wide, Hash> seen_;
  std::vector<Point> found_;
  std::optional<Point> best_;
};

}  // namespace

void guided_search(SearchRun& run, const Guided& guided) { GuidedSearch(run, guided).go(); }

}  // namespace shardscape
