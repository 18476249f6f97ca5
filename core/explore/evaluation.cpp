#include "explore/evaluation.h"

#include "design/validate.h"
#include "graph/structure_cache.h"
#include "report/outline.h"
#include "simulate/memory_timeline.h"
#include "simulate/step_numbers.h"

namespace shardscape {

struct Evaluator::Shared {
  ManyStructures many;
  OutlineMemo outlines;
  Memo<MemoryTable> memories{1 << 13};
  Memo<LayerTable> layers{1 << 13};
};

Evaluator::Evaluator() : shared_(std::make_unique<Shared>()) {}
Evaluator::~Evaluator() = default;

Evaluation Evaluator::evaluate(const Design& design, const EvaluationOptions& options, const std::stop_token& stop) {
  Evaluation out;
  if (out.reason = first_error(design); !out.reason.empty()) return out;
  Report outline;
  if (!make_outline(design, shared_->outlines, outline)) {
    out.reason = outline.problems.empty() ? "design" : outline.problems.front().where;
    return out;
  }
  out.memory = most_in_use(outline, shared_->memories);
  out.capacity = outline.accelerator ? outline.accelerator->memory_bytes : 0;
  const bool fits = out.capacity == 0 || static_cast<double>(out.memory) <= (1 - options.memory_margin) * static_cast<double>(out.capacity);
  out.feasibility = fits ? Feasibility::Fits : Feasibility::DoesNotFit;
  if (!fits && !options.time_what_does_not_fit) return out;
  if (stop.stop_requested()) return out;
  const StepNumbers step = step_numbers(outline, shared_->layers);
  out.step_seconds = step.step_seconds;
  out.tokens_per_second = step.tokens_per_second;
  out.model_tflops = step.model_tflops;
  out.mfu = step.mfu;
  out.bubble = step.bubble;
  out.exposed = step.exposed;
  return out;
}

}  // namespace shardscape
