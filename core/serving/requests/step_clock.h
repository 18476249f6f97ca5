// The time that an engine needs for one step.
#pragma once

#include <cstdint>
#include <span>

namespace shardscape {

// Prompt tokens of one sequence that a step computes.
struct PrefillChunk {
  int64_t tokens = 0;
  int64_t context = 0;   // tokens of the sequence that are in the cache before
  int32_t request = -1;  // whose tokens; no effect on the seconds
};

// The sequences of a step. A decode sequence computes one token, and those that a draft proposes for it.
struct StepBatch {
  int64_t decode_sequences = 0;
  int64_t decode_context = 0;  // sum over the decode sequences, including its new tokens
  std::span<const PrefillChunk> chunks;
  int64_t sampled = 0;       // sequences that sample an output token
  int64_t draft_tokens = 0;  // that the step verifies, of all decode sequences
};

class StepClock {
 public:
  virtual ~StepClock() = default;
  // Seconds from the start of the step to its tokens. Equal batches take equal time.
  virtual double seconds(const StepBatch& batch) = 0;
  // Seconds of the slowest pipeline stage: the least time between two consecutive steps. At most seconds().
  virtual double bottleneck_seconds(const StepBatch& batch) { return seconds(batch); }
};

}  // namespace shardscape
