// The memory timeline: the bytes that one rank of each stage has allocated while its schedule runs, the peak,
// and the contributors to the peak.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/segment_memory.h"
#include "pipeline/schedule.h"
#include "plan/report.h"

namespace shardscape {

// The place of a peak inside an action.
struct PeakPlace {
  int64_t instance = -1;  // index into StageLayout::instances; -1: no instance runs
  SegmentLifetimes::Part part = SegmentLifetimes::Part::Forward;
  OpId op = -1;            // -1: at the begin of the segment
  bool after_run = false;  // the instance has run, and its gradients are reduced
};

// Bytes by category over one action of the schedule. They include Runtime, which is outside the allocator.
struct ActionMemory {
  Action action{};
  CategoryBytes begin{}, peak{}, end{};
  PeakPlace at{};
};

// One contributor to the peak: "Attention, saved by 12 layers, 2 microbatches".
struct MemoryContributor {
  std::string name;
  MemoryCategory category = MemoryCategory::Activations;
  int64_t bytes = 0;
  PartKind kind = PartKind::Other;
  // The bytes by layer of the model, ascending; layer -1: outside of layers. They add up to `bytes`. Empty if
  // the bytes are not counted by layer, as states and workspaces.
  struct LayerBytes {
    int64_t layer = -1;
    int64_t bytes = 0;
  };
  std::vector<LayerBytes> layers = {};
};

struct StageMemory {
  int stage = 0;
  CategoryBytes fixed{};                       // always allocated: states, workspaces, runtime
  std::vector<MemoryContributor> fixed_parts;  // contributors of `fixed`
  // Bytes at the peak. Runtime includes bytes that the allocator has reserved but not allocated.
  CategoryBytes at_peak{};
  int64_t allocated = 0;  // bytes of tensors at the peak (torch.cuda.max_memory_allocated)
  int64_t reserved = 0;   // bytes of allocator segments at the peak (max_memory_reserved)
  int64_t in_use = 0;     // reserved plus runtime and communicators, as nvidia-smi shows: the sum of at_peak
  // The place of the peak:
  int action_index = 0;  // among the actions of the stage
  Action action{};
  int64_t layer = -1;  // layer of the model; -1: outside of layers
  int segment = -1;    // -1: between actions
  PeakPlace at{};
  // The peak as text: "backward of microbatch 3, layer 79: Down projection, gradient".
  std::string peak_text;
  std::vector<MemoryContributor> contributors;  // largest first; they add up to at_peak
};

struct MemoryTimeline {
  std::vector<StageMemory> stages;
  int peak_stage = 0;    // the stage with most bytes in use
  bool fits = false;     // the peak fits on the design's accelerator
  int64_t capacity = 0;  // bytes of the accelerator; 0: unknown
};

// Makes the memory timeline of a valid report. Returns nullptr when stopped.
std::shared_ptr<const MemoryTimeline> memory_timeline(const Report& report, std::stop_token stop = {});

// Bytes in use on the fullest stage of a bound plan (plan/bound_plan.h), equal to the result of
// memory_timeline. When stopped, the result is too small.
int64_t most_in_use(const Report& plan, const std::stop_token& stop);
// A fast lower bound of most_in_use: bytes of the fullest stage that are always allocated.
int64_t always_allocated(const Report& plan);

// Memory of every action of one stage, for all microbatches.
std::vector<ActionMemory> stage_timeline(const Report& report, int stage);

}  // namespace shardscape
