// Speculative decoding: a draft proposes tokens, and one forward of the model verifies all of them
// (Leviathan, Kalman, Matias, ICML 2023).
#pragma once

#include <cstdint>
#include <vector>

#include "serving/requests/engine_settings.h"

namespace shardscape {

// How many draft tokens a step accepts for a sequence. The rates are those that vLLM reports as per-position
// acceptance rate (vllm/v1/spec_decode/metrics.py): the share of all drafts whose token at a position is
// accepted. A token is accepted only if all before it are, so the rates fall, and a step yields 1 + their sum
// tokens of a sequence on average (mean acceptance length).
//
// The draws depend on the seed, the request and the place in its answer. So an answer passes the same drafts
// on every engine, after preemptions, and on any number of threads.
class Speculation {
 public:
  explicit Speculation(const EngineSettings& settings);

  bool on() const { return !rates_.empty(); }
  int64_t draft_tokens() const { return static_cast<int64_t>(rates_.size()); }  // of a sequence and step
  const std::vector<double>& rates() const { return rates_; }                   // of each position

  // Tokens that a step computes for a decode sequence with `computed` tokens: the last sampled one, and the
  // draft tokens that fit into the budget and the longest sequence. budget >= 1.
  int64_t step_tokens(int64_t computed, int64_t budget) const;
  // Accepted ones of `drafted` tokens. computed: tokens of the sequence before the step.
  int64_t accepted(int32_t request, int64_t computed, int64_t drafted) const;

 private:
  std::vector<double> rates_;
  uint64_t seed_ = 0;
  int64_t longest_ = 0;
};

// The rate of every token, given those before it, with which drafts of `tokens` tokens yield `length` tokens
// per step on average: 1 + r + r^2 + ... = length. 0 or 1 if no rate does.
double rate_of_length(double length, int64_t tokens);

}  // namespace shardscape
