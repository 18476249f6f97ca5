// The part of a report that memory and time are made of, for those who evaluate many designs: symbols, layers
// on stages, states in bytes. No rows of FLOPs and collectives, no activations, no problems; stages that are
// like an earlier one have only their place.
#pragma once

#include "grad_sync/sync_model.h"
#include "plan/report.h"

namespace shardscape {

// What a stage has whatever its microbatches, and the plan of its gradient sync.
struct StageStates {
  struct Part {
    MemoryCategory category;
    int64_t bytes;
  };
  std::vector<Part> parts;
  std::vector<std::pair<Symbol, int64_t>> bound;  // derived symbols of the stage and those of the plan
  std::shared_ptr<const PlacedPlan> plan;         // null where nothing is planned
  bool whole = true;                              // all sizes are
};

// A plan of gradient sync, which many structures share.
struct SharedPlan {
  PlanTotals totals;
  std::shared_ptr<const PlacedPlan> placed;
};

// Of a design without errors; nothing where it has one that only shows when numbers are bound.
bool make_bound_plan(const Design& design, std::shared_ptr<PlanCache> cache, Report& out);

}  // namespace shardscape
