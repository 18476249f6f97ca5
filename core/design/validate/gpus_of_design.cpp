#include "design/validate/gpus_of_design.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "design/limits.h"
#include "design/validate/checks.h"
#include "design/validate/validate.h"

namespace shardscape {
namespace {

bool valid(const Design& design) { return !has_errors(validate(design)); }

// The largest divisor of ep over which the ranks of a stage split (check_mesh() in check_experts.cpp).
int64_t ep_on_ranks(const ParallelSpec& p) {
  const int64_t ranks = p.dp * p.cp * (p.folds_experts() ? p.tp : 1);
  if (p.ep > kMaxWorld) return p.ep;  // out of range
  int64_t ep = p.ep;
  while (ep > 1 && (p.ep % ep != 0 || ranks % (ep * p.expert_tp()) != 0)) --ep;
  return ep;
}

// With the largest valid microbatch up to that of the design; nullopt: none is valid.
std::optional<Design> with_microbatch(Design design) {
  if (design.workload.batch > kMaxBatch) return std::nullopt;
  for (int64_t b = std::min(design.workload.microbatch, design.workload.batch); b >= 1; --b) {
    if (!splits_batch(design, design.parallel.dp, b)) continue;
    design.workload.microbatch = b;
    if (valid(design)) return design;
  }
  return std::nullopt;
}

// The multiple of the unit that is nearest to the batch, at least one unit.
int64_t nearest_multiple(int64_t batch, int64_t unit) {
  const int64_t below = batch / unit * unit;
  return below > 0 && (batch - below <= below + unit - batch || below > kMaxBatch - unit) ? below
                                                                                          : below + unit;
}

}  // namespace

Design design_on_gpus(Design design, int64_t gpus) {
  ParallelSpec& p = design.parallel;
  for (int64_t* degree : {&p.tp, &p.cp, &p.pp}) {
    *degree = std::gcd(*degree, gpus);
    gpus /= *degree;
  }
  p.dp = gpus;
  return design;
}

Design fitted_to_replicas(const Design& design) {
  if (valid(design)) return design;
  Design next = design;
  if (design.model.experts > 0) next.parallel.ep = ep_on_ranks(design.parallel);
  if (const auto fitted = with_microbatch(next)) return *fitted;
  if (trains(design)) return design;
  const int64_t dp = design.parallel.dp;
  for (const int64_t unit : {dp, dp * design.parallel.tp, dp * design.workload.microbatch}) {
    if (unit > kMaxBatch) continue;
    next.workload.batch = nearest_multiple(design.workload.batch, unit);
    if (const auto fitted = with_microbatch(next)) return *fitted;
  }
  return design;
}

}  // namespace shardscape
