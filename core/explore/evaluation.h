// Evaluation of one design in a search: whether it is valid, whether it fits, how long a step takes.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/plan_cache.h"
#include "design/design.h"

namespace shardscape {

enum class Feasibility : uint8_t { Invalid, DoesNotFit, Fits };

struct Evaluation {
  Feasibility feasibility = Feasibility::Invalid;
  std::string reason;  // Invalid: the knob of the first problem (Problem::where)
  // Bytes in use at the peak of the fullest stage, as memory_in_use() defines them.
  int64_t memory = 0;
  int64_t capacity = 0;  // bytes; 0: unknown, every design fits
  // Seconds; 0: not timed. Prefill: time to the first token of the last prompt. Decode: time per output
  // token.
  double step_seconds = 0;
  double tokens_per_second = 0;      // of all ranks
  double model_tflops = 0, mfu = 0;  // per GPU, as in Simulation
  double bubble = 0, exposed = 0;    // shares of the step, mean over stages
  bool timed() const { return step_seconds > 0; }
};

struct EvaluationOptions {
  double memory_margin = 0;  // share of the capacity that must stay free
  bool time_if_too_large = false;
  // False: the memory of a design that does not fit is only a lower bound that exceeds the capacity.
  bool exact_memory_if_too_large = true;
};

// Agrees with the report of the design: memory to the byte, time within 1 %
// (tests/core/explore/evaluation_test.cpp). Thread safe. Designs share plans, graphs and simulations through
// one cache.
class Evaluator {
 public:
  Evaluator();
  ~Evaluator();
  Evaluation evaluate(const Design& design, const EvaluationOptions& options = {},
                      const std::stop_token& stop = {});

  // The knob of the first error, as first_error() of validate.h defines it; empty if the design is valid.
  std::string first_error(const Design& design);

  // The cache of plans that all designs share.
  PlanCache* cache() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace shardscape
