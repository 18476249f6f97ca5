// What follows from a bound plan about one stage: its instances, its message buffers, its plan of gradient
// sync.
#pragma once

#include <memory>

#include "pipeline/layer_instances.h"
#include "plan/report.h"

namespace shardscape {

struct PlacedPlan;
struct StageSync;

StageLayout stage_layout(const Report& report, const StageReport& stage);
// Whether messages lie in buffers that every microbatch has for good, and outputs stay until their backward:
// torch.distributed.pipelining (PyTorch 2.6 torch/distributed/pipelining/stage.py: _prepare_forward_infra and
// _prepare_backward_infra make a tensor to receive into for each microbatch, fwd_cache holds a stage's
// outputs), which FSDP2 runs in.
bool holds_messages(const Report& report);
// The plan of the stage's gradient sync at these instances; null where it has none.
std::shared_ptr<const PlacedPlan> placed_plan(const Report& report, const StageReport& stage,
                                              const StageSync& sync);

}  // namespace shardscape
