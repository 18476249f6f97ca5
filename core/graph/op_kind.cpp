#include "graph/op_kind.h"

#include <array>

#include "graph/op_traits.h"

namespace shardscape {
namespace {

constexpr std::array<std::string_view, kPhaseCount> kPhases{
    "forward", "backward", "recompute", "pipeline", "grad_reduce", "param_gather", "step"};

}  // namespace

std::string_view phase_name(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

std::string_view op_kind_name(OpKind kind) { return op_traits(kind).name; }

std::string_view template_name(OpKind kind) { return op_traits(kind).template_name; }

std::optional<OpKind> op_kind_from_name(std::string_view name) {
  if (name == kRouterRule) return OpKind::Einsum;
  if (name.empty()) return std::nullopt;
  for (int i = 0; i < kOpKindCount; ++i)
    if (const auto kind = static_cast<OpKind>(i); template_name(kind) == name) return kind;
  return std::nullopt;
}

bool is_collective(OpKind kind) { return op_traits(kind).collective.has_value(); }
CollectiveKind collective_of(OpKind kind) { return op_traits(kind).collective.value(); }
bool is_ring(OpKind kind) { return op_traits(kind).collective == CollectiveKind::SendRecv; }
bool is_redistribution(OpKind kind) { return op_traits(kind).family == OpFamily::Redistribution; }
bool is_routing(OpKind kind) { return op_traits(kind).routing.has_value(); }
bool is_relabelling(OpKind kind) { return op_traits(kind).relabels; }
FlopsGroup flops_group(OpKind kind) { return op_traits(kind).group; }
bool is_loss(OpKind kind) { return op_traits(kind).group == FlopsGroup::Loss; }

OpAttributes default_attributes(OpKind kind) {
  switch (op_traits(kind).family) {
    case OpFamily::Plain: return {};
    case OpFamily::Rope: return RopeAttributes{};
    case OpFamily::Attention:
    case OpFamily::Index: return AttentionAttributes{};
    case OpFamily::SwiGlu: return SwiGluAttributes{};
    case OpFamily::StreamGate: return StreamGateAttributes{};
    case OpFamily::Router: return RouterAttributes{};
    case OpFamily::LinearScan: return LinearScanAttributes{};
    case OpFamily::DecayGate: return DecayGateAttributes{};
    case OpFamily::Redistribution: return Redistribution{};
  }
  return {};
}

}  // namespace shardscape
