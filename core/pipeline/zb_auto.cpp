// The order of passes with the least idle time for given pass times and a memory limit (Qi et al., arXiv
// 2401.10241, section 3.1).
#include <algorithm>
#include <optional>

#include "design/fields.h"
#include "pipeline/stage_writer.h"

namespace shardscape {
namespace {

enum class Pass : uint8_t { Forward, Input, Weight };
using Orders = std::vector<std::vector<Pass>>;  // by stage

// Forwards before a stage's first backward. Fits: as many as do not delay the backward. FillsGap: one more if
// a gap remains. Twice: as many as ZB-H2.
enum class Warmup : uint8_t { Fits, FillsGap, Twice };
constexpr Warmup kWarmups[] = {Warmup::Fits, Warmup::FillsGap, Warmup::Twice};

constexpr int64_t kWhole = 100;  // memory of one microbatch in flight, in percent

struct Times {
  int64_t of[3];  // by Pass
  int64_t message;
};

// One heuristic order of passes, simulated while it is built. After its warm-up a stage alternates backwards
// and forwards. Deferred weight gradients run in gaps that hold one, before a forward that exceeds the memory
// limit, and at the end. `eager`: a weight gradient also runs in a gap that is too short, if this gap would
// make the stage the one that idles longest.
class Attempt {
 public:
  Attempt(int stages, int microbatches, const Times& times, int64_t limit, int64_t deferred_percent)
      : stages_(stages),
        microbatches_(microbatches),
        times_(times),
        limit_(limit),
        deferred_percent_(deferred_percent),
        states_(static_cast<size_t>(stages)) {
    for (Stage& stage : states_) stage.order.reserve(3 * static_cast<size_t>(microbatches));
  }

  // Returns false if a stage idles for `most` or longer.
  bool run(Warmup warmup, bool eager, std::optional<int64_t> most) {
    eager_ = eager;
    warm_up(warmup);
    for (int i = 0; i < microbatches_; ++i) {
      for (int s = stages_ - 1; s >= 0; --s) backward(s);
      for (int s = 0; s < stages_; ++s)
        if (static_cast<int>(states_[static_cast<size_t>(s)].forwards.size()) < microbatches_) forward(s);
      if (most && longest_ >= *most) return false;
    }
    for (Stage& stage : states_)
      while (stage.pending > 0) append(stage, Pass::Weight, 0);
    return true;
  }
  int64_t longest_idle() const { return longest_; }
  Orders orders() {
    Orders out;
    for (Stage& stage : states_) out.push_back(std::move(stage.order));
    return out;
  }

 private:
  struct Stage {
    std::vector<Pass> order;
    std::vector<int64_t> forwards, backwards;  // end times
    int64_t now = -1, idle = 0;                // idle: since the start of its first forward
    int64_t held = 0, pending = 0;             // in kWhole; microbatches with deferred weight gradients
  };

  int64_t duration(Pass pass) const { return times_.of[static_cast<size_t>(pass)]; }

  void append(Stage& stage, Pass pass, int64_t ready) {
    if (stage.now < 0) stage.now = ready;
    if (ready > stage.now) {
      stage.idle += ready - stage.now;
      longest_ = std::max(longest_, stage.idle);
      stage.now = ready;
    }
    stage.now += duration(pass);
    stage.order.push_back(pass);
    if (pass == Pass::Forward) {
      stage.forwards.push_back(stage.now);
      stage.held += kWhole;
    } else if (pass == Pass::Input) {
      stage.backwards.push_back(stage.now);
      stage.held -= kWhole - deferred_percent_;
      ++stage.pending;
    } else {
      stage.held -= deferred_percent_;
      --stage.pending;
    }
  }

  // Runs deferred weight gradients until the next pass is ready at `ready`.
  void fill(Stage& stage, int64_t ready) {
    while (stage.pending > 0 && ready - stage.now >= duration(Pass::Weight)) append(stage, Pass::Weight, 0);
    const int64_t gap = ready - stage.now;
    if (eager_ && stage.pending > 0 && gap > 0 && stage.idle + gap > longest_) append(stage, Pass::Weight, 0);
  }

  void backward(int s) {
    Stage& stage = states_[static_cast<size_t>(s)];
    const size_t next = stage.backwards.size();
    const int64_t ready = s + 1 == stages_
                              ? stage.forwards[next]
                              : states_[static_cast<size_t>(s) + 1].backwards[next] + times_.message;
    fill(stage, ready);
    append(stage, Pass::Input, ready);
  }

  void forward(int s) {
    Stage& stage = states_[static_cast<size_t>(s)];
    while (stage.held + kWhole > limit_ && stage.pending > 0) append(stage, Pass::Weight, 0);
    const int64_t ready = arrival(s);
    fill(stage, ready);
    append(stage, Pass::Forward, ready);
  }

  int64_t arrival(int s) const {
    return s == 0 ? 0
                  : states_[static_cast<size_t>(s) - 1]
                            .forwards[states_[static_cast<size_t>(s)].forwards.size()] +
                        times_.message;
  }

  // Warm-up of every stage. Each stage stays one forward ahead of the next stage, so a stage's index reduces
  // its share of the memory limit.
  void warm_up(Warmup warmup) {
    const int64_t forward = duration(Pass::Forward);
    std::vector<int64_t> counts(static_cast<size_t>(stages_));
    int64_t first_backward = 0, after = 0;  // time on this stage; forwards of the next stage
    for (int s = stages_ - 1; s >= 0; --s) {
      const int64_t begin = s * (forward + times_.message);
      if (s + 1 == stages_) first_backward = begin + forward;
      const int64_t gap = first_backward - begin;
      int64_t count = warmup == Warmup::Twice
                          ? 2 * (stages_ - s) - 1
                          : gap / forward + (warmup == Warmup::FillsGap && gap % forward > 0);
      count = std::max(count, after + 1);
      count = std::clamp<int64_t>(std::min<int64_t>(count, limit_ / kWhole - s), 1, microbatches_);
      counts[static_cast<size_t>(s)] = after = count;
      first_backward = std::max(first_backward, begin + count * forward) + duration(Pass::Input) +
                       times_.message;
    }
    for (int s = 0; s < stages_; ++s)
      for (int64_t i = 0; i < counts[static_cast<size_t>(s)]; ++i)
        append(states_[static_cast<size_t>(s)], Pass::Forward, arrival(s));
  }

  int stages_, microbatches_;
  Times times_;
  int64_t limit_, deferred_percent_;
  std::vector<Stage> states_;
  int64_t longest_ = 0;
  bool eager_ = false;
};

struct Found {
  int64_t idle = 0;  // of the stage that idles longest
  Orders orders;
};

// The orders with the least idle time under a limit in kWhole; nothing if all orders idle for `most` or
// longer.
std::optional<Found> best_orders_within(int64_t limit, int stages, int microbatches, const Times& times,
                                        int64_t deferred_percent, std::optional<int64_t> most = {}) {
  std::optional<Found> best;
  for (const Warmup warmup : kWarmups)
    for (const bool eager : {true, false}) {
      Attempt attempt(stages, microbatches, times, limit, deferred_percent);
      if (!attempt.run(warmup, eager, most) || (most && attempt.longest_idle() >= *most)) continue;
      most = attempt.longest_idle();
      best = Found{*most, attempt.orders()};
    }
  return best;
}

// Among the orders with least idle time, one that holds little: the limit is lowered as long as that costs no
// time.
Orders find_orders(int stages, int microbatches, const PassPlan& passes) {
  // Microbatches times stages. Larger problems skip the lowering, which would take too long for an
  // interactive answer.
  constexpr int64_t kLowered = 1 << 18;
  const bool known = passes.times.size() == 4;
  const Times times{{known ? passes.times[0] : 1, known ? passes.times[1] : 1, known ? passes.times[2] : 1},
                    known ? passes.times[3] : 0};
  const int64_t limit = passes.most_in_flight > 0 ? passes.most_in_flight : 2 * int64_t{stages};
  Found best = *best_orders_within(limit * kWhole, stages, microbatches, times, passes.waiting_percent);
  if (int64_t{stages} * microbatches > kLowered) return best.orders;
  const int64_t idle_limit = best.idle + 1;
  for (int64_t low = 1, high = std::min<int64_t>(limit, microbatches); low < high;) {
    const int64_t middle = low + (high - low) / 2;
    if (auto found = best_orders_within(middle * kWhole, stages, microbatches, times, passes.waiting_percent,
                                        idle_limit)) {
      best = std::move(*found);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return best.orders;
}

// The search finds the orders of all stages together; callers read them stage by stage.
std::shared_ptr<const Orders> orders_of(int stages, int microbatches, const PassPlan& passes,
                                        PlanCache* cache) {
  const auto make = [&] { return std::make_shared<const Orders>(find_orders(stages, microbatches, passes)); };
  if (!cache) return make();
  CacheKey key;
  key.add(int64_t{stages});
  key.add(int64_t{microbatches});
  add_fields<&FieldUses::schedule>(key, passes);
  return cache->get<Orders>(CacheKind::ZeroBubbleOrders, key, make, [](const Orders& orders) {
    return orders.size() * (orders.front().size() * sizeof(Pass) + sizeof orders.front());
  });
}

}  // namespace

void write_zb_auto(StageWriter& writer, int stage, int stages, int microbatches, const PassPlan& passes,
                   PlanCache* cache) {
  const auto orders = orders_of(stages, microbatches, passes, cache);
  int forwards = 0, backwards = 0;
  for (const Pass pass : (*orders)[static_cast<size_t>(stage)]) {
    if (pass == Pass::Forward)
      writer.forward(forwards++);
    else if (pass == Pass::Input)
      writer.backward_input(backwards++);
    else
      writer.backward_weight();
  }
}

}  // namespace shardscape
