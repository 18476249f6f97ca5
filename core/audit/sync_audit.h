// Recordings of the plan of gradient and parameter sync alone: a model given by its ordered parameters, run through the
// planner under the recorded policy. Private to core/audit.
#pragma once

#include "audit/audit.h"
#include "audit/field_ledger.h"
#include "schedule/sync_plan.h"

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
