#include "grad_sync/sync_plan.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "grad_sync/sync_rules.h"
#include "pipeline/pass_order.h"

namespace shardscape {
namespace {

std::vector<Problem> problems_of(const SyncInput& input, const SyncPolicy& policy) {
  std::vector<Problem> out;
  const auto at_least = [&](const char* where, int64_t value, int64_t least) {
    if (value < least)
      out.emplace_back(ProblemCode::SyncInputInvalid, where, "the value is " + std::to_string(value),
                       "a whole number of " + std::to_string(least) + " or more");
  };
  at_least("microbatches", policy.microbatches, 1);
  at_least("bucket_bytes", policy.bucket_bytes, 1);
  at_least("first_bucket_bytes", policy.first_bucket_bytes, 1);
  at_least("param_alignment", policy.param_alignment, 1);
  at_least("bucket_alignment", policy.bucket_alignment, 1);
  at_least("bucket_elements", policy.bucket_elements, 0);
  at_least("reduce_bucket_size", policy.zero.reduce_bucket_size, 1);
  at_least("allgather_bucket_size", policy.zero.allgather_bucket_size, 1);
  at_least("prefetch_bucket_size", policy.zero.prefetch_bucket_size, 0);
  at_least("param_persistence_threshold", policy.zero.param_persistence_threshold, 0);
  at_least("max_live_parameters", policy.zero.max_live_parameters, 0);
  at_least("max_reuse_distance", policy.zero.max_reuse_distance, 0);
  for (const SyncGroup& group : input.groups) {
    at_least(group.name.c_str(), group.size, 1);
    at_least(group.across.c_str(), group.across_size, 1);
    if (group.across_size > 1 && !shards_in_groups(policy.strategy))
      out.emplace_back(ProblemCode::SyncReplicasUnsupported, group.across,
                       "only FSDP, ZeRO-1 to ZeRO-3 and Megatron's distributed optimizer replicate shards "
                       "across groups",
                       "FSDP, ZeRO-1 to ZeRO-3 or the distributed optimizer, or shards without replicas");
    else if (group.across_size > 1 && is_fsdp(policy.strategy) && policy.sharding == FsdpSharding::NoShard)
      out.emplace_back(ProblemCode::SyncReplicasUnsupported, group.across,
                       "without sharding there are no shards to replicate", "one group of all replicas");
  }
  for (const SyncReuse& reuse : input.reused)
    if (reuse.param < 0 || reuse.param >= static_cast<int>(input.params.size()))
      out.emplace_back(ProblemCode::SyncInputInvalid, reuse.module,
                       "the reuse names parameter " + std::to_string(reuse.param),
                       "the index of a listed parameter");
  for (const SyncParam& param : input.params) {
    if (param.group < 0 || param.group >= static_cast<int>(input.groups.size()))
      out.emplace_back(ProblemCode::SyncInputInvalid, param.name,
                       "the parameter names group " + std::to_string(param.group),
                       "0 to " + std::to_string(static_cast<int64_t>(input.groups.size()) - 1));
    for (const int64_t size : param.shape) at_least(param.name.c_str(), size, 1);
  }
  return out;
}

}  // namespace

int64_t sync_occurrences(SyncOccurrence occurrence, int64_t microbatches) {
  switch (occurrence) {
    case SyncOccurrence::Every: return microbatches;
    case SyncOccurrence::Rest: return microbatches - 1;
    case SyncOccurrence::First:
    case SyncOccurrence::Last: break;
  }
  return 1;
}

bool sync_happens(SyncOccurrence occurrence, int64_t microbatch, int64_t microbatches) {
  switch (occurrence) {
    case SyncOccurrence::Every: return true;
    case SyncOccurrence::First: return microbatch == 0;
    case SyncOccurrence::Rest: return microbatch > 0;
    case SyncOccurrence::Last: break;
  }
  return microbatch + 1 == microbatches;
}

bool crosses_once_a_step(SyncStrategy s) { return s == SyncStrategy::MegatronFsdp || !is_fsdp(s); }
bool shards_parameters(SyncStrategy s) { return is_fsdp(s) || s == SyncStrategy::Zero3; }
bool shards_gradients(SyncStrategy s) { return shards_parameters(s) || s == SyncStrategy::Zero2; }
bool shards_states(SyncStrategy s) {
  return shards_gradients(s) || s == SyncStrategy::Zero1 || s == SyncStrategy::DistributedOptimizer;
}

std::vector<SyncKind> sync_kinds(const SyncPolicy& policy) {
  const bool adds_up = policy.strategy == SyncStrategy::MegatronFsdp;
  const SyncOccurrence reduced = policy.every_microbatch || adds_up ? SyncOccurrence::Every
                                                                    : SyncOccurrence::Last;
  const Phase phase = policy.overlap ? Phase::Backward : Phase::GradReduce;
  const SyncKind updated{Phase::Step, CollectiveKind::AllGather};
  switch (policy.strategy) {
    case SyncStrategy::DdpFlat: return {{phase, CollectiveKind::AllReduce}};
    case SyncStrategy::DistributedOptimizer:
      if (policy.quantized_dtype)
        return {{phase, CollectiveKind::ReduceScatter},
                {phase, CollectiveKind::AllReduce, SyncOccurrence::Last, true},
                {Phase::ParamGather, CollectiveKind::AllGather},
                {Phase::ParamGather, CollectiveKind::AllGather, SyncOccurrence::Last, false, true}};
      return {{phase, CollectiveKind::ReduceScatter},
              {phase, CollectiveKind::AllReduce, SyncOccurrence::Last, true},
              {Phase::ParamGather, CollectiveKind::AllGather}};
    case SyncStrategy::DdpBuckets: return {{Phase::Backward, CollectiveKind::AllReduce, reduced}};
    case SyncStrategy::Zero0:
      if (policy.param_dtype != DType::BF16) return {{Phase::Backward, CollectiveKind::AllReduce}};
      [[fallthrough]];
    case SyncStrategy::Zero1:
      return {{Phase::Backward, CollectiveKind::AllReduce, SyncOccurrence::Last, false, false, true},
              updated};
    case SyncStrategy::Zero2:
      return {{Phase::Backward, CollectiveKind::Reduce, SyncOccurrence::Every},
              {Phase::Backward, CollectiveKind::AllReduce, SyncOccurrence::Last, true},
              updated};
    case SyncStrategy::Zero3:
      return {{Phase::Forward, CollectiveKind::AllGather},
              {Phase::Backward, CollectiveKind::AllGather},
              {Phase::Backward, CollectiveKind::ReduceScatter, SyncOccurrence::Every},
              {Phase::Backward, CollectiveKind::AllReduce, SyncOccurrence::Last, true}};
    case SyncStrategy::Fsdp1:
    case SyncStrategy::Fsdp2:
    case SyncStrategy::MegatronFsdp: break;
  }
  if (policy.sharding == FsdpSharding::NoShard)
    return {{Phase::Backward, CollectiveKind::AllReduce, reduced}};
  std::vector<SyncKind> out{
      {Phase::Forward, CollectiveKind::AllGather},
      {Phase::Backward, CollectiveKind::ReduceScatter, reduced},
      {Phase::Backward, CollectiveKind::AllReduce, adds_up ? SyncOccurrence::Last : reduced}};
  if (policy.sharding == FsdpSharding::FullShard) out.push_back({Phase::Backward, CollectiveKind::AllGather});
  return out;
}

int64_t SyncParam::elements() const {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

SyncAction& SyncScope::add(SyncAction action) const { return plan.actions.emplace_back(std::move(action)); }

SyncAction SyncScope::action(Phase phase, CollectiveKind op, DType dtype) const {
  SyncAction out{.phase = phase, .op = op};
  out.group = group.name;
  out.group_size = group.size;
  out.replicas = static_cast<int>(&group - input.groups.data());
  out.dtype = dtype;
  out.occurrence = reduce_occurrence();
  return out;
}

void add_across(const SyncScope& scope) {
  SyncAction a = scope.plan.actions.back();
  a.op = CollectiveKind::AllReduce;
  a.elements /= a.group_size;
  a.group = scope.group.across;
  a.group_size = scope.group.across_size;
  if (scope.group.size > 1) a.parts.clear();  // the scatter determines its parts
  scope.add(std::move(a));
}

SyncPart whole(const SyncScope& scope, int param) { return {param, 0, scope.param(param).elements()}; }

int64_t elements_of(const std::vector<SyncPart>& parts) {
  int64_t n = 0;
  for (const SyncPart& part : parts) n += part.count;
  return n;
}

std::vector<SyncModule> modules_of(const SyncScope& scope) {
  std::vector<SyncModule> out;
  for (const int p : scope.params) {
    if (out.empty() || scope.param(out.back().params.front()).module != scope.param(p).module)
      out.push_back({scope.param(p).unit, {}, p});
    out.back().params.push_back(p);
  }
  for (size_t i = 0; i < scope.input.reused.size(); ++i) {
    const int p = scope.input.reused[i].param;
    if (std::find(scope.params.begin(), scope.params.end(), p) != scope.params.end())
      out.push_back({"", {p}, static_cast<int>(scope.input.params.size() + i)});
  }
  return out;
}

std::vector<int> gradient_order(const std::vector<SyncParam>& params) {
  std::vector<size_t> modules;  // first parameters of the modules, and the end
  for (size_t i = 0; i < params.size(); ++i)
    if (i == 0 || params[i].module != params[i - 1].module) modules.push_back(i);
  modules.push_back(params.size());
  std::vector<int> out;
  for (const size_t m : PassOrder(0, modules.size() - 1, PassDirection::Backward)) {
    const size_t begin = modules[m], end = modules[m + 1];
    bool matrix = false;
    for (size_t i = begin; i < end; ++i) matrix |= params[i].shape.size() > 1;
    for (size_t i = 0; i < end - begin; ++i)
      out.push_back(static_cast<int>(matrix ? end - 1 - i : begin + i));
  }
  return out;
}

Result<SyncPlan> plan_sync(const SyncInput& input, const SyncPolicy& policy) {
  if (auto problems = problems_of(input, policy); !problems.empty()) return problems.front();
  SyncPlan plan;
  const std::vector<int> ready = gradient_order(input.params);
  int chunks = 1;
  for (const SyncParam& p : input.params) chunks = std::max(chunks, p.chunk + 1);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int g = 0; g < static_cast<int>(input.groups.size()); ++g) {
      const SyncGroup& group = input.groups[static_cast<size_t>(g)];
      SyncScope scope{input, policy, group, {}, {}, plan};
      const auto here = [&](int i) { return scope.param(i).group == g && scope.param(i).chunk == chunk; };
      for (int i = 0; i < static_cast<int>(input.params.size()); ++i)
        if (here(i)) scope.params.push_back(i);
      std::copy_if(ready.begin(), ready.end(), std::back_inserter(scope.gradients),
                   [&](int i) { return here(i) && !scope.param(i).frozen; });
      if (scope.params.empty() || group.size * group.across_size == 1) continue;
      switch (policy.strategy) {
        case SyncStrategy::DdpFlat:
        case SyncStrategy::DistributedOptimizer: plan_megatron(scope); break;
        case SyncStrategy::DdpBuckets: plan_ddp_buckets(scope); break;
        case SyncStrategy::Zero0:
        case SyncStrategy::Zero1:
        case SyncStrategy::Zero2:
          if (auto problem = plan_zero(scope)) return *std::move(problem);
          break;
        case SyncStrategy::Zero3: plan_zero3(scope); break;
        case SyncStrategy::Fsdp1:
        case SyncStrategy::Fsdp2:
        case SyncStrategy::MegatronFsdp: plan_fsdp(scope); break;
      }
    }
  }
  std::erase_if(plan.actions, [](const SyncAction& a) { return a.group_size == 1 || a.elements == 0; });
  return plan;
}

}  // namespace shardscape
