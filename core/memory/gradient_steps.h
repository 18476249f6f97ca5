// The memory of gradients over the passes that compute them (grad_sync/stage_gradients.h), for the memory
// timeline and the allocator replay. Bytes are those of one rank.
#pragma once

#include <limits>

#include "grad_sync/stage_gradients.h"
#include "memory/segment_memories.h"
#include "pipeline/peak_candidates.h"
#include "plan/stage_layout.h"

namespace shardscape {

struct GradientBytes {
  int64_t whole = 0, reduced = 0;
  int64_t all() const { return whole + reduced; }
};

// Whether the optimizer step copies gradients (GradientSteps::copies). Without replicas, too.
bool copies_gradients(const Design& design);

class GradientSteps {
 public:
  static constexpr size_t kStage = std::numeric_limits<size_t>::max();
  // Bytes > 0 are allocated, bytes < 0 freed. owner: an instance, or kStage.
  struct Change {
    size_t owner;
    bool reduced;
    int64_t bytes;
  };
  using Changes = std::vector<Change>;

  GradientSteps(const SegmentMemories& memories, const StageReport& stage, const StageLayout& layout);
  // Bytes of tensors that the optimizer step allocates: DeepSpeed's ZeRO-1 and ZeRO-2 update a flat float32
  // copy of the rank's gradients (stage_1_and_2.py, step). ZeRO-1 first reduces gradients in a bucket
  // (ipg_buffer) and collects the rank's part (copy_grads_in_partition); ZeRO-2 has done both during the
  // backward.
  const std::vector<int64_t>& copies() const { return copies_; }
  bool are_transient() const { return of_.life != GradientLife::Always; }
  int64_t always() const { return of_.always; }

  // Changes at the begin of a pass over a virtual stage. end(): after the backward of an instance, last
  // instance first. end_pass(): at the end of the pass.
  Changes begin_pass(const AccumulationStep& accumulation) const;
  // Whether the pass allocates whole gradients, op by op (SegmentLifetimes::Part::FirstBackward).
  bool allocates_gradients(const AccumulationStep& accumulation) const;
  int64_t whole(size_t instance) const { return whole_[instance]; }
  Changes end(size_t instance, const AccumulationStep& accumulation) const;
  Changes end_pass(const StageRange& range, const AccumulationStep& accumulation) const;
  // Gradients of a virtual stage after its first backward (begun) and after its last backward (ended).
  GradientBytes begun(const StageRange& range) const;
  GradientBytes ended(const StageRange& range) const;

 private:
  bool reduces(const AccumulationStep& accumulation) const {
    return of_.life == GradientLife::UntilReduced && (accumulation.last || of_.every_backward);
  }
  void shard(size_t instance, const AccumulationStep& accumulation, Changes& out) const;
  void free_whole(size_t instance, Changes& out) const;
  GradientBytes sum(const StageRange& range, bool reduced) const;

  StageGradients of_;
  std::vector<int64_t> copies_;
  std::vector<int64_t> whole_, reduced_;  // by instance, in bytes
  std::vector<bool> roots_;               // by instance: whether it is the embedding or the head
};

}  // namespace shardscape
