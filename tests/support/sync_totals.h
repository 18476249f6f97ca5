// Totals of the collectives of a gradient sync plan; tests compare them with the totals of reports.
#pragma once

#include <map>

#include "grad_sync/sync_plan.h"

namespace shardscape::test {

struct SyncTotalKey {
  Phase phase;
  CollectiveKind op;
  std::string group;
  DType dtype;
  auto operator<=>(const SyncTotalKey&) const = default;
};
struct SyncTotal {
  int64_t group_size = 1, count = 0, elements = 0;
};

// Totals of one step.
std::map<SyncTotalKey, SyncTotal> sync_totals(const SyncPlan& plan, int64_t microbatches);

}  // namespace shardscape::test
