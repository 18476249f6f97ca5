// The bound plan: the part of a report that memory and time read. Searches make one bound plan per design. A
// bound plan has symbols, layers per stage and bytes of states. It has no rows of FLOPs and collectives, no
// activations and no problems. Only the representative of a stage class is complete; other stages have only
// their place in the pipeline. Bytes are those of one rank.
#pragma once

#include "grad_sync/sync_model.h"
#include "plan/report.h"

namespace shardscape {

// The states of a stage (parameters, gradients, optimizer), which do not depend on the microbatches, and its
// gradient-sync plan.
struct StageStates {
  struct Part {
    MemoryCategory category;
    int64_t bytes;
  };
  std::vector<Part> parts;
  std::vector<std::pair<Symbol, int64_t>>
      bound;                               // derived symbols of the stage and of its sync plan, with values
  std::shared_ptr<const PlacedPlan> plan;  // null without a plan of gradient sync
  // Every size is a whole number, and the plan of gradient sync is not too long.
  bool whole = true;
};

// A gradient-sync plan. Many structures share one.
struct SharedPlan {
  PlanTotals totals;
  std::shared_ptr<const PlacedPlan> placed;
};

// Fills `out` with the bound plan of a design that passed validation. Returns false for an error that shows
// only when numbers are bound.
bool make_bound_plan(const Design& design, std::shared_ptr<PlanCache> cache, Report& out);

}  // namespace shardscape
