// Helpers shared by the policies of the sync planner. Private to core/grad_sync.
#pragma once

#include "grad_sync/sync_plan.h"

namespace shardscape {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t align_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// Parameters of one chunk and one replica group; a policy plans each scope on its own.
struct SyncScope {
  const SyncInput& input;
  const SyncPolicy& policy;
  const SyncGroup& group;
  std::vector<int> params;     // indices into SyncInput::params, in order of use
  std::vector<int> gradients;  // those that are trained, in the order in which gradients become ready
  SyncPlan& plan;

  const SyncParam& param(int index) const { return input.params[static_cast<size_t>(index)]; }
  SyncOccurrence reduce_occurrence() const {
    const bool always = policy.strategy == SyncStrategy::MegatronFsdp;
    return policy.every_microbatch || always ? SyncOccurrence::Every : SyncOccurrence::Last;
  }
  // Appends an action and returns it. plan_sync drops actions over one rank at the end.
  SyncAction& add(SyncAction action) const;
  // An action over the scope's group, without elements and parts.
  SyncAction action(Phase phase, CollectiveKind op, DType dtype) const;
};

// Hybrid sharding: appends the all-reduce across copies of the shard that the last reduce-scatter leaves.
void add_across(const SyncScope& scope);

// The whole parameter as a part.
SyncPart whole(const SyncScope& scope, int param);
int64_t elements_of(const std::vector<SyncPart>& parts);

// A module and its parameters. Modules of a unit are in order of use.
struct SyncModule {
  std::string unit;
  std::vector<int> params;
  int at = 0;  // parameter index as in SyncAction::param
};
std::vector<SyncModule> modules_of(const SyncScope& scope);  // modules that reuse a parameter come last

void plan_megatron(const SyncScope& scope);     // sync_megatron.cpp
void plan_ddp_buckets(const SyncScope& scope);  // sync_ddp.cpp
// sync_zero.cpp: stages 0 to 2. Returns a Problem if the step would have too many collectives.
std::optional<Problem> plan_zero(const SyncScope& scope);
void plan_zero3(const SyncScope& scope);  // sync_zero3.cpp
void plan_fsdp(const SyncScope& scope);   // sync_fsdp.cpp

}  // namespace shardscape
