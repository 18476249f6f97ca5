// Audit of sync-only recordings. Their model is an ordered list of parameters, which the planner processes
// under the recorded policy. Private to core/validation.
#pragma once

#include "grad_sync/sync_plan.h"
#include "validation/audit.h"
#include "validation/field_ledger.h"

namespace shardscape {

struct SyncCase {
  SyncInput input;
  SyncPolicy policy;
};

// Also sets the replicas and the strategy in the design of the mapping.
SyncCase map_sync(const Recording& recording, Mapping& mapping);

// Appends the lines of the comparison, or the problem of the planner.
void compare_sync(const SyncCase& sync, Audit& audit);

}  // namespace shardscape
