// Properties of one stage of a bound plan: its layer instances, its message buffers and its gradient-sync
// plan.
#pragma once

#include <memory>

#include "pipeline/layer_instances.h"
#include "plan/report.h"

namespace shardscape {

struct PlacedPlan;
struct StageSync;

StageLayout stage_layout(const Report& report, const StageReport& stage);
// Whether every microbatch has its own receive buffers during the whole step, and outputs are held until
// their backward. This is true for FSDP2, which runs in torch.distributed.pipelining (PyTorch 2.6
// torch/distributed/pipelining/stage.py: _prepare_forward_infra and _prepare_backward_infra make a receive
// tensor for each microbatch, fwd_cache holds the outputs of a stage). The FSDP of Llama 3, which reduces
// every microbatch and keeps parameters whole, frees inputs and outputs of stages early (arXiv 2407.21783,
// section 3.3.2).
bool holds_messages(const Report& report);
// Whether the output of a forward stays until the backward of its microbatch: the same, and DeepSpeed's
// pipeline engine (runtime/pipe/engine.py, pipe_buffers['outputs']).
bool holds_outputs(const Report& report);
// The gradient-sync plan of the stage. Null for FSDP and for a stage without planned sync.
std::shared_ptr<const PlacedPlan> placed_plan(const Report& report, const StageReport& stage,
                                              const StageSync& sync);

}  // namespace shardscape
