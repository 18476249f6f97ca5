// Memory over a step: what one rank of each stage has allocated while its schedule runs, the fullest moment,
// and what fills it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/segment_memory.h"
#include "pipeline/schedule.h"
#include "plan/report.h"

namespace shardscape {

// Where in an action it is fullest.
struct PeakPlace {
  int64_t instance = -1;  // index into the StageLayout's; -1: none is at work
  SegmentLifetimes::Part part = SegmentLifetimes::Part::Forward;
  OpId op = -1;         // -1: as the segment begins
  bool behind = false;  // once it has run: as its gradients are reduced
};

// Bytes while one action of the schedule runs, by category; Runtime, which lies outside of the allocator,
// included.
struct ActionMemory {
  Action action{};
  CategoryBytes begin{}, peak{}, end{};
  PeakPlace at{};
};

// What takes memory at the fullest moment: "Attention, saved by 12 layers, 2 microbatches".
inline constexpr const char* kReceiveBuffers = "buffers to receive into";  // the name of theirs
struct MemoryContributor {
  std::string name;
  MemoryCategory category = MemoryCategory::Activations;
  int64_t bytes = 0;
};

struct StageMemory {
  int stage = 0;
  CategoryBytes fixed{};                       // there all along: states, workspaces, runtime
  std::vector<MemoryContributor> fixed_parts;  // what that is made of
  CategoryBytes
      at_peak{};  // at the fullest moment; Runtime with what the allocator has reserved but not handed out
  int64_t allocated = 0;  // by tensors at that moment (torch.cuda.max_memory_allocated)
  int64_t reserved = 0;   // by the allocator, which takes memory in segments (max_memory_reserved)
  int64_t in_use = 0;     // with the runtime and communicators, as nvidia-smi shows: all of at_peak
  // Where the fullest moment is.
  int action = 0;  // index among the actions of the stage
  Action of{};
  int64_t layer = -1;  // of the model; -1: outside of layers
  int segment = -1;    // -1: between actions
  PeakPlace at{};
  std::string moment;  // "backward of microbatch 3, layer 79: Down projection, gradient"
  std::vector<MemoryContributor> contributors;  // add up to at_peak, largest first
};

struct MemoryTimeline {
  std::vector<StageMemory> stages;
  int peak_stage = 0;    // most in use
  bool fits = false;     // on the design's accelerator
  int64_t capacity = 0;  // of it; 0: none is known
};

// Of a valid report. Nothing when stopped.
std::shared_ptr<const MemoryTimeline> memory_timeline(const Report& report, std::stop_token stop = {});

// What memory_timeline says of the fullest stage, of an outline (plan/bound_plan.h): bytes in use. memo: of
// what designs share. Stopped it is less.
int64_t most_in_use(const Report& outline, const std::stop_token& stop);
// Less than that, told at once: what the fullest stage holds whatever runs.
int64_t always_allocated(const Report& outline);

// Action by action of one stage, all microbatches.
std::vector<ActionMemory> stage_timeline(const Report& report, int stage);

}  // namespace shardscape
