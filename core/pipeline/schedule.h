// Pipeline schedules: the ordered actions of each stage, and the invariants of every schedule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/plan_cache.h"
#include "mesh/pipeline_layout.h"

namespace shardscape {

// Backward makes all gradients at once. BackwardInput makes the gradient of the chunk's input; BackwardWeight
// makes the deferred weight gradients some time later.
enum class ActionKind : uint8_t {
  Forward,
  Backward,
  ReceiveForward,
  SendForward,
  ReceiveBackward,
  SendBackward,
  GradReduce,
  Optimizer,
  BackwardInput,
  BackwardWeight
};
// The name in files: "forward", "backward_input".
std::string_view action_name(ActionKind kind);
// The name for people: "backward of the input".
std::string_view action_label(ActionKind kind);

struct Action {
  ActionKind kind;
  int microbatch = -1;  // -1 for GradReduce and Optimizer
  int chunk = 0;        // virtual stage on this stage; 0 for GradReduce and Optimizer
  // A Forward and the Backward right after it that run at once.
  bool overlapped = false;
  friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
  int stages = 1, microbatches = 1;
  std::vector<std::vector<Action>> actions;  // per stage, in order of execution
  int chunks = 1;                            // virtual stages per stage
  ChunkLayout layout = ChunkLayout::Round;
  bool forward_only = false;  // inference: no backward, gradient reduction or optimizer
  PipelineLayout places() const { return {layout, stages, chunks}; }
};

// ReceiveForward of a virtual stage pairs with SendForward of the previous virtual stage, ReceiveBackward
// with SendBackward of the next one. Neighbours on one stage send nothing. group: see
// ParallelSpec::microbatch_group (Flexible only). passes: ZbAuto only. cache: stores the orders that zb-auto
// finds. Throws std::invalid_argument if the schedule does not exist for these numbers.
Schedule make_schedule(ScheduleKind kind, int stages, int microbatches, int chunks = 1, int group = 0,
                       const PassPlan& passes = {}, PlanCache* cache = nullptr);
std::vector<Action> make_stage_schedule(ScheduleKind kind, int stage, int stages, int microbatches,
                                        int chunks = 1, int group = 0, const PassPlan& passes = {},
                                        PlanCache* cache = nullptr);
// The schedule of a design.
Schedule make_schedule(const ParallelSpec& parallel, int microbatches, PlanCache* cache = nullptr);
std::vector<Action> make_stage_schedule(const ParallelSpec& parallel, int stage, int microbatches,
                                        PlanCache* cache = nullptr);
// Everything that a design's schedule depends on except the number of microbatches. Designs with the same
// actions have the same key, although they choose the schedule by other fields.
CacheKey schedule_key(const ParallelSpec& parallel);
// Number of microbatches after which a design's schedule repeats itself between warm-up and cool-down. 0: it
// never repeats. GPipe runs all forwards first. Partly filled groups make the flexible schedule's group sizes
// depend on the number of microbatches. ZbAuto plans all microbatches together.
int repeats_after(const ParallelSpec& parallel, int microbatches);
// Number of microbatches, at most `microbatches`, that reach every state that the schedule reaches: a few
// periods, since it repeats itself between warm-up and cool-down.
int representative_microbatches(const ParallelSpec& parallel, int microbatches);

// For a transfer between two virtual stages: the chunk of the one nearer to the embedding.
int upstream_chunk(const PipelineLayout& places, const Action& transfer, int stage);

// Violated invariants, as text; empty for a valid schedule. Every action occurs once, dependencies hold,
// sends and receives pair in the same order on both ends, and blocking execution in order finishes on every
// stage.
std::vector<std::string> violations(const Schedule& schedule);

// Per stage, the largest number of microbatches between their forward and the end of their backward, weight
// gradients included. A microbatch counts once per chunk that holds it.
std::vector<int> microbatches_in_flight(const Schedule& schedule);

// Candidates for the peak of several quantities on a stage. A microbatch in flight in chunk c holds
// held[c][i] of quantity i, and deferred[c][i] until its deferred weight gradient runs (empty: nothing).
// Returns the totals per quantity at the Pareto-maximal points of the schedule: no other point has at least
// as much of each quantity.
std::vector<std::vector<int64_t>> pareto_peaks(const std::vector<Action>& actions,
                                               const std::vector<std::vector<int64_t>>& held,
                                               const std::vector<std::vector<int64_t>>& deferred = {});

}  // namespace shardscape
