// What the policies of the sync planner share. Private to core/schedule.
#pragma once

#include "schedule/sync_plan.h"

namespace shardscape {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t align_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// The parameters of one group, to which a policy is applied on its own.
struct SyncScope {
  const SyncInput& input;
  const SyncPolicy& policy;
  const SyncGroup& group;
  std::vector<int> params;     // indices, in order of use
  std::vector<int> gradients;  // the same, in the order in which gradients become ready
  SyncPlan& plan;

  const SyncParam& param(int index) const { return input.params[static_cast<size_t>(index)]; }
  SyncTurn reduce_turn() const { return policy.every_microbatch ? SyncTurn::Every : SyncTurn::Last; }
  // Appends and returns; groups of one rank are dropped when the plan is finished.
  SyncAction& add(SyncAction action) const;
  SyncAction action(Phase phase, SyncOp op, DType dtype) const;
};

// Hybrid sharding: the all-reduce, across the groups that replicate it, of the shard that the last reduce-scatter leaves.
void add_across(const SyncScope& scope);

SyncPart whole(const SyncScope& scope, int param);
int64_t elements_of(const std::vector<SyncPart>& parts);

// A unit's modules in order of use, and the parameters of each.
struct SyncModule {
  std::string unit;
  std::vector<int> params;
  int at = 0;  // as SyncAction::param
};
std::vector<SyncModule> modules_of(const SyncScope& scope);  // reused ones last

void plan_megatron(const SyncScope& scope);      // sync_megatron.cpp
void plan_ddp_buckets(const SyncScope& scope);   // sync_ddp.cpp
void plan_zero(const SyncScope& scope);          // sync_zero.cpp: stages 0 to 2
void plan_zero3(const SyncScope& scope);         // sync_zero3.cpp
void plan_fsdp(const SyncScope& scope);          // sync_fsdp.cpp

}  // namespace shardscape
