#include "support/sync_totals.h"

namespace shardscape::test {

std::map<SyncTotalKey, SyncTotal> sync_totals(const SyncPlan& plan, int64_t microbatches) {
  std::map<SyncTotalKey, SyncTotal> out;
  for (const SyncAction& a : plan.actions) {
    const int64_t times = sync_occurrences(a.occurrence, microbatches);
    if (times == 0) continue;
    SyncTotal& total = out[{a.phase, a.op, a.group, a.dtype}];
    total.group_size = a.group_size;
    total.count += times;
    total.elements += times * a.elements;
  }
  return out;
}

}  // namespace shardscape::test
