// When TensorRT-LLM holds prompts back, so that more of them share a step.
#pragma once

#include <cstdint>
#include <span>

#include "serving/requests/engine_settings.h"

namespace shardscape {

// What the scheduler of an attention replica has selected for the next step.
struct SelectedStep {
  int64_t contexts = 0, generating = 0;  // sequences
  int64_t tokens = 0;                    // the whole prompts of the contexts, and the tokens of the others
};

// The rules of RequestScheduler.schedule_step (tensorrt_llm/_torch/pyexecutor/scheduler/scheduler.py;
// llmapi/llm_args.py, AttentionDpConfig):
// - Attention replicas that share experts, with enable_balance: contexts start if all replicas have some, and
//   places for them (fewer than max_batch_size sequences generate). If all replicas generate, they wait for
//   batching_wait_iters further steps first. Otherwise contexts wait until timeout_iters steps have passed,
//   or until a replica generates nothing.
// - Without such replicas: contexts wait while others generate, for at most batch_wait_timeout_iters steps,
// as
//   long as the step has fewer than batch_wait_max_tokens_ratio x max_num_tokens tokens.
// Contexts wait only while the other sequences have a step, so the engine never stops.
class ContextWaits {
 public:
  explicit ContextWaits(const EngineSettings& settings);
  bool on() const { return balance_ || batch_; }
  // Whether the next step leaves out all contexts. selected: of each replica. Called once per step.
  bool hold(std::span<const SelectedStep> selected);

 private:
  bool balanced_hold(std::span<const SelectedStep> selected);
  bool batch_hold(const SelectedStep& selected);

  TrtllmSettings settings_;
  bool balance_, batch_;
  int64_t waited_ = 0, batched_ = 0;  // steps: for contexts of all replicas, and for more contexts
};

}  // namespace shardscape
