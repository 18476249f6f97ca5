// Pipeline schedules: lists of actions per stage, and the invariants that hold whatever made them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/pipeline_layout.h"

namespace shardscape {

// Backward makes all gradients at once; BackwardInput that of the chunk's input and BackwardWeight, some time after it, those
// of parameters.
enum class ActionKind : uint8_t {
  Forward, Backward, ReceiveForward, SendForward, ReceiveBackward, SendBackward, GradReduce, Optimizer,
  BackwardInput, BackwardWeight
};
std::string_view action_name(ActionKind kind);   // "forward", "backward_input", as files say it
std::string_view action_label(ActionKind kind);  // "backward of the input", as people do

struct Action {
  ActionKind kind;
  int microbatch = -1;  // -1 for GradReduce and Optimizer
  int chunk = 0;        // virtual stage on this stage; 0 for GradReduce and Optimizer
  bool overlapped = false;  // a Forward and the Backward after it, which run at once
  friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
  int stages = 1, microbatches = 1;
  std::vector<std::vector<Action>> actions;  // per stage, in order of execution
  int chunks = 1;                            // virtual stages per stage
  ChunkLayout layout = ChunkLayout::Round;
  bool forward_only = false;                 // of inference: no backward, and nothing once a step
  PipelineLayout places() const { return {layout, stages, chunks}; }
};

// ReceiveForward of a virtual stage pairs with SendForward of the one before, ReceiveBackward with SendBackward of the one
// after; neighbours on one stage send nothing. std::invalid_argument unless can_schedule.
// group: of the flexible schedule, see ParallelSpec::microbatch_group. passes: of ZbAuto.
Schedule make_schedule(ScheduleKind kind, int stages, int microbatches, int chunks = 1, int group = 0, const PassPlan& passes = {});
std::vector<Action> make_stage_schedule(ScheduleKind kind, int stage, int stages, int microbatches, int chunks = 1, int group = 0, const PassPlan& passes = {});
// Those of a design.
Schedule make_schedule(const ParallelSpec& parallel, int microbatches);
std::vector<Action> make_stage_schedule(const ParallelSpec& parallel, int stage, int microbatches);
// All that a design's schedule depends on beside the number of its microbatches.
std::vector<int64_t> schedule_key(const ParallelSpec& parallel);
// Microbatches after which a design's schedule repeats itself between warm-up and cool-down. 0: never; GPipe runs all forwards first, the
// sizes of the flexible schedule's groups depend on how many microbatches there are where they do not fill them, and ZbAuto looks at all.
int repeats_after(const ParallelSpec& parallel, int microbatches);
// As many of so many microbatches as show all that the schedule ever holds: between warm-up and cool-down it repeats itself.
int telling_microbatches(const ParallelSpec& parallel, int microbatches);

// Chunk of the virtual stage nearer to the embedding, of the two between which a transfer goes.
int upstream_chunk(const PipelineLayout& places, const Action& transfer, int stage);

// Empty when every action is there once, dependencies hold, sends and receives pair in the same order on both ends and
// blocking execution in order finishes on every stage.
std::vector<std::string> violations(const Schedule& schedule);

// Largest number of microbatches whose forward ran and whose backward has not ended, gradients of weights included, per stage;
// a microbatch counts once for each chunk that holds it.
std::vector<int> microbatches_in_flight(const Schedule& schedule);

// What a stage holds when it holds most. A microbatch in flight in chunk c holds held[c][i] of quantity i, and waiting[c][i]
// between the two parts of its backward (empty: nothing); the result are the totals per quantity at every moment at which none
// other has as much or more of each.
std::vector<std::vector<int64_t>> fullest_moments(const std::vector<Action>& actions,
                                                  const std::vector<std::vector<int64_t>>& held,
                                                  const std::vector<std::vector<int64_t>>& waiting = {});

}  // namespace shardscape
