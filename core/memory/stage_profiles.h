// What the forwards and backwards of a stage's virtual stages do with memory, whatever the schedule makes of
// them.
#pragma once

#include "memory/action_terms.h"
#include "memory/gradient_steps.h"
#include "memory/memories.h"
#include "plan/stage_program.h"

namespace shardscape {

class StageProfiles {
 protected:
  using Part = SegmentLifetimes::Part;

  // The fullest moment of an instance at work.
  struct Level {
    CategoryBytes bytes{};
    size_t instance = 0;  // of the chunk, where it is: a replay runs others of its group
    Part part = Part::Forward;
    GradientBytes gradients{};  // in bytes, that have come since it began
    bool behind = false;        // once it has run: as its gradients are reduced
  };

  // A forward or backward of one virtual stage, relative to what is there before it.
  struct Profile {
    Level peak;
    CategoryBytes change{};
    std::vector<Level> levels;  // of its instances, in the order that they run in
    CategoryBytes received{},
        sent{};  // what it takes over from the action before, and leaves to the one after
  };

  // at: in the pipeline, where the stage stands for another.
  StageProfiles(Memories& memories, const StageReport& stage, int at);

  ClassKey key(size_t instance) const {
    return {instances_[instance].segment, instances_[instance].of.checkpoint_policy};
  }
  bool offloaded(size_t instance) const { return instances_[instance].of.offloaded; }
  SegmentKind kind(size_t instance) const {
    return graph_.segments[static_cast<size_t>(instances_[instance].segment)].kind;
  }
  const SegmentMemory& memory(size_t instance) { return m_.of(key(instance)).memory; }
  bool receives(size_t chunk) const { return places_.receives({place_, static_cast<int64_t>(chunk)}); }
  bool sends(size_t chunk) const { return places_.sends({place_, static_cast<int64_t>(chunk)}); }
  // Whether its input lies in a buffer to receive into for as long as it is kept.
  bool input_received(size_t instance) const;

  Memories& m_;
  const Report& r_;
  const StageReport& stage_;
  const int place_;
  const Graph& graph_;
  const bool pairs_;  // whether levels of instances are asked for
  const bool keeps_messages_;
  const PipelineLayout places_;
  const StageProgram program_;
  const std::vector<StageInstance>& instances_;
  const GradientSteps gradients_;
  std::vector<size_t> starts_;  // of every chunk, and the end
  std::vector<int> classes_;    // of every chunk
  std::vector<size_t> firsts_;  // chunk of every class; what follows is by class
  std::vector<Profile> forwards_;
  std::vector<std::array<Profile, kAccumulationKinds>> backwards_;  // by accumulation_index
  std::vector<ChunkTerms<CategoryBytes>> terms_;
  std::vector<ChunkTerms<int64_t>> totals_;

 private:
  class BackwardReader;
  bool alike(size_t a, size_t b) const;
  std::vector<AccumulationStep> turns() const;
  Profile forward(size_t chunk);
  Profile backward(size_t chunk, const AccumulationStep& turn, bool split);
  void keep_forward(size_t chunk, Profile& f);
  void keep_backward(size_t chunk, const Profile& f, Profile& b);
  CategoryBytes waiting(size_t begin, size_t end) const;
  WeightTerms<CategoryBytes> weights(size_t chunk, const AccumulationStep& turn) const;
  ActionTerms<CategoryBytes> terms(const Profile& p) const;
  void add_terms(size_t chunk);
};

}  // namespace shardscape
