#include "design/expert_nodes.h"

#include <algorithm>
#include <cmath>

namespace shardscape {
namespace {

// An axis that the expert mesh covers, or several adjacent ones without a gap.
struct Span {
  int64_t ranks, step;
};

// Expected number of bins, of equal size, that contain at least one of the selected items.
double bins_hit(int64_t bins, int64_t items, int64_t selected) {
  double none = 1;
  for (int64_t i = 0; i < selected; ++i)
    none *= std::max(0.0, static_cast<double>(items - items / bins - i)) / static_cast<double>(items - i);
  return static_cast<double>(bins) * (1 - none);
}

}  // namespace

int64_t ep_ranks_per_node(const Design& design) {
  const ParallelSpec& p = design.parallel;
  const int64_t per_node = design.cluster.gpus_per_node;
  if (design.world() <= per_node) return p.ep;
  const MeshDegrees degrees{
      .tp = p.tp, .cp = p.cp, .dp = p.dp, .pp = p.pp, .dp_shard = p.dp_shard, .ep = p.ep, .etp = p.etp};
  Span span{1, 1};
  int64_t stride = 1;
  for (const MeshAxis axis : p.order.fastest_first) {
    const int64_t degree = mesh_axis(axis).number.value()(degrees);
    const bool covered = axis != MeshAxis::Pp && (axis != MeshAxis::Tp || p.folds_experts());
    if (covered && degree > 1) {
      if (span.ranks == 1) span.step = stride;
      if (span.step * span.ranks != stride) break;
      span.ranks *= axis == MeshAxis::Dp ? degrees.expert_dp() : degree;
    }
    stride *= degree;
  }
  const int64_t etp = degrees.expert_tp(), step = span.step * etp;
  if (span.ranks % (p.ep * etp) != 0) return 0;
  if (step % per_node == 0) return 1;
  if (per_node % step != 0) return 0;
  const int64_t here = per_node / step;
  return here % p.ep == 0 ? p.ep : p.ep % here == 0 ? here : 0;
}

int64_t ep_nodes(const Design& design) {
  const int64_t local = ep_ranks_per_node(design);
  return local > 0 ? design.parallel.ep / local : 0;
}

bool sends_by_node(const Design& design) {
  return design.model.experts > 0 && design.parallel.dispatcher == Dispatcher::Flex && ep_nodes(design) > 1;
}

bool moves_tokens_in_place(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return design.model.experts > 0 && p.dispatcher == Dispatcher::Flex &&
         p.ep * (p.folds_experts() ? p.etp : p.tp) > 1;
}

bool limits_groups(const ModelSpec& model) { return model.groups_per_token < model.expert_groups; }

bool groups_fit_nodes(const ModelSpec& model, int64_t nodes) {
  return model.expert_groups % nodes == 0 || nodes % model.expert_groups == 0;
}

int64_t nodes_per_token(const ModelSpec& m, int64_t nodes) {
  const int64_t reached = nodes * m.groups_per_token / m.expert_groups;  // used with fewer groups than nodes
  const double mean = !limits_groups(m) ? bins_hit(nodes, m.experts, m.experts_per_token)
                      : m.expert_groups >= nodes
                          ? bins_hit(nodes, m.expert_groups, m.groups_per_token)
                          : bins_hit(reached, m.experts * m.groups_per_token / m.expert_groups,
                                     m.experts_per_token);
  constexpr double kRounding = 1e-9;  // whole numbers must not be rounded up
  return std::min(m.experts_per_token * 1000, static_cast<int64_t>(std::ceil(mean * 1000 - kRounding)));
}

}  // namespace shardscape
