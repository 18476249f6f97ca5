// How the memory of gradients goes up and down with the passes of a stage that make them
// (grad_sync/stage_gradients.h), for the timeline of memory and for the play of the allocator.
#pragma once

#include <limits>

#include "grad_sync/stage_gradients.h"
#include "memory/memories.h"
#include "pipeline/peak_candidates.h"
#include "plan/stage_layout.h"

namespace shardscape {

struct GradientBytes {
  int64_t whole = 0, reduced = 0;
  int64_t all() const { return whole + reduced; }
};

class GradientSteps {
 public:
  static constexpr size_t kStage = std::numeric_limits<size_t>::max();
  // Bytes > 0 come, bytes < 0 go. Of an instance, or of the stage.
  struct Change {
    size_t owner;
    bool reduced;
    int64_t bytes;
  };
  using Changes = std::vector<Change>;

  GradientSteps(const Memories& memories, const StageReport& stage, const StageLayout& layout);
  bool come_and_go() const { return of_.life != GradientLife::Always; }
  int64_t always() const { return of_.always; }

  // Around a pass over a virtual stage, and around the backward of each of its instances, the last one first.
  Changes begin_pass(const AccumulationStep& turn) const;
  bool comes(const AccumulationStep& turn)
      const;  // whether it brings whole gradients, op by op (SegmentLifetimes::Part::FirstBackward)
  int64_t whole(size_t instance) const { return whole_[instance]; }
  Changes end(size_t instance, const AccumulationStep& turn) const;
  Changes end_pass(const StageRange& range, const AccumulationStep& turn) const;
  // Of a virtual stage between its passes: behind the first of them, and behind the last.
  GradientBytes begun(const StageRange& range) const;
  GradientBytes ended(const StageRange& range) const;

 private:
  bool reduces(const AccumulationStep& turn) const {
    return of_.life == GradientLife::UntilReduced && (turn.last || of_.every_backward);
  }
  void shard(size_t instance, const AccumulationStep& turn, Changes& out) const;
  void free_whole(size_t instance, Changes& out) const;
  GradientBytes sum(const StageRange& range, bool reduced) const;

  StageGradients of_;
  std::vector<int64_t> whole_, reduced_;  // of instances
  std::vector<bool> roots_;               // whether they are no layers
};

}  // namespace shardscape
