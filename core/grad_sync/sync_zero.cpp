// DeepSpeed ZeRO-0 to ZeRO-2 (runtime/zero/stage_1_and_2.py, runtime/bf16_optimizer.py, runtime/engine.py).
// Parameters form one flat buffer in order of declaration, padded to two elements per rank. Rank r owns the
// r-th part. With groups of replicas, ZeRO-1 all-reduces gradients over all replicas and gathers updated
// parameters inside a group, as InternEvo does (solver/optimizer/hybrid_zero_optim.py,
// _reduce_grads_by_rank and broadcast_params). ZeRO-2 reduces inside a group, and all-reduces the rank's part
// across groups once a step, as MiCS does (arXiv 2205.00119, section 3.4).
#include <algorithm>

#include "base/units.h"
#include "grad_sync/sync_rules.h"

namespace shardscape {
namespace {

constexpr int64_t kStartAlignment = 2;  // nccl_start_alignment_factor: 4 bytes of 16-bit elements

int64_t flat_size(const SyncScope& scope) {
  int64_t n = 0;
  for (const int p : scope.params) n += scope.param(p).elements();
  return align_up(n, kStartAlignment * scope.group.size);
}

// ZeRO-0 closes a reduce buffer with the gradient that exceeds the limit, ZeRO-1 before that gradient. Both
// walk the parameters after the last backward.
void reduce_flat(const SyncScope& scope) {
  const int64_t limit = scope.policy.zero.reduce_bucket_size;
  const bool before = scope.policy.strategy == SyncStrategy::Zero1;
  SyncAction bucket = scope.action(Phase::Backward, CollectiveKind::AllReduce, scope.policy.grad_dtype);
  bucket.occurrence = SyncOccurrence::Last;
  bucket.elements = 0;
  bucket.group = scope.group.whole_name();
  bucket.group_size *= scope.group.across_size;
  const auto close = [&] {
    if (bucket.parts.empty()) return;
    scope.add(bucket);
    bucket.parts.clear();
    bucket.elements = 0;
  };
  for (const int p : scope.params) {
    const SyncPart part = whole(scope, p);
    if (before && bucket.elements + part.count > limit) close();
    bucket.parts.push_back(part);
    bucket.elements += part.count;
    if (!before && bucket.elements > limit) close();
  }
  close();
}

// ZeRO-2: gradients fill a bucket as they become ready. A full bucket is cut where the owner changes; each
// piece is reduced to its owner.
class RootedReductions {
 public:
  explicit RootedReductions(const SyncScope& scope)
      : scope_(scope), owned_(flat_size(scope) / scope.group.size) {
    int64_t at = 0;
    starts_.resize(scope.input.params.size());
    for (const int p : scope.params) {
      starts_[static_cast<size_t>(p)] = at;
      at += scope.param(p).elements();
    }
  }

  void run() {
    std::vector<int> bucket;
    int64_t filled = 0;
    for (const int p : scope_.gradients) {
      const int64_t size = scope_.param(p).elements();
      if (filled + size > scope_.policy.zero.reduce_bucket_size) {
        reduce(bucket);
        bucket.clear();
        filled = 0;
      }
      bucket.push_back(p);
      filled += size;
    }
    reduce(bucket);
    if (scope_.group.across_size > 1) reduce_across();
  }

 private:
  // The rank's own part. In a group of one rank, no reduction comes before.
  void reduce_across() const {
    SyncAction a = scope_.action(Phase::Backward, CollectiveKind::AllReduce, scope_.policy.grad_dtype);
    a.occurrence = SyncOccurrence::Last;
    a.group = scope_.group.across;
    a.group_size = scope_.group.across_size;
    a.elements = owned_;
    if (scope_.group.size == 1)
      for (const int p : scope_.params) a.parts.push_back(whole(scope_, p));
    scope_.add(std::move(a));
  }

  void reduce(const std::vector<int>& bucket) const {
    SyncAction piece = scope_.action(Phase::Backward, CollectiveKind::Reduce, scope_.policy.grad_dtype);
    piece.occurrence = SyncOccurrence::Every;
    piece.when = SyncWhen::AfterGradient;
    const auto close = [&] {
      if (piece.parts.empty()) return;
      piece.elements = elements_of(piece.parts);
      piece.param = bucket.back();
      scope_.add(piece);
      piece.parts.clear();
    };
    for (const int p : bucket) {
      const int64_t start = starts_[static_cast<size_t>(p)], size = scope_.param(p).elements();
      for (int64_t at = 0; at < size;) {
        const int64_t owner = (start + at) / owned_;
        const int64_t count = std::min(size - at, (owner + 1) * owned_ - (start + at));
        if (owner != piece.root) close();
        piece.root = owner;
        piece.parts.push_back({p, at, count});
        at += count;
      }
    }
    close();
  }

  const SyncScope& scope_;
  int64_t owned_;
  std::vector<int64_t> starts_;  // offset in the flat buffer, by parameter
};

// A plan with more gathers, or with more parts of parameters in them, takes too much time and memory.
constexpr int64_t kMostGathers = 16384, kMostParts = int64_t{1} << 24;

// Gathers the updated parameters. Each rank's part is split into as many shards as the limit requires
// (runtime/utils.py, all_gather_dp_groups).
std::optional<Problem> gather_updated(const SyncScope& scope) {
  const int64_t flat = flat_size(scope), own = flat / scope.group.size;
  const int64_t shards = std::max<int64_t>(1, flat / scope.policy.zero.allgather_bucket_size);
  const int64_t most = std::max<int64_t>(1, std::min(kMostGathers, kMostParts / scope.group.size));
  if (shards > most) {
    const int64_t least = flat / (most + 1) + 1;
    return Problem(ProblemCode::TooManyCollectives, "zero_allgather_bucket_size",
                   "gathers of " + grouped(scope.policy.zero.allgather_bucket_size) + " of the " +
                       grouped(flat) + " parameters on a stage make a step of " + grouped(shards) +
                       " collectives",
                   grouped(least) + " or more, for at most " + grouped(most) + " collectives",
                   {{"set zero_allgather_bucket_size to " + grouped(least),
                     {{"zero_allgather_bucket_size", std::to_string(least)}}}});
  }
  const int64_t shard = own / shards - own / shards % kStartAlignment;
  std::vector<int64_t> ends;  // end offsets in the flat buffer, in order of the parameters
  for (const int p : scope.params)
    ends.push_back((ends.empty() ? 0 : ends.back()) + scope.param(p).elements());
  for (int64_t i = 0; i < shards; ++i) {
    const int64_t begin = i * shard, size = i + 1 == shards ? own - begin : shard;
    SyncAction a = scope.action(Phase::Step, CollectiveKind::AllGather, scope.policy.param_dtype);
    a.elements = size * scope.group.size;
    a.occurrence = SyncOccurrence::Last;
    a.when = SyncWhen::AfterOptimizer;
    a.parts.reserve(static_cast<size_t>(scope.group.size));  // more where a part has several parameters
    for (int64_t owner = 0; owner < scope.group.size; ++owner) {
      const int64_t from = owner * own + begin;
      const auto first = std::upper_bound(ends.begin(), ends.end(), from);
      for (auto k = static_cast<size_t>(first - ends.begin()); k < ends.size(); ++k) {
        const int64_t start = k == 0 ? 0 : ends[k - 1], lo = std::max(start, from),
                      hi = std::min(ends[k], from + size);
        if (lo >= hi) break;
        a.parts.push_back({scope.params[k], lo - start, hi - lo});
      }
    }
    scope.add(std::move(a));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Problem> plan_zero(const SyncScope& scope) {
  if (scope.policy.strategy == SyncStrategy::Zero2)
    RootedReductions(scope).run();
  else
    reduce_flat(scope);
  // ZeRO-0 shards states only in its bfloat16 optimizer.
  if (scope.policy.strategy != SyncStrategy::Zero0 || scope.policy.param_dtype == DType::BF16)
    return gather_updated(scope);
  return std::nullopt;
}

}  // namespace shardscape
