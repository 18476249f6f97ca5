#include "explore/evaluation.h"

#include <stdexcept>

#include "design/validate.h"
#include "graph/structure_cache.h"
#include "report/outline.h"
#include "simulate/estimate.h"
#include "simulate/simulation.h"
#include "simulate/step_numbers.h"

namespace shardscape {

struct Evaluator::Shared {
  ManyStructures many;
  OutlineMemo outlines;
  Memo<MemoryTable> memories{1 << 10};  // neighbours of a space share them
  Memo<LayerTable> layers{1 << 10};
};

Evaluator::Evaluator() : shared_(std::make_unique<Shared>()) {}
Evaluator::~Evaluator() = default;

namespace {

// Whether it is to be timed.
bool judge(Evaluation& out, const Accelerator* accelerator, const EvaluationOptions& options) {
  out.capacity = accelerator ? accelerator->memory_bytes : 0;
  const bool fits = out.capacity == 0 || static_cast<double>(out.memory) <= (1 - options.memory_margin) * static_cast<double>(out.capacity);
  out.feasibility = fits ? Feasibility::Fits : Feasibility::DoesNotFit;
  return fits || options.time_what_does_not_fit;
}

void take(Evaluation& out, const auto& step) {
  out.step_seconds = step.step_seconds;
  out.tokens_per_second = step.tokens_per_second;
  out.model_tflops = step.model_tflops;
  out.mfu = step.mfu;
  out.bubble = step.bubble;
  out.exposed = step.exposed;
}

// Inference is short: no microbatches, no backward.
Evaluation of_report(const Design& design, const EvaluationOptions& options, const std::stop_token& stop) {
  Evaluation out;
  const std::shared_ptr<const Report> report = estimate(design, stop);
  if (!report) return out;
  if (!report->valid()) {
    if (!report->problems.empty()) out.reason = report->problems.front().where;
    return out;
  }
  out.memory = memory_in_use(*report, report->memory->peak_stage);
  if (!judge(out, report->accelerator, options)) return out;
  if (const std::shared_ptr<const Simulation> step = simulate(*report, stop)) take(out, *step);
  return out;
}

}  // namespace

Evaluation Evaluator::evaluate(const Design& design, const EvaluationOptions& options, const std::stop_token& stop) {
  Evaluation out;
  if (out.reason = first_error(design); !out.reason.empty()) return out;
  if (!trains(design)) return of_report(design, options, stop);
  Report outline;
  try {
    if (!make_outline(design, shared_->outlines, outline)) return of_report(design, options, stop);
    if (!options.size_what_does_not_fit && !options.time_what_does_not_fit) {
      out.memory = held_all_along(outline);
      if (!judge(out, outline.accelerator, options)) return out;
    }
    out.memory = most_in_use(outline, shared_->memories);
  } catch (const std::invalid_argument&) {  // a size that is not whole: the report says which
    return of_report(design, options, stop);
  }
  if (!judge(out, outline.accelerator, options) || stop.stop_requested()) return out;
  take(out, step_numbers(outline, shared_->layers));
  return out;
}

}  // namespace shardscape
