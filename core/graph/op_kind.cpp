#include "graph/op_kind.h"

#include <array>

namespace shardscape {
namespace {

struct KindInfo {
  std::string_view report_name, template_name;  // empty template name: not allowed in a block
};
constexpr std::array<KindInfo, kOpKindCount> kKinds{{
    {"matmul", "einsum"},
    {"embedding", "embed"},
    {"position_add", "position_add"},
    {"rms_norm", "rms_norm"},
    {"layer_norm", "layer_norm"},
    {"rope", "rope"},
    {"attention", "attention"},
    {"swiglu", "swiglu"},
    {"geglu", "geglu"},
    {"gelu", "gelu"},
    {"soft_cap", "soft_cap"},
    {"scale", "scale"},
    {"dropout", "dropout"},
    {"add", "add"},
    {"bias_add", "bias_add"},
    {"sigmoid_gate", "sigmoid_gate"},
    {"concat", "concat"},
    {"copy", "contiguous"},
    {"cast", ""},
    {"take", "take"},
    {"conv1d", "conv1d"},
    {"selective_scan", "selective_scan"},
    {"ssd", "ssd"},
    {"group_rms_norm", "group_rms_norm"},
    {"reduce_max", "reduce_max"},
    {"sum_exp", "sum_exp"},
    {"pick", "pick"},
    {"nll", "nll"},
    {"flatten", "flatten"},
    {"unflatten", "unflatten"},
    {"softmax_top_k", "softmax_top_k"},
    {"sigmoid_top_k", "sigmoid_top_k"},
    {"dispatch_nodes", "dispatch_nodes"},
    {"dispatch", "dispatch"},
    {"combine_nodes", "combine_nodes"},
    {"combine", "combine"},
    {"all_reduce", ""},
    {"all_gather", ""},
    {"reduce_scatter", ""},
    {"all_to_all", ""},
    {"ring_pass", ""},
    {"ring_sum", ""},
    {"slice", ""},
    {"optimizer", ""},
    {"quantize", ""},
    {"cache_write", ""},
    {"last_token", ""},
    {"merge_parts", ""},
}};
constexpr std::array<std::string_view, kPhaseCount> kPhases{
    "forward", "backward", "recompute", "pipeline", "grad_reduce", "param_gather", "step"};

}  // namespace

std::string_view op_kind_name(OpKind kind) { return kKinds[static_cast<size_t>(kind)].report_name; }

std::string_view template_name(OpKind kind) { return kKinds[static_cast<size_t>(kind)].template_name; }

std::optional<OpKind> op_kind_from_name(std::string_view name) {
  if (name == kRouterRule) return OpKind::Einsum;
  for (size_t i = 0; i < kKinds.size(); ++i)
    if (!name.empty() && kKinds[i].template_name == name) return static_cast<OpKind>(i);
  return std::nullopt;
}

bool is_collective(OpKind kind) { return kind >= OpKind::AllReduce && kind <= OpKind::RingSum; }
CollectiveKind collective_of(OpKind kind) {
  // In the order of OpKind: another collective there changes the size, and does not compile until it has its
  // kind here.
  constexpr std::array kinds{CollectiveKind::AllReduce,     CollectiveKind::AllGather,
                             CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
                             CollectiveKind::SendRecv,      CollectiveKind::SendRecv};
  constexpr auto first = static_cast<size_t>(OpKind::AllReduce), last = static_cast<size_t>(OpKind::RingSum);
  static_assert(kinds.size() == last - first + 1);
  return kinds.at(static_cast<size_t>(kind) - first);
}
bool is_ring(OpKind kind) { return kind == OpKind::RingPass || kind == OpKind::RingSum; }
bool is_routing(OpKind kind) { return kind >= OpKind::Flatten && kind <= OpKind::Combine; }
bool is_relabelling(OpKind kind) { return kind == OpKind::Flatten || kind == OpKind::Unflatten; }
bool is_redistribution(OpKind kind) { return is_collective(kind) || kind == OpKind::Slice; }
std::string_view phase_name(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

}  // namespace shardscape
