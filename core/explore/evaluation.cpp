#include "explore/evaluation.h"

#include "design/validate.h"
#include "simulate/estimate.h"
#include "simulate/simulation.h"

namespace shardscape {

Evaluation Evaluator::evaluate(const Design& design, const EvaluationOptions& options, const std::stop_token& stop) {
  Evaluation out;
  if (out.reason = first_error(design); !out.reason.empty()) return out;
  const std::shared_ptr<const Report> report = estimate(design, stop);
  if (!report) return out;
  if (!report->valid()) {
    if (!report->problems.empty()) out.reason = report->problems.front().where;
    return out;
  }
  out.memory = memory_in_use(*report, report->memory->peak_stage);
  out.capacity = report->memory->capacity;
  const bool fits = out.capacity == 0 || static_cast<double>(out.memory) <= (1 - options.memory_margin) * static_cast<double>(out.capacity);
  out.feasibility = fits ? Feasibility::Fits : Feasibility::DoesNotFit;
  if (!fits && !options.time_what_does_not_fit) return out;
  const std::shared_ptr<const Simulation> step = simulate(*report, stop);
  if (!step) return out;
  out.step_seconds = step->step_seconds;
  out.tokens_per_second = step->tokens_per_second;
  out.model_tflops = step->model_tflops;
  out.mfu = step->mfu;
  out.bubble = step->bubble;
  out.exposed = step->exposed;
  return out;
}

}  // namespace shardscape
