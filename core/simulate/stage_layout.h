// The segments of a stage in order of execution, chunk by chunk, with what recomputation makes of each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "report/report.h"

namespace shardscape {

struct LayerSeconds;
struct PlacedPlan;
struct StageSync;

// One segment in its place on a stage.
struct StageInstance {
  int segment = 0;
  int64_t layer = -1;        // of the model
  LayerClass of{};
  size_t group = 0;          // first instance of the group that is replayed with it, itself where it is not recomputed
  bool ends_group = false;
  const LayerSeconds* seconds = nullptr;  // for those who play it
};
struct StageRange {
  size_t first = 0, end = 0;
};
// The instances of a stage in order of execution, and which of them each virtual stage has.
struct StageLayout {
  std::vector<StageInstance> instances;
  std::vector<StageRange> chunks;
};
StageLayout stage_layout(const Report& report, const StageReport& stage);
// Whether messages lie in buffers that every microbatch has for good, and outputs stay until their backward: torch.distributed.pipelining
// (PyTorch 2.6 torch/distributed/pipelining/stage.py: _prepare_forward_infra and _prepare_backward_infra make a tensor to receive into for each
// microbatch, fwd_cache holds a stage's outputs), which FSDP2 runs in.
bool keeps_messages(const Report& report);
// The plan of the stage's gradient sync at these instances; null where it has none.
std::shared_ptr<const PlacedPlan> placed_plan(const Report& report, const StageReport& stage, const StageSync& sync);

}  // namespace shardscape
