// Checks the number of ranks, and the placement of tensor-parallel groups on nodes.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/cluster.h"
#include "design/limits.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

bool can_choose_tp(const Checks& checks) {
  return checks.in_range({"hidden", "heads", "kv_heads", "ffn", "ssm_expand", "ssm_heads", "ssm_head_dim",
                          "ssm_groups", "linear_key_heads", "linear_norm_groups", "seq", "tp", "pp", "dp"});
}

std::vector<Fix> fewer_ranks(const Checks& checks) {
  const Design& d = checks.design;
  std::vector<Fix> fixes;
  if (checks.in_range({"batch", "microbatch"}))
    offer(fixes, "dp", dp_at_most(d, kMaxWorld / ranks_without(d, "dp")));
  // A list of layers and virtual stages fit only certain numbers of stages.
  if (d.parallel.stage_layers.empty() && d.parallel.virtual_stages == 1)
    offer(fixes, "pp", kMaxWorld / ranks_without(d, "pp"));
  const int64_t tp = kMaxWorld / ranks_without(d, "tp");
  if (tp >= 1 && can_choose_tp(checks)) offer(fixes, "tp", tp_at_most(d, tp));
  if (fixes.empty()) {
    fixes.push_back(both(set_to("dp", 1), both(set_to("pp", 1), set_to("stage_layers", std::string()))));
    if (d.parallel.cp > 1) fixes.back() = both(std::move(fixes.back()), set_to("cp", 1));
    if (d.parallel.virtual_stages > 1)
      fixes.back() = both(std::move(fixes.back()), set_to("virtual_stages", 1));
  }
  return fixes;
}

// The distance between adjacent ranks of a tensor-parallel group.
int64_t tp_stride(const ParallelSpec& parallel) {
  const MeshDegrees degrees{.cp = parallel.cp, .dp = parallel.dp, .pp = parallel.pp};
  int64_t stride = 1;
  for (MeshAxis axis : parallel.order.fastest_first) {
    if (axis == MeshAxis::Tp) break;
    stride *= mesh_axis(axis).number.value()(degrees);
  }
  return stride;
}

RankOrder tp_first(RankOrder order) {
  std::stable_partition(order.fastest_first.begin(), order.fastest_first.end(),
                        [](MeshAxis axis) { return axis == MeshAxis::Tp; });
  return order;
}

// Collectives of tp are on the critical path of every layer.
void check_nodes(Checks& checks) {
  if (checks.first_only) return;  // only notes follow
  if (!checks.in_range({"tp", "pp", "dp", "cp", "rank_order", "gpus_per_node", "accelerator", "network",
                        "scaleup_domain"}))
    return;
  const Design& d = checks.design;
  const int64_t tp = d.parallel.tp, node = scaleup_domain(d), span = tp_stride(d.parallel) * tp;
  if (tp == 1 || d.world() <= node || node % span == 0) return;
  const std::string slow = " its collectives run over the network, on the critical path of every layer";
  std::vector<Fix> fixes;
  if (tp <= node && node % tp == 0) {
    const std::string order = to_string(tp_first(d.parallel.order));
    checks.note(ProblemCode::TpNotAdjacent, "rank_order",
                "with the rank order " + to_string(d.parallel.order) +
                    ", the ranks of a tensor-parallel group are on different nodes:" + slow,
                "tp first, as in " + order, {set_to("rank_order", order)});
    return;
  }
  if (can_choose_tp(checks)) {
    int64_t smaller = tp_at_most(d, std::min(tp - 1, node));
    while (smaller > 0 && node % smaller != 0) smaller = tp_at_most(d, smaller - 1);
    if (smaller > 0) {
      Fix fix = set_to("tp", smaller);
      if (smaller > 1 && tp_stride(d.parallel) > 1) {
        fix = both(std::move(fix), set_to("rank_order", to_string(tp_first(d.parallel.order))));
      }
      fixes.push_back(std::move(fix));
    }
  }
  const bool rack = node != d.cluster.gpus_per_node;
  const std::string wrong = tp > node ? (rack ? " is larger than a scale-up domain of "
                                              : " is larger than a node of ") +
                                            grouped(node) + " GPUs:"
                            : rack ? " does not divide the " + grouped(node) +
                                         " GPUs of a scale-up domain, so some groups span two domains:"
                                   : " does not divide " + grouped(node) +
                                         " GPUs per node, so some groups span two nodes:";
  checks.note(ProblemCode::TpAcrossNodes, "tp", "tp = " + grouped(tp) + wrong + slow,
              "a divisor of " + grouped(node) + ": " + or_list(divisors(node)), std::move(fixes));
}

}  // namespace

void check_placement(Checks& checks) {
  if (!checks.in_range({"tp", "pp", "dp", "cp"})) return;
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  const Wide ranks = Wide(p.tp) * p.pp * p.dp * p.cp;
  if (ranks > kMaxWorld) {
    const std::string cp = p.cp > 1 ? " x " + grouped(p.cp) : "";
    checks.error(ProblemCode::TooManyRanks, "dp",
                 std::string("tp x pp x dp") + (p.cp > 1 ? " x cp" : "") + " = " + grouped(p.tp) + " x " +
                     grouped(p.pp) + " x " + grouped(p.dp) + cp + " gives " + grouped(ranks) + " ranks",
                 "a product of at most " + grouped(kMaxWorld), fewer_ranks(checks));
    return;
  }
  check_nodes(checks);
}

}  // namespace shardscape
