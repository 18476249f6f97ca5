// The simulated step as rows of boxes: the streams of every stage. The compute stream has one box for each
// action of the schedule. No widgets.
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "timing/simulation.h"

namespace shardscape::ui {

// The kind of a box. Backward includes its recomputation.
enum class Pass : uint8_t { Forward, Backward, WeightGradient, Optimizer, Communication, Host };
Pass pass_of(const Span& span);

// A box: the spans of one action, or a single span.
struct LaneItem {
  double begin = 0, end = 0;
  int32_t first = 0, count = 1;  // range in StreamLane::spans
  Pass pass = Pass::Forward;
  SpanKind kind = SpanKind::Forward;
  int32_t microbatch = -1, chunk = 0, name = -1;
  bool critical = false;
  double recompute = 0;  // share of recomputation
};

struct StreamLane {
  StreamKind stream = StreamKind::Compute;
  std::vector<int32_t> spans;   // into StageTimes::spans, by begin
  std::vector<LaneItem> items;  // by begin, without overlap
};

struct ItemRef {
  int stage = -1, lane = -1, item = -1;
  int member = 0;  // of compared designs: 0 is the present design
  bool valid() const { return stage >= 0; }
  auto operator<=>(const ItemRef&) const = default;
};

class Lanes {
 public:
  explicit Lanes(std::shared_ptr<const Simulation> simulation);
  const Simulation& simulation() const { return *simulation_; }
  std::shared_ptr<const Simulation> shared_simulation() const { return simulation_; }
  int stages() const { return static_cast<int>(stages_.size()); }
  const std::vector<StreamLane>& of(int stage) const { return stages_[static_cast<size_t>(stage)].lanes; }
  const LaneItem& item(const ItemRef& ref) const { return lane(ref).items[static_cast<size_t>(ref.item)]; }
  const StreamLane& lane(const ItemRef& ref) const { return of(ref.stage)[static_cast<size_t>(ref.lane)]; }
  int span_index(const ItemRef& ref) const { return lane(ref).spans[static_cast<size_t>(item(ref).first)]; }
  const Span& span(int stage, int index) const {
    return simulation_->stages[static_cast<size_t>(stage)].spans[static_cast<size_t>(index)];
  }
  ItemRef of_span(int stage, int span) const;
  // The box of an action of the schedule; invalid if there is none.
  ItemRef of_action(int stage, Pass pass, int microbatch, int chunk) const;
  // Appends the boxes of the stage by begin, those of one time in the order of the lanes. only: empty for
  // all.
  void add_by_begin(int stage, const std::function<bool(const ItemRef&)>& only,
                    std::vector<ItemRef>& to) const;
  // The box at this time, or the nearest. The stage must have the stream.
  ItemRef nearest(int stage, StreamKind stream, double seconds) const;
  // The index of the first item that ends after this time.
  static size_t first_after(const StreamLane& lane, double seconds);
  size_t items() const { return items_; }
  int chunks() const { return chunks_; }
  int last_microbatch() const { return last_microbatch_; }
  bool has(Pass pass) const { return passes_ & (1u << static_cast<unsigned>(pass)); }
  bool has_recompute() const { return recompute_; }

 private:
  struct Stage {
    std::vector<StreamLane> lanes;
    std::vector<std::pair<int32_t, int32_t>> of_span;  // lane, item
  };
  std::shared_ptr<const Simulation> simulation_;
  std::vector<Stage> stages_;
  size_t items_ = 0;
  int chunks_ = 1, last_microbatch_ = 0;
  unsigned passes_ = 0;
  bool recompute_ = false;
};

}  // namespace shardscape::ui
