// The layout of virtual stages: which virtual stages each pipeline stage holds, and where its messages go.
#pragma once

#include <cstdint>
#include <optional>

#include "mesh/parallel_spec.h"

namespace shardscape {

// Positions of virtual stages:
// - Round: chunk c of stage s is virtual stage c·pp + s, so microbatches go round the pipeline.
// - Vee: odd chunks run back as virtual stage c·pp + pp - 1 - s. A microbatch turns on the last stage, and
//   embedding and head meet on the first stage (Qi et al., arXiv 2401.10241, section 6).
// - BothWays: stages s and pp - 1 - s both hold virtual stages s and pp - 1 - s; chunk 0 is nearer to the
//   embedding. The first half of the microbatches runs from stage 0 to the last stage, the second half runs
//   back (DeepSeek-AI, arXiv 2412.19437, section 3.2.1).
enum class ChunkLayout : uint8_t { Round, Vee, BothWays };

// After how many microbatches the order of actions repeats itself: never, the stages of the pipeline, or a
// group of microbatches.
enum class SchedulePeriod : uint8_t { Never, Stages, Group };

// Properties of a schedule. The defaults are those of a schedule without virtual stages.
struct ScheduleTraits {
  ChunkLayout layout = ChunkLayout::Round;
  bool splits_backward = false;  // some or all backwards run as input gradient and weight gradient
  bool overlaps_passes = false;  // a forward and a backward run at the same time
  bool interleaves = false;      // takes any number of virtual stages; a Vee has exactly two
  SchedulePeriod period = SchedulePeriod::Stages;
};
ScheduleTraits schedule_traits(ScheduleKind kind);
inline ChunkLayout chunk_layout(ScheduleKind kind) { return schedule_traits(kind).layout; }
inline bool splits_backward(ScheduleKind kind) { return schedule_traits(kind).splits_backward; }
// The schedule that runs. A pipeline of one stage has nothing to fill: it runs 1F1B, except that GPipe stays
// GPipe. With ep_comm_overlap, 1F1B runs a forward and a backward at once where can_pair_exchanges() holds.
ScheduleKind schedule_of(const ParallelSpec& parallel);
// Whether forwards and backwards can form overlapped pairs that hide expert exchanges, as in Megatron-core
// (combined_1f1b.py): on one stage, or on several stages with virtual stages, under Megatron's own gradient
// sync. Further restrictions of Megatron-core are errors (check_schedule.cpp).
bool can_pair_exchanges(const ParallelSpec& parallel);
// Whether forwards_first has an effect with some number of microbatches: under interleaved 1F1B.
bool can_run_forwards_first(const ParallelSpec& parallel);

// What a stage has of the beginning of the model: the vision tower, the embedding, both (also in a model
// without a tower), or nothing.
struct ModelStart {
  bool tower = false, embedding = false;
  constexpr ModelStart() = default;
  constexpr ModelStart(bool both) : tower(both), embedding(both) {}  // NOLINT: a flag for both
  constexpr ModelStart(bool holds_tower, bool holds_embedding)
      : tower(holds_tower), embedding(holds_embedding) {}
  constexpr explicit operator bool() const { return tower || embedding; }
  constexpr bool tower_alone() const { return tower && !embedding; }
  // The stage receives the tokens of images from the tower.
  constexpr bool embedding_alone() const { return embedding && !tower; }
  friend bool operator==(const ModelStart&, const ModelStart&) = default;
};

// vision_stage: the tower has a stage of its own, in front of the embedding's.
constexpr ModelStart model_start(int64_t virtual_stage, bool vision_stage) {
  return vision_stage ? ModelStart(virtual_stage == 0, virtual_stage == 1) : ModelStart(virtual_stage == 0);
}

struct StagePlace {
  int64_t stage = 0, chunk = 0;
  friend bool operator==(const StagePlace&, const StagePlace&) = default;
};

struct PipelineLayout {
  ChunkLayout layout = ChunkLayout::Round;
  int64_t stages = 1, chunks = 1;

  // Virtual stages of the model. Under BothWays, two stages hold each of them.
  int64_t virtual_stages() const { return layout == ChunkLayout::BothWays ? stages : stages * chunks; }
  int64_t virtual_stage(StagePlace at) const;
  // Whether the virtual stage begins or ends the model.
  bool first(StagePlace at) const { return virtual_stage(at) == 0; }
  bool last(StagePlace at) const { return virtual_stage(at) + 1 == virtual_stages(); }
  // The positions of the previous and the next virtual stage; nullopt at the ends of the model.
  std::optional<StagePlace> before(StagePlace at) const;
  std::optional<StagePlace> after(StagePlace at) const;
  // Whether the previous or next virtual stage is on another stage, so that messages are sent.
  bool receives(StagePlace at) const { return sent(at, before(at)); }
  bool sends(StagePlace at) const { return sent(at, after(at)); }
  // Messages that a stage sends for one microbatch on each of its chunks, forward and backward together. The
  // stage receives as many.
  int64_t messages(int64_t stage) const;
  // Whether a chunk of the stage ends with the head.
  bool holds_last(int64_t stage) const;
  // The number of microbatches that a chunk runs out of `all`, and the first of them.
  int64_t microbatches(int64_t all) const { return layout == ChunkLayout::BothWays ? all / 2 : all; }
  int64_t first_microbatch(StagePlace at, int64_t all) const { return goes_up(at) ? all / 2 : 0; }
  bool runs(StagePlace at, int64_t microbatch, int64_t all) const {
    return microbatch >= first_microbatch(at, all) &&
           microbatch < first_microbatch(at, all) + microbatches(all);
  }

 private:
  // BothWays: whether the microbatches of this chunk run from the last stage to stage 0.
  bool goes_up(StagePlace at) const {
    return layout == ChunkLayout::BothWays && virtual_stage(at) != at.stage;
  }
  static bool sent(StagePlace at, std::optional<StagePlace> to) { return to && to->stage != at.stage; }
  std::optional<StagePlace> neighbour(StagePlace at, int64_t step) const;
};

PipelineLayout pipeline_layout(const ParallelSpec& parallel);

}  // namespace shardscape
