#include "explore/layout_search.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>
#include <unordered_map>

#include "explore/visit.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

using Rows = std::vector<int>;  // one per digit of the space

constexpr Wide kVisitAll = 600;    // smaller spaces are visited completely
constexpr size_t kStarts = 8;      // splits that the search climbs from
constexpr size_t kScheduled = 48;  // splits that the search tries under other schedules
constexpr int kRepairs = 2;        // successive repairs of an invalid design
constexpr int kPairRounds = 3;
constexpr double kNoBound = std::numeric_limits<double>::infinity();

struct Outcome {
  std::optional<Point> point;  // fits and is timed
  std::string invalid;         // knob of the first problem; empty: valid
};

// An intent has a row for every digit. Knobs without effect keep their rows, so that they have the wanted
// value as soon as they have an effect.
struct Candidate {
  Rows intent;
  Outcome outcome;
};

class LayoutSearch {
 public:
  LayoutSearch(const std::shared_ptr<const Space>& space, const ResultOptions& options,
               const std::vector<LayoutScoring>& scorings, std::stop_token stop)
      : space_(*space),
        options_(options),
        scorings_(scorings),
        stop_(std::move(stop)),
        visitor_(space_, options),
        cursors_([this] { return SpaceCursor(space_); }) {}

  std::optional<Point> first_fit() {
    const std::vector<Rows> splits = all_splits();
    std::vector<Rows> ladder = policies();
    std::reverse(ladder.begin(), ladder.end());
    ladder.resize(std::min<size_t>(ladder.size(), 2));
    constexpr size_t kSlice = 16;  // splits between two checks
    for (size_t from = 0; from < splits.size() && !stop_.stop_requested(); from += kSlice) {
      in_parallel(std::min(kSlice, splits.size() - from),
                  [&](size_t i) { first_that_fits(splits[from + i], ladder); });
      if (auto point = best(kFastest)) return point;
    }
    return std::nullopt;
  }

  LayoutPoints run() {
    LayoutPoints out;
    if (space_.size() <= kVisitAll)
      visit_all();
    else
      search_fastest();
    out.fastest = best(kFastest);
    fastest_ = out.fastest;
    for (size_t i = 0; i < scorings_.size(); ++i) {
      if (fastest_ && space_.size() > kVisitAll)
        improve(known_starts(static_cast<int>(i)), static_cast<int>(i));
      out.others.push_back(fastest_ ? best(static_cast<int>(i)) : std::nullopt);
    }
    out.evaluated = evaluated_;
    return out;
  }

 private:
  static constexpr int kFastest = -1;  // other numbers: index in scorings_

  template <class Work>
  void in_parallel(size_t count, const Work& work) {
    parallel_loop(count, [&](size_t i) {
      if (!stop_.stop_requested()) work(i);
    });
  }

  Outcome visit(const Rows& intent) {
    SpaceCursor& cursor = cursors_.local();
    const Wide index = space_.first_equal(space_.index_at(intent), cursor);
    const auto known = [&]() -> const Outcome* {
      const auto it = known_.find(index);
      // The last intent in order, so that the result does not depend on the order of visits.
      if (it != known_.end() && it->second.point) intents_[index] = std::max(intents_[index], intent);
      return it == known_.end() ? nullptr : &it->second;
    };
    {
      const std::lock_guard lock(mutex_);
      if (const Outcome* outcome = known()) return *outcome;
    }
    SearchCounts counts;
    Outcome outcome;
    outcome.point = visitor_.visit(cursor, index, counts, stop_);
    if (!counts.invalid.empty()) outcome.invalid = counts.invalid.begin()->first;
    const std::lock_guard lock(mutex_);
    if (known_.emplace(index, outcome).second) evaluated_ += counts.timed + counts.too_large;
    known();
    return outcome;
  }

  // The design itself if it is valid. Otherwise the valid designs with another row of the digit that is
  // wrong.
  void visit_repaired(const Rows& intent, int repairs, std::vector<Candidate>& out) {
    Outcome outcome = visit(intent);
    if (outcome.invalid.empty()) {
      out.push_back({intent, std::move(outcome)});
      return;
    }
    const int digit = digit_of(outcome.invalid);
    if (repairs == 0 || digit < 0) return;
    for (int row = 0; row < radix(digit); ++row) {
      Rows other = intent;
      other[static_cast<size_t>(digit)] = row;
      if (row != intent[static_cast<size_t>(digit)]) visit_repaired(other, repairs - 1, out);
    }
  }

  LayoutScore score(const Point& point, int aim) {
    const auto objective = static_cast<size_t>(options_.objective);
    const double speed = shardscape::score(options_.objective, point.values[objective]);
    if (aim == kFastest) return {speed, static_cast<double>(point.evaluation.memory)};
    return scorings_[static_cast<size_t>(aim)](point, cursors_.local().at(point.index), *fastest_);
  }
  bool better(const Point& a, const Point& b, int aim) {
    const LayoutScore x = score(a, aim), y = score(b, aim);
    return x != y ? x < y : a.index < b.index;
  }

  int radix(int digit) const {
    return static_cast<int>(space_.digits()[static_cast<size_t>(digit)].rows.size());
  }
  // -1: the knob does not vary.
  int digit_of(std::string_view knob) const {
    const int axis = space_.axis(knob);
    for (size_t i = 0; axis >= 0 && i < space_.digits().size(); ++i)
      for (int other : space_.digits()[i].axes)
        if (other == axis) return static_cast<int>(i);
    return -1;
  }
  // The row of a value on a digit of one axis; the row of `rows` stays if the space lacks the value.
  void set(Rows& rows, const char* knob, std::string_view value) const {
    const int axis = space_.axis(knob), digit = digit_of(knob);
    if (digit < 0) return;
    const auto& values = space_.axes()[static_cast<size_t>(axis)].values;
    const auto it = std::find(values.begin(), values.end(), value);
    if (it != values.end()) rows[static_cast<size_t>(digit)] = static_cast<int>(it - values.begin());
  }

  std::vector<int> layout_digits() const {
    std::vector<int> out;
    for (const char* knob : {"tp", "cp", "pp", "dp", "ep", "etp"})
      if (const int digit = digit_of(knob);
          digit >= 0 && std::find(out.begin(), out.end(), digit) == out.end())
        out.push_back(digit);
    return out;
  }

  void visit_all() {
    in_parallel(static_cast<size_t>(space_.size()),
                [&](size_t i) { visit(space_.digits_at(static_cast<Wide>(i))); });
  }

  // Policies, from the fastest to the one that saves most memory.
  std::vector<Rows> policies() const {
    Rows usual(space_.digits().size(), 0);
    for (const char* knob :
         {"sequence_parallel", "tp_comm_overlap", "overlap_grad_reduce", "overlap_param_gather"})
      set(usual, knob, "true");
    set(usual, "schedule", "1f1b");
    set(usual, "context", "zigzag");
    std::vector<Rows> out;
    if (!trains(space_.spec().base)) {  // the largest microbatches that fit
      const int digit = digit_of("microbatch");
      for (int row = digit < 0 ? 0 : radix(digit) - 1; row >= 0; --row) {
        out.push_back(usual);
        if (digit >= 0) out.back()[static_cast<size_t>(digit)] = row;
      }
      return out;
    }
    for (const auto& [sync, recompute] : {std::pair{"distributed-optimizer", "none"},
                                          {"distributed-optimizer", "selective"},
                                          {"fsdp2", "none"},
                                          {"distributed-optimizer", "full"},
                                          {"fsdp2", "full"}}) {
      out.push_back(usual);
      set(out.back(), "sync", sync);
      set(out.back(), "recompute", recompute);
    }
    return out;
  }

  // Policies that gather parameters for every microbatch: the largest microbatches that fit.
  std::vector<Rows> gathering_policies() const {
    std::vector<Rows> out;
    const int digit = digit_of("microbatch");
    for (int row = digit < 0 ? -1 : radix(digit) - 1; row >= 0 && digit_of("sync") >= 0; --row) {
      out.push_back(policies().back());
      out.back()[static_cast<size_t>(digit)] = row;
    }
    return out;
  }

  // The ways to place layers on stages: with or without embedding and head counted as layers.
  std::vector<Rows> placements(const Rows& intent) const {
    std::vector<Rows> out{intent};
    Rows ends = intent;
    for (const char* knob : {"account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"})
      set(ends, knob, "true");
    if (ends != intent) out.push_back(std::move(ends));
    return out;
  }

  // The fastest design of the first policy that fits on this split: one virtual stage or the most.
  std::optional<Candidate> first_that_fits(const Rows& split, const std::vector<Rows>& ladder) {
    const std::vector<int> fixed = layout_digits();
    const int chunks = digit_of("virtual_stages");
    std::optional<Candidate> found;
    const auto take = [&](const Rows& rows) {
      Outcome outcome = visit(rows);
      const bool valid = outcome.invalid.empty();
      if (outcome.point && (!found || better(*outcome.point, *found->outcome.point, kFastest)))
        found = Candidate{rows, std::move(outcome)};
      return valid;
    };
    for (Rows policy : ladder) {
      for (int digit : fixed) policy[static_cast<size_t>(digit)] = split[static_cast<size_t>(digit)];
      for (Rows intent : placements(policy)) {
        take(intent);
        for (int row = chunks < 0 ? 0 : radix(chunks) - 1; row > 0; --row) {
          intent[static_cast<size_t>(chunks)] = row;
          if (take(intent)) break;
        }
      }
      if (found) return found;
    }
    return std::nullopt;
  }

  // All combinations of rows of the digits that split the ranks.
  std::vector<Rows> all_splits() const {
    std::vector<Rows> splits{Rows(space_.digits().size(), 0)};
    for (int digit : layout_digits()) {
      std::vector<Rows> more;
      for (const Rows& split : splits)
        for (int row = 0; row < radix(digit); ++row) {
          more.push_back(split);
          more.back()[static_cast<size_t>(digit)] = row;
        }
      splits = std::move(more);
    }
    return splits;
  }

  using Found = std::vector<Candidate>;

  // The candidates of all rows, best first.
  Found sorted(std::vector<std::optional<Candidate>> found) {
    Found out;
    for (auto& candidate : found)
      if (candidate) out.push_back(std::move(*candidate));
    std::sort(out.begin(), out.end(), [this](const Candidate& a, const Candidate& b) {
      return better(*a.outcome.point, *b.outcome.point, kFastest);
    });
    return out;
  }

  // The best splits under the other schedules, each with any virtual stages.
  Found with_other_schedules(const Found& splits) {
    const int digit = digit_of("schedule");
    const std::vector<Rows> ladder = policies();
    std::vector<Rows> wanted;
    for (size_t i = 0; digit >= 0 && i < std::min(splits.size(), kScheduled); ++i)
      for (int row = 0; row < radix(digit); ++row) {
        wanted.push_back(splits[i].intent);
        wanted.back()[static_cast<size_t>(digit)] = row;
        if (wanted.back() == splits[i].intent) wanted.pop_back();
      }
    std::vector<std::optional<Candidate>> found(wanted.size());
    in_parallel(wanted.size(), [&](size_t i) {
      std::vector<Rows> policies = ladder;
      for (Rows& policy : policies)
        policy[static_cast<size_t>(digit)] = wanted[i][static_cast<size_t>(digit)];
      found[i] = first_that_fits(wanted[i], policies);
    });
    return sorted(std::move(found));
  }

  void search_fastest() {
    const std::vector<Rows> splits = all_splits();
    const std::vector<Rows> ladder = policies();
    const std::vector<Rows> gathering = gathering_policies();
    std::vector<std::optional<Candidate>> found(2 * splits.size());
    in_parallel(splits.size(), [&](size_t i) {
      found[2 * i] = first_that_fits(splits[i], ladder);
      // Stages of a pipeline run many small microbatches, which are no use to these policies.
      if (cursors_.local().at(space_.index_at(splits[i])).parallel.pp == 1)
        found[2 * i + 1] = first_that_fits(splits[i], gathering);
    });
    Found all = sorted(std::move(found));
    for (Candidate& candidate : with_other_schedules(all)) all.push_back(std::move(candidate));
    std::sort(all.begin(), all.end(), [this](const Candidate& a, const Candidate& b) {
      return better(*a.outcome.point, *b.outcome.point, kFastest);
    });
    Found starts;
    std::set<int> layouts;
    for (Candidate& candidate : all)
      if (starts.size() < kStarts && layouts.insert(candidate.intent.front()).second)
        starts.push_back(std::move(candidate));
    improve(std::move(starts), kFastest);
  }

  // The best known design of each of the best splits.
  std::vector<Candidate> known_starts(int aim) {
    std::vector<const Point*> points;
    for (const auto& [index, outcome] : known_)
      if (outcome.point) points.push_back(&*outcome.point);
    std::sort(points.begin(), points.end(),
              [&](const Point* a, const Point* b) { return better(*a, *b, aim); });
    std::vector<Candidate> starts;
    std::set<int> layouts;
    for (const Point* point : points) {
      const Rows& intent = intents_.at(point->index);
      if (starts.size() < 2 && layouts.insert(intent.front()).second)
        starts.push_back({intent, {*point, ""}});
    }
    return starts;
  }

  void improve(std::vector<Candidate> starts, int aim) {
    in_parallel(starts.size(), [&](size_t i) { descend(starts[i], aim); });
    if (starts.empty() || stop_.stop_requested()) return;
    Candidate top = *std::min_element(starts.begin(), starts.end(),
                                      [&](const Candidate& a, const Candidate& b) {
                                        return better(*a.outcome.point, *b.outcome.point, aim);
                                      });
    for (int round = 0; aim == kFastest && round < kPairRounds && pairs(top, aim); ++round) descend(top, aim);
  }

  bool take_better(Candidate& now, std::vector<Candidate>& candidates, int aim) {
    bool improved = false;
    for (Candidate& candidate : candidates)
      if (candidate.outcome.point && better(*candidate.outcome.point, *now.outcome.point, aim)) {
        now = std::move(candidate);
        improved = true;
      }
    return improved;
  }

  // One digit after the other takes its best row, until a whole round improves nothing.
  void descend(Candidate& now, int aim) {
    const auto digits = static_cast<int>(space_.digits().size());
    for (int idle = 0, digit = 0; idle < digits && !stop_.stop_requested(); digit = (digit + 1) % digits) {
      std::vector<Candidate> candidates;
      for (int row = 0; row < radix(digit); ++row) {
        Rows other = now.intent;
        other[static_cast<size_t>(digit)] = row;
        if (other != now.intent) visit_repaired(other, kRepairs, candidates);
      }
      idle = take_better(now, candidates, aim) ? 0 : idle + 1;
    }
  }

  // Moves to the best design that differs in two digits. Returns whether there is a better one.
  bool pairs(Candidate& now, int aim) {
    std::vector<Rows> wanted;
    const auto digits = static_cast<int>(space_.digits().size());
    for (int a = 0; a < digits; ++a)
      for (int b = a + 1; b < digits; ++b)
        for (int i = 0; i < radix(a); ++i)
          for (int j = 0; j < radix(b); ++j) {
            wanted.push_back(now.intent);
            wanted.back()[static_cast<size_t>(a)] = i;
            wanted.back()[static_cast<size_t>(b)] = j;
          }
    std::vector<Candidate> candidates(wanted.size());
    in_parallel(wanted.size(), [&](size_t i) { candidates[i] = {wanted[i], visit(wanted[i])}; });
    return take_better(now, candidates, aim);
  }

  std::optional<Point> best(int aim) {
    std::optional<Point> out;
    for (const auto& [index, outcome] : known_)
      if (outcome.point && score(*outcome.point, aim).front() < kNoBound &&
          (!out || better(*outcome.point, *out, aim)))
        out = outcome.point;
    return out;
  }

  struct Hash {
    size_t operator()(Wide x) const {
      return static_cast<size_t>(static_cast<uint64_t>(x) * 0x9E3779B97F4A7C15u);
    }
  };

  const Space& space_;
  const ResultOptions& options_;
  std::vector<LayoutScoring> scorings_;
  std::stop_token stop_;
  Visitor visitor_;
  tbb::enumerable_thread_specific<SpaceCursor> cursors_;
  std::optional<Point> fastest_;
  int64_t evaluated_ = 0;
  std::mutex mutex_;  // guards the members below and evaluated_
  std::unordered_map<Wide, Outcome, Hash> known_;
  std::unordered_map<Wide, Rows, Hash> intents_;  // of the designs that fit
};

}  // namespace

LayoutPoints search_layouts(const std::shared_ptr<const Space>& space, const ResultOptions& options,
                            const std::vector<LayoutScoring>& scorings, std::stop_token stop) {
  return LayoutSearch(space, options, scorings, std::move(stop)).run();
}

std::optional<Point> first_fitting_layout(const std::shared_ptr<const Space>& space,
                                          const ResultOptions& options, std::stop_token stop) {
  return LayoutSearch(space, options, {}, std::move(stop)).first_fit();
}

}  // namespace shardscape
