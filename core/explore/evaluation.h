// What a search wants to know of one design: whether it can be built, whether it fits, how long a step takes.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "design/design.h"

namespace shardscape {

enum class Feasibility : uint8_t { Invalid, DoesNotFit, Fits };

struct Evaluation {
  Feasibility feasibility = Feasibility::Invalid;
  std::string reason;  // Invalid: the knob of the first problem; see Problem::where
  int64_t
      memory = 0;  // bytes in use at the fullest moment of the fullest stage, as memory_in_use() gives them
  int64_t capacity = 0;          // bytes; 0: not known, everything fits
  double step_seconds = 0;       // 0: not timed; in inference time to first token of the last prompt, or per
                                 // output token
  double tokens_per_second = 0;  // of the whole job
  double model_tflops = 0, mfu = 0;  // as Simulation has them
  double bubble = 0, exposed = 0;    // shares of the step, mean over stages
  bool timed() const { return step_seconds > 0; }
};

struct EvaluationOptions {
  double memory_margin = 0;  // share of the capacity that has to stay free
  bool time_what_does_not_fit = false;
  bool size_what_does_not_fit = true;  // false: its memory is only known to be more than there is
};

// Agrees with the report of the design: memory to the byte, time within 1 % (tests/core/evaluation_test.cpp).
// Thread safe; what designs have in common is computed once and shared.
class Evaluator {
 public:
  Evaluator();
  ~Evaluator();
  Evaluation evaluate(const Design& design, const EvaluationOptions& options = {},
                      const std::stop_token& stop = {});

  // As validate.h has it.
  std::string first_error(const Design& design);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace shardscape
