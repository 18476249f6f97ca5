#include "plan/stage_program.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <span>
#include <utility>

#include "pipeline/pass_order.h"

namespace shardscape {
namespace {

constexpr Wait kInput{WaitKind::Input}, kStored{WaitKind::Stored}, kEarlierRun{WaitKind::EarlierRun},
    kEarlierGather{WaitKind::EarlierGather};

Wait on(uint32_t event) { return {WaitKind::Event, event}; }

// The passes of one virtual stage.
class PassWriter {
 public:
  // waits: gets the waits of the events.
  PassWriter(const StageLayout& layout, const StageRange& range, std::vector<Wait>& waits)
      : instances_(layout.instances), range_(range), places_(range.end - range.first), waits_(waits) {
    size_t layers = 0, offloaded = 0, first_layer = range.end;
    for (size_t i = range.first; i < range.end; ++i) {
      if (instances_[i].layer < 0) continue;
      first_layer = std::min(first_layer, i);
      ++layers;
      offloaded += instances_[i].of.offloaded;
    }
    const OffloadDistance distance(layers, offloaded);
    for (size_t i = range.first; i < range.end; ++i) {
      if (!instances_[i].of.offloaded) continue;
      const size_t layer = i - first_layer;
      drops_.push_back({std::min(first_layer + distance.drop_before(layer), range.end), i});
      // The replay of a group reads the checkpoint. The backward of the last layer of the group starts the
      // replay.
      loads_.push_back({std::max(first_layer + distance.load_before(layer), last_of_group(i)), i});
    }
    std::sort(drops_.begin(), drops_.end());
    std::sort(loads_.begin(), loads_.end());
  }

  PassEvents forward() {
    begin(kInput, 3);  // Gather, Run, Release
    for (const size_t i : order(PassDirection::Forward)) {
      const uint32_t gather = add(EventKind::Gather, LayerPart::Forward, i);
      const uint32_t drop = drop_before(i);
      run(LayerPart::Forward, i, i, {gather, drop});
      release(LayerPart::Forward, i, i);
      if (!instances_[i].of.offloaded) continue;
      place(i).store = add(EventKind::Store, LayerPart::Forward, i);
      wait(*last_run_);
    }
    drop_before(range_.end);
    return std::move(pass_);
  }

  // weights: the weight gradients are computed together with the input gradient.
  PassEvents backward(bool weights) {
    begin(kInput, weights ? 4 : 2);  // Gather, Run; Run and Release of the weight gradients
    for (const size_t i : order(PassDirection::Backward)) {
      const uint32_t gather = add(EventKind::Gather, LayerPart::Backward, i);
      load_before(i);
      if (instances_[i].ends_group) replay(instances_[i].group, i, gather);
      run(LayerPart::Backward, i, i, {gather, place(i).load});
      pass_.back().input = place(i).input;
      if (weights) weight(i, on(gather));
    }
    return std::move(pass_);
  }

  PassEvents weights() {
    begin(std::nullopt, 2);  // Run, Release
    for (const size_t i : order(PassDirection::Backward)) weight(i, kEarlierGather);
    return std::move(pass_);
  }

 private:
  // The Drop or Load of an offloaded instance happens before the instance `next`.
  struct Transfer {
    size_t next, instance;
    auto operator<=>(const Transfer&) const = default;
  };
  static std::span<const Transfer> before(size_t next, const std::vector<Transfer>& transfers) {
    const auto first = std::lower_bound(transfers.begin(), transfers.end(), Transfer{next, 0});
    return {first, std::lower_bound(first, transfers.end(), Transfer{next + 1, 0})};
  }
  struct Place {
    uint32_t store = kNoEvent, load = kNoEvent;  // events of the present pass
    uint32_t input = kNoEvent;                   // Event::input of the backward
  };
  Place& place(size_t instance) { return places_[instance - range_.first]; }
  PassOrder order(PassDirection direction) const { return {range_.first, range_.end, direction}; }

  // first: what the first Run waits for in place of a Run before it. typical_events: of an instance in the
  // pass, without replay and offloading.
  void begin(std::optional<Wait> first, size_t typical_events) {
    pass_.reserve(typical_events * places_.size());
    last_run_ = first;
    for (Place& at : places_) at.store = at.load = at.input = kNoEvent;
  }

  // Appends an event and returns its index.
  uint32_t add(EventKind kind, LayerPart part, size_t instance) {
    pass_.push_back({kind, part, 0, static_cast<uint32_t>(waits_.size()), kNoEvent, instance, instance});
    return static_cast<uint32_t>(pass_.size() - 1);
  }
  // Adds a wait to the latest event.
  void wait(Wait wait) {
    waits_.push_back(wait);
    ++pass_.back().wait_count;
  }

  // reads: events; kNoEvent: none.
  uint32_t run(LayerPart part, size_t instance, size_t cause, std::initializer_list<uint32_t> reads) {
    const uint32_t out = add(EventKind::Run, part, instance);
    pass_.back().cause = cause;
    if (last_run_) wait(*last_run_);
    for (const uint32_t event : reads)
      if (event != kNoEvent) wait(on(event));
    last_run_ = on(out);
    return out;
  }

  void release(LayerPart part, size_t instance, size_t cause) {
    add(EventKind::Release, part, instance);
    pass_.back().cause = cause;
    wait(*last_run_);
  }

  // Returns the latest Drop; kNoEvent: none.
  uint32_t drop_before(size_t next) {
    uint32_t out = kNoEvent;
    for (const Transfer& drop : before(next, drops_)) {
      const size_t i = drop.instance;
      if (i >= next) continue;
      out = add(EventKind::Drop, LayerPart::Forward, i);
      wait(on(place(i).store));
    }
    return out;
  }

  void load_before(size_t next) {
    const std::span<const Transfer> loads = before(next, loads_);
    for (auto load = loads.rbegin(); load != loads.rend(); ++load) {
      const size_t i = load->instance;
      if (i > next) continue;
      place(i).load = add(EventKind::Load, LayerPart::Backward, i);
      wait(kStored);
      wait(last_run_->kind == WaitKind::Event ? *last_run_ : kEarlierRun);
    }
  }

  // Each layer of the group reads the result of the layer before it. The parameters of the last layer stay
  // for its backward. gather: that of the last layer.
  void replay(size_t first, size_t last, uint32_t gather) {
    uint32_t input = kNoEvent;
    for (const size_t i : PassOrder(first, last + 1, PassDirection::Forward)) {
      const uint32_t own_gather = add(EventKind::Gather, LayerPart::Replay, i);
      pass_.back().cause = last;
      place(i).input = input;
      const uint32_t replayed = run(LayerPart::Replay, i, last, {gather, own_gather, place(i).load});
      pass_.back().input = std::exchange(input, replayed);
      if (i < last) release(LayerPart::Replay, i, last);
    }
  }

  void weight(size_t instance, Wait gather) {
    run(LayerPart::Weight, instance, instance, {});
    wait(gather);
    release(LayerPart::Backward, instance, instance);
  }

  size_t last_of_group(size_t instance) const {
    if (instances_[instance].of.checkpoint_policy == CheckpointPolicy::Activations) return instance;
    size_t last = instance;
    while (last + 1 < range_.end && instances_[last + 1].group == instances_[instance].group) ++last;
    return last;
  }

  const std::vector<StageInstance>& instances_;
  const StageRange range_;
  std::vector<Place> places_;            // by instance of the range
  std::vector<Transfer> drops_, loads_;  // ascending
  PassEvents pass_;
  std::optional<Wait> last_run_;  // the latest Run; before the first Run: what the first Run waits for
  std::vector<Wait>& waits_;
};

}  // namespace

OffloadDistance::OffloadDistance(size_t layers, size_t offloaded)
    : distance_(layers > offloaded ? layers - 1 - offloaded : 0) {}

StageProgram::StageProgram(StageLayout layout) : layout_(std::move(layout)) {
  constexpr size_t kTypicalWaits = 13;  // of an instance in all passes, without replay and offloading
  waits_.reserve(kTypicalWaits * layout_.instances.size());
  for (const StageRange& range : layout_.chunks) {
    PassWriter write(layout_, range, waits_);
    ChunkPasses& of = chunks_.emplace_back();
    of.forward = write.forward();
    of.backward = write.backward(true);
    of.input = write.backward(false);
    of.weight = write.weights();
  }
}

std::span<const Event> StageProgram::pass(ActionKind kind, size_t chunk) const {
  const ChunkPasses& of = chunks_[chunk];
  switch (kind) {
    case ActionKind::Forward: return of.forward;
    case ActionKind::Backward: return of.backward;
    case ActionKind::BackwardInput: return of.input;
    case ActionKind::BackwardWeight: return of.weight;
    case ActionKind::ReceiveForward:
    case ActionKind::SendForward:
    case ActionKind::ReceiveBackward:
    case ActionKind::SendBackward:
    case ActionKind::GradReduce:
    case ActionKind::Optimizer: return {};
  }
  return {};
}

StageProgram stage_program(const Report& report, const StageReport& stage) {
  return StageProgram(stage_layout(report, stage));
}

}  // namespace shardscape
