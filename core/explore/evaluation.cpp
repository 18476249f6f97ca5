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

// The bound plan and the memory of the latest design of a thread. The next design reuses both if only its
// speed differs.
struct LatestDesign {
  std::optional<Design> design;  // empty: plan and memory are not computed
  Report plan;                   // bound plan without breakdowns
  int64_t memory = 0;            // bytes
  bool exact = false;            // false: memory is a lower bound
  ValidatedParts validated;
};

}  // namespace

// Holds the structures to which a search returns, with the plans and seconds of their designs.
constexpr size_t kCacheBytes = size_t{160} << 20;

struct Evaluator::Shared {
  std::shared_ptr<PlanCache> cache = std::make_shared<PlanCache>(kCacheBytes);
  tbb::enumerable_thread_specific<LatestDesign> latest;
};

Evaluator::Evaluator() : shared_(std::make_unique<Shared>()) {}
Evaluator::~Evaluator() = default;

namespace {

// Sets capacity and feasibility. Returns whether the design is timed.
bool check_memory(Evaluation& out, const std::shared_ptr<const Accelerator>& accelerator,
                  const EvaluationOptions& options) {
  out.capacity = accelerator ? accelerator->memory_bytes : 0;
  const bool fits = out.capacity == 0 || static_cast<double>(out.memory) <=
                                             (1 - options.memory_margin) * static_cast<double>(out.capacity);
  out.feasibility = fits ? Feasibility::Fits : Feasibility::DoesNotFit;
  return fits || options.time_if_too_large;
}

void copy_times(Evaluation& out, const auto& step) {
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
  if (!check_memory(out, report->accelerator, options)) return out;
  const std::shared_ptr<const Simulation> step = simulate(*report, stop);
  if (!step) return out;
  copy_times(out, *step);
  // If several steps are in the pipeline, the time between tokens is shorter than a step.
  out.step_seconds = served_seconds(*report, *step);
  return out;
}

}  // namespace

std::string Evaluator::first_error(const Design& design) {
  return shardscape::first_error(design, &shared_->latest.local().validated);
}

PlanCache* Evaluator::cache() const { return shared_->cache.get(); }

Evaluation Evaluator::evaluate(const Design& design, const EvaluationOptions& options,
                               const std::stop_token& stop) {
  Evaluation out;
  if (out.reason = first_error(design); !out.reason.empty()) return out;
  if (!trains(design)) return of_report(design, shared_->cache, options, stop);
  LatestDesign& latest = shared_->latest.local();
  try {
    if (!latest.design || !same_fields<&FieldUses::bound_plan>(*latest.design, design)) {
      latest.design.reset();
      latest.exact = false;
      latest.plan = {};
      if (!make_bound_plan(design, shared_->cache, latest.plan))
        return of_report(design, shared_->cache, options, stop);
      latest.memory = always_allocated(latest.plan);
      latest.design = design;
    } else {
      latest.plan.design = design;
    }
    out.memory = latest.memory;
    if (!latest.exact && !options.exact_memory_if_too_large &&
        !check_memory(out, latest.plan.accelerator, options))
      return out;
    if (!latest.exact) latest.memory = most_in_use(latest.plan, stop);
    if (stop.stop_requested()) {
      latest.design.reset();
      return out;
    }
    latest.exact = true;
    out.memory = latest.memory;
  } catch (const std::invalid_argument&) {  // a size is not an integer; the report names it
    latest.design.reset();
    return of_report(design, shared_->cache, options, stop);
  }
  if (!check_memory(out, latest.plan.accelerator, options) || stop.stop_requested()) return out;
  copy_times(out, step_numbers(latest.plan, stop));
  return out;
}

}  // namespace shardscape
