// The programs of rank classes over consecutive steps of a serving engine.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "chakra/lower.h"

namespace shardscape {

// One step: a forward of one microbatch. A report holds the numbers of one batch of equal sequences, so a
// step with prompts and generated tokens is put together (ForwardParts).
struct WindowStep {
  int64_t number = 0;             // of the step in the run of its replica
  double begin = 0, seconds = 0;  // in the run
  int64_t prefill_tokens = 0, decode_sequences = 0;
  std::shared_ptr<Lowering> forward;  // with durations; over all tokens of the step
  std::shared_ptr<Lowering> head;     // over the sequences that sample a token
  ForwardScale scale;
  // Seconds before the kernels of the step on the first stage: work of the host and idle time.
  double host_seconds = 0;
};

class StepWindow {
 public:
  // At least one step. All lowerings have the same ranks and an equal mesh.
  StepWindow(int64_t replica, std::vector<WindowStep> steps);
  int64_t replica() const { return replica_; }  // of the run
  const std::vector<WindowStep>& steps() const { return steps_; }
  // Has the group roles of all steps, and the rings and rank classes of the steps with prompts.
  const Lowering& reference() const { return *reference_; }
  // From the begin of the first step to the end of the last one.
  double seconds() const;
  // All steps of a rank class, one after the other. A step of the first stage begins with a compute node of
  // host_seconds. Names and tags have the number of the step in the place of a microbatch. Incomplete if
  // stopped.
  RankProgram stage(int stage, bool tensors, std::stop_token stop = {}, int64_t position = 0) const;

 private:
  int64_t replica_;
  std::vector<WindowStep> steps_;
  std::shared_ptr<const Lowering> reference_;
};

}  // namespace shardscape
