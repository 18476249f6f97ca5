// Memory profiles of the forward and backward passes of a stage's virtual stages. They do not depend on the
// schedule. All bytes are those of one rank.
#pragma once

#include "memory/action_terms.h"
#include "memory/gradient_steps.h"
#include "memory/segment_memories.h"
#include "plan/stage_program.h"

namespace shardscape {

class StageProfiles {
 protected:
  using Part = SegmentLifetimes::Part;

  // The peak of an instance while it runs.
  struct Level {
    CategoryBytes bytes{};
    // Relative to the chunk. In the replay of a group, the replayed instance.
    size_t instance = 0;
    Part part = Part::Forward;
    GradientBytes gradients{};  // gradients in bytes that have been allocated since the pass began
    bool after_run = false;     // the instance has run, and its gradients are reduced
  };

  // A forward or backward of one virtual stage, relative to the memory before the pass.
  struct Profile {
    Level peak;
    CategoryBytes change{};
    std::vector<Level> levels;  // of its instances, in execution order
    // Messages that the pass consumes and messages that it produces.
    CategoryBytes received{}, sent{};
  };

  // at: the stage's place in the pipeline, which differs from the place of its representative.
  StageProfiles(SegmentMemories& memories, const StageReport& stage, int at);

  ClassKey key(size_t instance) const {
    return {instances_[instance].segment, instances_[instance].of.checkpoint_policy};
  }
  bool offloaded(size_t instance) const { return instances_[instance].of.offloaded; }
  SegmentKind kind(size_t instance) const {
    return graph_.segments[static_cast<size_t>(instances_[instance].segment)].kind;
  }
  // Whether the first instance of a chunk reads the stream of the chunk before.
  bool receives_stream(size_t instance) const {
    switch (kind(instance)) {
      case SegmentKind::Tower: return false;
      case SegmentKind::Embedding: return stage_.first.embedding_alone();  // the tokens of images
      case SegmentKind::Layer:
      case SegmentKind::Head: return true;
    }
    return false;
  }
  const SegmentMemory& memory(size_t instance) { return m_.of(key(instance)).memory; }
  bool receives(size_t chunk) const { return places_.receives({place_, static_cast<int64_t>(chunk)}); }
  bool sends(size_t chunk) const { return places_.sends({place_, static_cast<int64_t>(chunk)}); }
  // Whether the saved input of the instance is its receive buffer.
  bool input_received(size_t instance) const;
  // Whether the instance before saves the input of this one, as its result. Both hold one tensor.
  bool input_shared(size_t instance) const;
  // Bytes of a shared input, which the instance before counts; saved: if this instance saves the input, too.
  CategoryBytes shared_input(size_t instance, bool saved) const;
  // Bytes of the gradients of carried tensors in the messages at the begin or end of a chunk.
  CategoryBytes carried_gradients(size_t chunk, bool end) const;
  // Bytes of these gradients that a backward of the instance begins to hold, less those that it is the last
  // to hold.
  CategoryBytes carried_change(size_t instance) const;

  SegmentMemories& m_;
  const Report& r_;
  const StageReport& stage_;
  const int place_;
  const Graph& graph_;
  const bool overlaps_passes_;  // the schedule overlaps passes, so levels of instances are needed
  const bool holds_messages_, holds_outputs_;
  const PipelineLayout places_;
  const StageProgram program_;
  const std::vector<StageInstance>& instances_;
  const GradientSteps gradients_;
  const std::vector<int64_t> carried_;  // bytes of the gradients of carried tensors, by index
  std::vector<size_t> starts_;          // first instance of every chunk, and the end
  std::vector<int> classes_;            // class of every chunk
  // First chunk of every class. The vectors below are indexed by class.
  std::vector<size_t> firsts_;
  std::vector<Profile> forwards_;
  std::vector<std::array<Profile, kAccumulationKinds>> backwards_;  // second index: accumulation_index
  std::vector<ChunkTerms<CategoryBytes>> terms_;
  std::vector<ChunkTerms<int64_t>> totals_;

 private:
  class BackwardReader;
  bool same_class(size_t a, size_t b) const;
  std::vector<AccumulationStep> accumulations() const;
  Profile forward(size_t chunk);
  Profile backward(size_t chunk, const AccumulationStep& accumulation, bool split);
  void hold_forward_messages(size_t chunk, Profile& f);
  void hold_backward_messages(size_t chunk, const Profile& f, Profile& b);
  CategoryBytes deferred_bytes(size_t begin, size_t end) const;
  WeightTerms<CategoryBytes> weights(size_t chunk, const AccumulationStep& accumulation) const;
  ActionTerms<CategoryBytes> terms(const Profile& p) const;
  void add_terms(size_t chunk);
};

}  // namespace shardscape
