// The part of a report that memory and time are made of, for those who evaluate many designs: symbols, layers on stages, states in
// bytes. No rows of FLOPs and collectives, no activations, no problems; stages that are like an earlier one have only their place.
#pragma once

#include "base/memo.h"
#include "cost/sync_model.h"
#include "report/report.h"

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

// Shared by the outlines of many designs. Thread safe.
struct OutlineMemo {
  Memo<StageStates> states{1 << 14};
  Memo<SharedPlan> plans{1 << 10};  // some have an act for every parameter
};

// Of a design without errors; nothing where it has one that only shows when numbers are bound.
bool make_outline(const Design& design, OutlineMemo& memo, Report& out);

}  // namespace shardscape
