#include "serving/service/step_designs.h"

#include <string>

#include "base/units.h"
#include "serving/engine/step_design.h"

namespace shardscape {
namespace {

int64_t mean(int64_t sum, int64_t count) { return (sum + count - 1) / count; }
int64_t multiple(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Result<StepDesigns> step_designs(const ServiceRun& run, size_t step) {
  const size_t steps = run.simulation.steps.size();
  if (step >= steps)
    return Problem{
        ProblemCode::RangeInvalid, "step", "the run has no step " + std::to_string(step),
        steps == 0 ? "a run that keeps its steps" : "0 to " + grouped(static_cast<int64_t>(steps) - 1)};
  const StepBatch batch = batch_of(run.simulation, step);
  const Design& design = pool_with(run, run.simulation.steps[step].replica).design;
  StepDesigns out;
  if (const auto chunks = static_cast<int64_t>(batch.chunks.size()); chunks > 0) {
    const int64_t tokens = run.simulation.steps[step].prefill_tokens;
    out.prefill = prompt_design(design, chunks, multiple(mean(tokens, chunks), prompt_unit(design)));
  }
  if (batch.decode_sequences > 0)
    out.decode = decode_design(
        design, batch.decode_sequences,
        multiple(mean(batch.decode_context, batch.decode_sequences), context_unit(design)));
  return out;
}

}  // namespace shardscape
