// Collectives of a plan of gradient sync, added up by what they do: what totals of reports are held against.
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

// Of a step.
std::map<SyncTotalKey, SyncTotal> sync_totals(const SyncPlan& plan, int64_t microbatches);

}  // namespace shardscape::test
