#include "graph/op_rows.h"

namespace shardscape {
namespace {

using enum FlopsGroup;
using G = GradientRule;
using F = FlopsRule;
using B = BytesRule;
using T = TimeRule;
using R = RoutingRule;
using D = DroppedLetters;

constexpr Axis kTokens[] = {Axis::Tokens}, kStream[] = {Axis::Batch, Axis::Seq}, kChoices[] = {Axis::Choices},
               kSlots[] = {Axis::Experts, Axis::Slots}, kNodeSlots[] = {Axis::Nodes, Axis::NodeSlots};

constexpr OpTraits routing(OpTraits row, RoutingRule rule) {
  row.routing = rule;
  row.gradient = G::Routing;
  row.drops = D::Any;
  row.accepts_partial_gradient = true;
  return row;
}
constexpr OpTraits redistribution(OpKind kind, std::string_view name,
                                  std::optional<CollectiveKind> collective,
                                  GradientRule gradient = G::Redistribution) {
  return {.kind = kind,
          .name = name,
          .family = OpFamily::Redistribution,
          .gradient = gradient,
          .flops = F::None,
          .collective = collective};
}

constexpr OpTraits kRowsOfRouting[] = {
    routing({.kind = OpKind::Flatten,
             .name = "flatten",
             .template_name = "flatten",
             .flops = F::FirstOperand,
             .operands = 1,
             .makes = kTokens,
             .relabels = true},
            R::StreamToTokens),
    routing({.kind = OpKind::Unflatten,
             .name = "unflatten",
             .template_name = "unflatten",
             .flops = F::FirstOperand,
             .operands = 1,
             .makes = kStream,
             .relabels = true},
            R::TokensToStream),
    routing({.kind = OpKind::SoftmaxTopK,
             .name = "softmax_top_k",
             .template_name = "softmax_top_k",
             .group = Activation,
             .flops = F::FirstOperand,
             .operands = 1,
             .optional = 1,
             .makes = kChoices},
            R::Tokens),
    routing({.kind = OpKind::SigmoidTopK,
             .name = "sigmoid_top_k",
             .template_name = "sigmoid_top_k",
             .group = Activation,
             .flops = F::FirstOperand,
             .operands = 1,
             .optional = 1,
             .makes = kChoices},
            R::Tokens),
    routing({.kind = OpKind::ScoreTopK,
             .name = "score_top_k",
             .template_name = "score_top_k",
             .family = OpFamily::Router,
             .group = Activation,
             .flops = F::FirstOperand,
             .operands = 1,
             .optional = 1,
             .makes = kChoices},
            R::Tokens),
    routing({.kind = OpKind::TableTopK,
             .name = "table_top_k",
             .template_name = "table_top_k",
             .family = OpFamily::Router,
             .group = Activation,
             .flops = F::FirstOperand,
             .operands = 3},
            R::Tokens),
    {.kind = OpKind::ExpertScale,
     .name = "expert_scale",
     .template_name = "expert_scale",
     .group = Activation,
     .flops = F::FirstOperand,
     .operands = 2,
     .drops = D::LastOfSecond},
    routing({.kind = OpKind::WeighTokens,
             .name = "weigh_tokens",
             .template_name = "weigh_tokens",
             .group = Activation,
             .flops = F::Result,
             .operands = 2},
            R::Tokens),
    routing({.kind = OpKind::IdentityExperts,
             .name = "identity_experts",
             .template_name = "identity_experts",
             .group = Activation,
             .flops = F::Result,
             .operands = 2},
            R::Tokens),
    routing({.kind = OpKind::DispatchNodes,
             .name = "dispatch_nodes",
             .template_name = "dispatch_nodes",
             .flops = F::Result,
             .operands = 2,
             .makes = kNodeSlots,
             .sends_tokens = true,
             .choices_operand = 0},
            R::TokensToNodes),
    routing({.kind = OpKind::Dispatch,
             .name = "dispatch",
             .template_name = "dispatch",
             .flops = F::Result,
             .time = T::Routing,
             .operands = 2,
             .makes = kSlots,
             .sends_tokens = true,
             .choices_operand = 0},
            R::ToExperts),
    routing({.kind = OpKind::DispatchWeights,
             .name = "dispatch_weights",
             .template_name = "dispatch_weights",
             .flops = F::None,
             .operands = 1,
             .drops = D::Any,
             .makes = kSlots,
             .keeps_type = true},
            R::ToExperts),
    routing({.kind = OpKind::CombineNodes,
             .name = "combine_nodes",
             .template_name = "combine_nodes",
             .flops = F::FirstOperand,
             .operands = 1,
             .makes = kTokens},
            R::NodesToTokens),
    routing({.kind = OpKind::Combine,
             .name = "combine",
             .template_name = "combine",
             .flops = F::FirstOperand,
             .time = T::Routing,
             .operands = 2},
            R::FromExperts),
    routing({.kind = OpKind::CombineSum,
             .name = "combine_sum",
             .template_name = "combine_sum",
             .flops = F::FirstOperand,
             .time = T::Routing,
             .operands = 2,
             .choices_operand = 1},
            R::FromExperts),
    redistribution(OpKind::AllReduce, "all_reduce", CollectiveKind::AllReduce),
    redistribution(OpKind::AllGather, "all_gather", CollectiveKind::AllGather),
    redistribution(OpKind::ReduceScatter, "reduce_scatter", CollectiveKind::ReduceScatter),
    redistribution(OpKind::AllToAll, "all_to_all", CollectiveKind::AllToAll),
    redistribution(OpKind::RingPass, "ring_pass", CollectiveKind::SendRecv, G::None),
    redistribution(OpKind::RingSum, "ring_sum", CollectiveKind::SendRecv),
    redistribution(OpKind::Slice, "slice", std::nullopt),
    {.kind = OpKind::Optimizer,
     .name = "optimizer",
     .group = FlopsGroup::Optimizer,
     .gradient = G::None,
     .flops = F::None},
    {.kind = OpKind::Quantize,
     .name = "quantize",
     .gradient = G::StraightThrough,
     .flops = F::Quantize,
     .bytes = B::QuantizedCopies},
    {.kind = OpKind::CacheWrite,
     .name = "cache_write",
     .gradient = G::None,
     .flops = F::None,
     .bytes = B::CacheWrite},
    {.kind = OpKind::LastToken,
     .name = "last_token",
     .gradient = G::None,
     .flops = F::None,
     .bytes = B::LastToken},
    {.kind = OpKind::MergeParts, .name = "merge_parts", .gradient = G::None, .flops = F::Merge},
};
static_assert(
    [] {
      for (size_t i = 0; i < std::size(kRowsOfRouting); ++i)
        if (kRowsOfRouting[i].kind != static_cast<OpKind>(static_cast<size_t>(kFirstRoutingKind) + i))
          return false;
      return static_cast<size_t>(kFirstRoutingKind) + std::size(kRowsOfRouting) == kOpKindCount;
    }(),
    "every kind from the first one of routing has a row, in the order of OpKind");

}  // namespace

constinit const std::span<const OpTraits> kRoutingRows(kRowsOfRouting);

}  // namespace shardscape
