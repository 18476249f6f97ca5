// DeepSpeed ZeRO-3 (runtime/zero/partitioned_param_coordinator.py, runtime/zero/stage3.py): every parameter
// is sharded and padded on its own. The planner walks the modules of forward and backward and repeats the
// fetches, prefetches and releases that the coordinator derives from its recorded trace. MiCS (arXiv
// 2205.00119; runtime/zero/mics.py) does the same inside a group of mics_shard_size replicas. After the
// scatter of the last microbatch, each bucket's accumulated shard is all-reduced across groups
// (allreduce_mics_shard_grads).
#include <algorithm>
#include <deque>

#include "grad_sync/sync_rules.h"
#include "pipeline/pass_order.h"

namespace shardscape {
namespace {

// A call of a module. A call without parameters (the root, a unit) still prefetches.
struct Call {
  bool backward = false;
  std::vector<int> params;
  int at = -1;  // parameter of this module, or of the next module that has parameters
};

// Appends the calls of units and their modules, in this order. backward: also for the replay of a forward
// under recompute.
using Modules = std::vector<SyncModule>;
void call(const Modules& modules, const PassOrder& order, bool backward, std::vector<Call>& out) {
  std::string unit;
  for (const size_t m : order) {
    const SyncModule& module = modules[m];
    if (module.unit != unit && !module.unit.empty()) out.push_back({backward, {}, module.at});
    unit = module.unit;
    out.push_back({backward, module.params, module.at});
  }
}

// First modules of the units, and the end. A module outside of units is alone.
std::vector<size_t> unit_bounds(const Modules& modules) {
  std::vector<size_t> out;
  for (size_t m = 0; m < modules.size(); ++m)
    if (m == 0 || modules[m].unit.empty() || modules[m].unit != modules[m - 1].unit) out.push_back(m);
  out.push_back(modules.size());
  return out;
}

std::vector<Call> calls_of(const SyncScope& scope) {
  const Modules modules = modules_of(scope);
  const std::vector<size_t> bounds = unit_bounds(modules);
  std::vector<Call> out{{false, {}, modules.front().at}};
  call(modules, {0, modules.size(), PassDirection::Forward}, false, out);
  out.push_back({true, {}, modules.back().at});
  // Backward, unit by unit. Under recompute each unit first runs its forward once more.
  for (const size_t unit : PassOrder(0, bounds.size() - 1, PassDirection::Backward)) {
    const size_t first = bounds[unit], end = bounds[unit + 1];
    if (scope.policy.recompute && !modules[first].unit.empty())
      call(modules, {first, end, PassDirection::Forward}, true, out);
    call(modules, {first, end, PassDirection::Backward}, true, out);
  }
  return out;
}

class Coordinator {
 public:
  explicit Coordinator(const SyncScope& scope)
      : scope_(scope),
        limits_(scope.policy.zero),
        calls_(calls_of(scope)),
        available_(scope.input.params.size()) {}

  // Gathers of one microbatch, in order of issue. Persistent parameters stay whole for the next microbatch.
  std::vector<SyncAction> microbatch() {
    gathers_.clear();
    live_ = 0;  // as the coordinator counts: without earlier persistent parameters
    latest_.assign(scope_.input.params.size(), -1);
    queue_.clear();
    for (int step = 0; step < static_cast<int>(calls_.size()); ++step)
      for (const int p : calls_[static_cast<size_t>(step)].params) queue_.push_back({p, step});
    for (int step = 0; step < static_cast<int>(calls_.size()); ++step) {
      const Call& call = calls_[static_cast<size_t>(step)];
      gather(call, call.params);
      take_off_queue(call, step);
      prefetch(call);
      release(call, step + 1);
    }
    return gathers_;
  }

  int64_t most() const { return most_; }  // most elements that are gathered at the same time

 private:
  struct Use {
    int param, step;
  };
  int64_t size(int p) const { return scope_.param(p).elements(); }
  int& latest(int p) { return latest_[static_cast<size_t>(p)]; }

  void gather(const Call& call, std::vector<int> params) {
    std::erase_if(params, [&](int p) { return available_[static_cast<size_t>(p)] != 0; });
    if (params.empty()) return;
    std::sort(params.begin(), params.end());
    SyncAction a = scope_.action(call.backward ? Phase::Backward : Phase::Forward, CollectiveKind::AllGather,
                                 scope_.policy.param_dtype);
    a.when = call.backward ? SyncWhen::BeforeBackward : SyncWhen::BeforeForward;
    a.param = call.at;
    for (const int p : params) {
      a.elements += align_up(size(p), scope_.group.size);
      a.parts.push_back(whole(scope_, p));
      available_[static_cast<size_t>(p)] = 1;
      live_ += size(p);
      whole_ += size(p);
    }
    most_ = std::max(most_, whole_);
    gathers_.push_back(std::move(a));
  }

  void take_off_queue(const Call& call, int step) {
    auto fresh = std::count_if(call.params.begin(), call.params.end(),
                               [&](int p) { return latest(p) < step; });
    for (; fresh > 0 && !queue_.empty(); --fresh) {
      latest(queue_.front().param) = queue_.front().step;
      queue_.pop_front();
    }
  }

  void prefetch(const Call& call) {
    const int64_t room = std::min(limits_.max_live_parameters - live_, limits_.prefetch_bucket_size);
    std::vector<int> wanted;
    for (int64_t taken = 0; !queue_.empty() && taken < room; queue_.pop_front()) {
      const Use use = queue_.front();
      latest(use.param) = std::max(latest(use.param), use.step);
      if (available_[static_cast<size_t>(use.param)] != 0 ||
          std::find(wanted.begin(), wanted.end(), use.param) != wanted.end())
        continue;
      wanted.push_back(use.param);
      taken += size(use.param);
    }
    gather(call, std::move(wanted));
  }

  // The hook after a module's backward hangs on the gradients of the module's inputs (parameter_offload.py,
  // _post_backward_module_hook). Token ids have none, so the table that they look up stays whole: the next
  // forward does not gather the table, and the optimizer's step frees it (stage3.py,
  // _partition_all_parameters).
  void release(const Call& call, int next) {
    std::vector<int> out = call.params;
    const bool looks_up = call.backward && call.at < static_cast<int>(scope_.input.params.size());
    std::erase_if(out, [&](int p) {
      return persists(p) || latest(p) > next || (looks_up && scope_.param(p).looked_up);
    });
    int64_t passed = 0;
    for (size_t step = static_cast<size_t>(next); step < calls_.size(); ++step) {
      if (passed >= limits_.max_reuse_distance || out.empty()) break;
      for (const int p : calls_[step].params) {
        std::erase(out, p);
        passed += size(p);
      }
    }
    for (const int p : out) {
      available_[static_cast<size_t>(p)] = 0;
      live_ -= size(p);
      whole_ -= size(p);
    }
  }

  bool persists(int p) const { return size(p) <= limits_.param_persistence_threshold; }

  const SyncScope& scope_;
  const ZeroLimits& limits_;
  std::vector<Call> calls_;
  std::vector<char> available_;
  std::vector<int> latest_;  // step of the latest use for which the parameter was fetched or skipped
  std::deque<Use> queue_;    // future uses
  int64_t live_ = 0, whole_ = 0, most_ = 0;
  std::vector<SyncAction> gathers_;
};

bool same_gather(const SyncAction& a, const SyncAction& b) {
  const auto equal = [](const SyncPart& x, const SyncPart& y) { return x.param == y.param; };
  return a.phase == b.phase && a.param == b.param &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), equal);
}

// Gradients fill a bucket. A gradient that would exceed the limit first triggers the reduction of the bucket.
// Each parameter is padded on its own.
void reduce_scatter(const SyncScope& scope) {
  SyncAction bucket = scope.action(Phase::Backward, CollectiveKind::ReduceScatter, scope.policy.grad_dtype);
  bucket.occurrence = SyncOccurrence::Every;
  bucket.when = SyncWhen::AfterGradient;
  int64_t filled = 0;
  const auto close = [&] {
    if (bucket.parts.empty()) return;
    bucket.param = bucket.parts.back().param;
    std::sort(bucket.parts.begin(), bucket.parts.end(),
              [](const SyncPart& a, const SyncPart& b) { return a.param < b.param; });
    scope.add(bucket);
    if (scope.group.across_size > 1) {
      add_across(scope);
      scope.plan.actions.back().occurrence = SyncOccurrence::Last;
    }
    bucket.parts.clear();
    bucket.elements = filled = 0;
  };
  for (const int p : scope.gradients) {
    const int64_t size = scope.param(p).elements();
    if (filled + size > scope.policy.zero.reduce_bucket_size) close();
    bucket.parts.push_back(whole(scope, p));
    bucket.elements += align_up(size, scope.group.size);
    filled += size;
  }
  close();
}

}  // namespace

void plan_zero3(const SyncScope& scope) {
  if (scope.group.size == 1)
    return reduce_scatter(scope);  // one copy of the states holds them once: no gather
  Coordinator coordinator(scope);
  std::vector<SyncAction> first = coordinator.microbatch(), rest = coordinator.microbatch();
  scope.plan.gathered += coordinator.most();
  const bool equal_steps = std::equal(first.begin(), first.end(), rest.begin(), rest.end(), same_gather);
  for (SyncAction& a : first) {
    a.occurrence = equal_steps ? SyncOccurrence::Every : SyncOccurrence::First;
    scope.add(std::move(a));
  }
  if (!equal_steps) {
    for (SyncAction& a : rest) {
      a.occurrence = SyncOccurrence::Rest;
      scope.add(std::move(a));
    }
  }
  reduce_scatter(scope);
}

}  // namespace shardscape
