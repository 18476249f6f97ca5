// FSDP. Version 1 (torch 1.13 distributed/fsdp): the parameters of a unit form one flat parameter, padded to
// the group size. Version 2 (fully_shard): every parameter is cut along its first dimension into equal
// pieces, the last pieces are padded, and the pieces of a unit are gathered and scattered together.
// Megatron-FSDP (core/distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py) has flat units, too; its
// alignment of the flat buffer to whole rows is not modelled. Frozen parameters form units of their own, as
// fsdp_auto_wrap_policy of PEFT wraps trained ones on their own.
#include <algorithm>

#include "grad_sync/sync_rules.h"
#include "pipeline/pass_order.h"

namespace shardscape {
namespace {

struct Unit {
  std::string name;
  std::vector<int> params;
  bool frozen = false;
};

// The root unit, which holds the parameters outside of other units, then the other units in order of use.
std::vector<Unit> units_of(const SyncScope& scope) {
  std::vector<Unit> out;
  for (const int p : scope.params) {
    const std::string& name = scope.param(p).unit;
    const bool frozen = scope.param(p).frozen;
    auto it = std::find_if(out.begin(), out.end(),
                           [&](const Unit& u) { return u.name == name && u.frozen == frozen; });
    if (it == out.end()) it = out.insert(name.empty() ? out.begin() : out.end(), {name, {}, frozen});
    it->params.push_back(p);
  }
  return out;
}

class FsdpPlan {
 public:
  explicit FsdpPlan(const SyncScope& scope)
      : scope_(scope), units_(units_of(scope)), sharded_(scope.policy.sharding != FsdpSharding::NoShard) {}

  void run() {
    if (sharded_) forward_gathers();
    for (const size_t u : PassOrder(0, units_.size(), PassDirection::Backward)) {
      const Unit& unit = units_[u];
      if (sharded_ && gathered_again(unit)) gather(unit, Phase::Backward, SyncOccurrence::Every);
      if (!unit.name.empty()) reduce(unit);
    }
    // The backward of the root ends last, wherever its parameters were used.
    for (const Unit& unit : units_)
      if (unit.name.empty()) reduce(unit);
  }

 private:
  // The root stays gathered from its forward to its backward, which follows immediately.
  bool gathered_again(const Unit& unit) const {
    return scope_.policy.sharding == FsdpSharding::FullShard && !unit.name.empty();
  }

  void forward_gathers() {
    // Version 1 with SHARD_GRAD_OP frees units only after a backward that reduces.
    const bool stays_gathered = scope_.policy.strategy == SyncStrategy::Fsdp1 &&
                                !scope_.policy.every_microbatch &&
                                scope_.policy.sharding == FsdpSharding::ShardGradOp;
    const bool once = stays_gathered || scope_.policy.stays_after_backward;
    for (const Unit& unit : units_)
      gather(unit, Phase::Forward, once ? SyncOccurrence::First : SyncOccurrence::Every);
  }

  int64_t padded(const Unit& unit) const {
    const int64_t ranks = scope_.group.size;
    int64_t flat = 0, per_param = 0;
    for (const int p : unit.params) {
      const SyncParam& param = scope_.param(p);
      const int64_t first = param.shape.empty() ? 1 : param.shape.front();
      flat += param.elements();
      per_param += align_up(first, ranks) * (param.elements() / first);
    }
    if (!sharded_) return flat;
    return scope_.policy.strategy == SyncStrategy::Fsdp2 ? per_param : align_up(flat, ranks);
  }

  SyncAction carry(const Unit& unit, SyncAction a) const {
    a.elements = padded(unit);
    for (const int p : unit.params) a.parts.push_back(whole(scope_, p));
    return a;
  }

  void gather(const Unit& unit, Phase phase, SyncOccurrence occurrence) {
    SyncAction a = carry(unit, scope_.action(phase, CollectiveKind::AllGather, scope_.policy.param_dtype));
    a.occurrence = occurrence;
    a.when = phase == Phase::Forward ? SyncWhen::BeforeForward : SyncWhen::BeforeBackward;
    a.param = phase == Phase::Forward ? unit.params.front() : unit.params.back();
    scope_.add(std::move(a));
  }

  void reduce(const Unit& unit) {
    if (unit.frozen) return;
    SyncAction a = carry(
        unit,
        scope_.action(Phase::Backward, sharded_ ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce,
                      scope_.policy.grad_dtype));
    a.when = SyncWhen::AfterGradient;
    for (const int p : scope_.gradients)
      if (std::find(unit.params.begin(), unit.params.end(), p) != unit.params.end()) a.param = p;
    scope_.add(std::move(a));
    if (!sharded_ || scope_.group.across_size == 1) return;
    add_across(scope_);
    if (crosses_once_a_step(scope_.policy.strategy))
      scope_.plan.actions.back().occurrence = SyncOccurrence::Last;
  }

  const SyncScope& scope_;
  std::vector<Unit> units_;
  bool sharded_;
};

}  // namespace

void plan_fsdp(const SyncScope& scope) { FsdpPlan(scope).run(); }

}  // namespace shardscape
