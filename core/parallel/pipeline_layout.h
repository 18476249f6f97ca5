// Which virtual stages of the model each pipeline stage holds, and whom messages between them go to.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/parallel_spec.h"

namespace shardscape {

// Round: chunk c of stage s is virtual stage c·pp + s, so that microbatches go round the pipeline. Vee: odd chunks run back
// (virtual stage c·pp + pp - 1 - s), so that a microbatch turns on the last stage, and embedding and head meet on the first (Qi
// et al., arXiv 2401.10241, section 6). BothWays: stages s and pp - 1 - s both hold these two virtual stages,
// the one nearer to the embedding as chunk 0; the first half of the microbatches goes down, from stage 0 to the last, and the other
// half up (DeepSeek-AI, arXiv 2412.19437, section 3.2.1).
enum class ChunkLayout : uint8_t { Round, Vee, BothWays };

ChunkLayout chunk_layout(ScheduleKind kind);
// Whether backwards are split into the gradient of the input and those of weights, all or some of them.
bool splits_backward(ScheduleKind kind);
// What runs: a pipeline of one stage has nothing to fill, whatever the order between stages would be. Where 1F1B would run a forward and a backward
// in turn it runs them at once if exchanges of experts are to be hidden, as Megatron-core does (combined_1f1b.py): over one stage, or
// over several with virtual stages, under its own gradient sync. What it refuses beside that is an error (check_schedule.cpp).
ScheduleKind schedule_of(const ParallelSpec& parallel);
bool can_pair_exchanges(const ParallelSpec& parallel);

struct StagePlace {
  int64_t stage = 0, chunk = 0;
  friend bool operator==(const StagePlace&, const StagePlace&) = default;
};

struct PipelineLayout {
  ChunkLayout layout = ChunkLayout::Round;
  int64_t stages = 1, chunks = 1;

  // Of the model; under BothWays each is on two stages.
  int64_t virtual_stages() const { return layout == ChunkLayout::BothWays ? stages : stages * chunks; }
  int64_t virtual_stage(StagePlace at) const;
  // Whether it begins with the embedding, or ends with the head.
  bool first(StagePlace at) const { return virtual_stage(at) == 0; }
  bool last(StagePlace at) const { return virtual_stage(at) + 1 == virtual_stages(); }
  // Where its input comes from, and where its output goes; nothing at the ends of the model.
  std::optional<StagePlace> before(StagePlace at) const;
  std::optional<StagePlace> after(StagePlace at) const;
  // The same where that is another stage, so that messages go between.
  bool receives(StagePlace at) const { return sent(at, before(at)); }
  bool sends(StagePlace at) const { return sent(at, after(at)); }
  // Messages that a stage sends for one microbatch on each of its chunks, forward and backward together; as many come in.
  int64_t messages(int64_t stage) const;
  // Whether the stage has a chunk that begins with the embedding, or one that ends with the head.
  bool holds_first(int64_t stage) const;
  bool holds_last(int64_t stage) const;
  // The microbatches that a chunk runs, of so many: how many, and the first of them.
  int64_t microbatches(int64_t all) const { return layout == ChunkLayout::BothWays ? all / 2 : all; }
  int64_t first_microbatch(StagePlace at, int64_t all) const { return goes_up(at) ? all / 2 : 0; }
  bool runs(StagePlace at, int64_t microbatch, int64_t all) const {
    return microbatch >= first_microbatch(at, all) && microbatch < first_microbatch(at, all) + microbatches(all);
  }

 private:
  // BothWays: whether the microbatches of this chunk come from the stage behind.
  bool goes_up(StagePlace at) const { return layout == ChunkLayout::BothWays && virtual_stage(at) != at.stage; }
  static bool sent(StagePlace at, std::optional<StagePlace> to) { return to && to->stage != at.stage; }
  std::optional<StagePlace> neighbour(StagePlace at, int64_t step) const;
};

PipelineLayout pipeline_layout(const ParallelSpec& parallel);

}  // namespace shardscape
