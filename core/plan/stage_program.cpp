#include "plan/stage_program.h"

#include <algorithm>

namespace shardscape {
namespace {

// The passes of one virtual stage.
class PassWriter {
 public:
  PassWriter(const StageLayout& layout, const StageRange& range)
      : instances_(layout.instances), range_(range), drops_(size(), range.end), loads_(size(), range.end) {
    size_t layers = 0, offloaded = 0;
    first_layer_ = range.end;
    for (size_t i = range.first; i < range.end; ++i) {
      if (instances_[i].layer < 0) continue;
      first_layer_ = std::min(first_layer_, i);
      ++layers;
      offloaded += instances_[i].of.offloaded;
    }
    const OffloadDistance distance(layers, offloaded);
    for (size_t i = range.first; i < range.end; ++i) {
      if (!instances_[i].of.offloaded) continue;
      const size_t layer = i - first_layer_;
      drops_[i - range.first] = std::min(first_layer_ + distance.drop_before(layer), range.end);
      // The replay of a group reads the checkpoint. The backward of the last layer of the group starts the
      // replay.
      loads_[i - range.first] = std::max(first_layer_ + distance.load_before(layer), last_of_group(i));
    }
  }

  PassEvents forward() {
    constexpr size_t kUsual = 3;  // events of an instance without offloading
    pass_.reserve(kUsual * size());
    for (size_t i = range_.first; i < range_.end; ++i) {
      add(EventKind::Gather, LayerPart::Forward, i);
      drop_before(i);
      add(EventKind::Run, LayerPart::Forward, i);
      add(EventKind::Release, LayerPart::Forward, i);
      if (instances_[i].of.offloaded) add(EventKind::Store, LayerPart::Forward, i);
    }
    drop_before(range_.end);
    return std::move(pass_);
  }

  // weights: the weight gradients are computed together with the input gradient.
  PassEvents backward(bool weights) {
    constexpr size_t kUsual = 4;  // events of an instance without replay and offloading
    pass_.reserve(kUsual * size());
    for (size_t i = range_.end; i-- > range_.first;) {
      add(EventKind::Gather, LayerPart::Backward, i);
      for (size_t j = i + 1; j-- > range_.first;)
        if (instances_[j].of.offloaded && loads_[j - range_.first] == i)
          add(EventKind::Load, LayerPart::Backward, j);
      if (instances_[i].ends_group) replay(instances_[i].group, i);
      add(EventKind::Run, LayerPart::Backward, i);
      if (weights) weight(i);
    }
    return std::move(pass_);
  }

  PassEvents weights() {
    pass_.reserve(2 * size());
    for (size_t i = range_.end; i-- > range_.first;) weight(i);
    return std::move(pass_);
  }

 private:
  size_t size() const { return range_.end - range_.first; }
  void add(EventKind kind, LayerPart part, size_t instance) {
    pass_.push_back({kind, part, instance, instance});
  }

  void drop_before(size_t next) {
    for (size_t i = range_.first; i < std::min(next, range_.end); ++i)
      if (instances_[i].of.offloaded && drops_[i - range_.first] == next)
        add(EventKind::Drop, LayerPart::Forward, i);
  }

  // Each layer of the group reads the result of the layer before it. The parameters of the last layer stay
  // for its backward.
  void replay(size_t first, size_t last) {
    for (size_t i = first; i <= last; ++i) {
      pass_.push_back({EventKind::Gather, LayerPart::Replay, i, last});
      pass_.push_back({EventKind::Run, LayerPart::Replay, i, last});
      if (i < last) pass_.push_back({EventKind::Release, LayerPart::Replay, i, last});
    }
  }

  void weight(size_t instance) {
    add(EventKind::Run, LayerPart::Weight, instance);
    add(EventKind::Release, LayerPart::Backward, instance);
  }

  size_t last_of_group(size_t instance) const {
    if (instances_[instance].of.checkpoint_policy == CheckpointPolicy::Activations) return instance;
    size_t last = instance;
    while (last + 1 < range_.end && instances_[last + 1].group == instances_[instance].group) ++last;
    return last;
  }

  const std::vector<StageInstance>& instances_;
  const StageRange range_;
  size_t first_layer_ = 0;
  // By instance of the range: the instance before which the Drop or Load happens.
  std::vector<size_t> drops_, loads_;
  PassEvents pass_;
};

}  // namespace

OffloadDistance::OffloadDistance(size_t layers, size_t offloaded)
    : distance_(layers > offloaded ? layers - 1 - offloaded : 0) {}

StageProgram::StageProgram(StageLayout layout) : layout_(std::move(layout)) {
  for (const StageRange& range : layout_.chunks) {
    PassWriter write(layout_, range);
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
