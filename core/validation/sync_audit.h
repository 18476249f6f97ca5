// Recordings of the plan of gradient and parameter sync alone: a model given by its ordered parameters, run
// through the planner under the recorded policy. Private to core/audit.
#pragma once

#include "grad_sync/sync_plan.h"
#include "validation/audit.h"
#include "validation/field_ledger.h"

namespace shardscape {

struct SyncCase {
  SyncInput input;
  SyncPolicy policy;
};

// Fills the mapping's design as far as it says anything: replicas and strategy.
SyncCase map_sync(const Recording& recording, Mapping& mapping);

// Appends the lines, or the planner's problem.
void compare_sync(const SyncCase& sync, Audit& audit);

}  // namespace shardscape
