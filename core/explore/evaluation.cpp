#include "explore/evaluation.h"

#include <tbb/enumerable_thread_specific.h>

#include <optional>
#include <stdexcept>

#include "base/plan_cache.h"
#include "design/fields.h"
#include "design/validate/validate.h"
#include "memory/estimate.h"
#include "plan/bound_plan.h"
#include "serving/inference.h"
#include "timing/simulation.h"
#include "timing/steady_state/step_numbers.h"

namespace shardscape {

namespace {

// Everything about a design except its time. A search visits designs that differ only in speed one after the
// other, so they share it.
struct Sized {
  std::optional<Design> of;  // the design that it was made for; empty: not computed
  Report outline;
  int64_t memory = 0;
  bool exact = false;  // memory is exact; false: a lower bound
  ValidatedParts validated;
};

}  // namespace

// Enough for the structures that a search goes back to, with the plans and seconds of their designs.
constexpr size_t kCacheBytes = size_t{112} << 20;

struct Evaluator::Shared {
  std::shared_ptr<PlanCache> cache = std::make_shared<PlanCache>(kCacheBytes);
  tbb::enumerable_thread_specific<Sized> sized;
};

Evaluator::Evaluator() : shared_(std::make_unique<Shared>()) {}
Evaluator::~Evaluator() = default;

namespace {

// Sets capacity and feasibility. Returns whether the design is timed.
bool judge(Evaluation& out, const std::shared_ptr<const Accelerator>& accelerator,
           const EvaluationOptions& options) {
  out.capacity = accelerator ? accelerator->memory_bytes : 0;
  const bool fits = out.capacity == 0 || static_cast<double>(out.memory) <=
                                             (1 - options.memory_margin) * static_cast<double>(out.capacity);
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

// Inference has few microbatches and no backward, so the whole step is simulated.
Evaluation of_report(const Design& design, const std::shared_ptr<PlanCache>& cache,
                     const EvaluationOptions& options, const std::stop_token& stop) {
  Evaluation out;
  const std::shared_ptr<const Report> report = estimate(design, cache, stop);
  if (!report) return out;
  if (!report->valid()) {
    if (!report->problems.empty()) out.reason = report->problems.front().where;
    return out;
  }
  out.memory = memory_in_use(*report, report->memory->peak_stage);
  if (!judge(out, report->accelerator, options)) return out;
  const std::shared_ptr<const Simulation> step = simulate(*report, stop);
  if (!step) return out;
  take(out, *step);
  // In a running pipeline, the time between tokens is shorter than the step.
  out.step_seconds = served_seconds(*report, *step);
  return out;
}

}  // namespace

std::string Evaluator::first_error(const Design& design) {
  return shardscape::first_error(design, &shared_->sized.local().validated);
}

Evaluation Evaluator::evaluate(const Design& design, const EvaluationOptions& options,
                               const std::stop_token& stop) {
  Evaluation out;
  if (out.reason = first_error(design); !out.reason.empty()) return out;
  if (!trains(design)) return of_report(design, shared_->cache, options, stop);
  Sized& sized = shared_->sized.local();
  try {
    if (!sized.of || !same_fields<&FieldUses::bound_plan>(*sized.of, design)) {
      sized.of.reset();
      sized.exact = false;
      sized.outline = {};
      if (!make_bound_plan(design, shared_->cache, sized.outline))
        return of_report(design, shared_->cache, options, stop);
      sized.memory = always_allocated(sized.outline);
      sized.of = design;
    } else {
      sized.outline.design = design;
    }
    out.memory = sized.memory;
    if (!sized.exact && !options.size_what_does_not_fit && !judge(out, sized.outline.accelerator, options))
      return out;
    if (!sized.exact) sized.memory = most_in_use(sized.outline, stop);
    if (stop.stop_requested()) {
      sized.of.reset();
      return out;
    }
    sized.exact = true;
    out.memory = sized.memory;
  } catch (const std::invalid_argument&) {  // a size is not an integer; the report names it
    sized.of.reset();
    return of_report(design, shared_->cache, options, stop);
  }
  if (!judge(out, sized.outline.accelerator, options) || stop.stop_requested()) return out;
  take(out, step_numbers(sized.outline, stop));
  return out;
}

}  // namespace shardscape
