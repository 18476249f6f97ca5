#include "graph/useful_flops.h"

#include <algorithm>
#include <set>

#include "graph/op_spec.h"
#include "graph/op_traits.h"

namespace shardscape {
namespace {

// Unsharded size of the first dimension with this axis; null if no tensor has the axis.
const Expr* extent(const Segment& segment, Axis axis) {
  for (const Tensor& t : segment.tensors)
    for (size_t d = 0; d < t.axes.size(); ++d)
      if (t.axes[d] == axis) return &t.sizes[d];
  return nullptr;
}

Expr every_term(const Segment& segment, const Op& op) {
  if (op_traits(op.kind).flops == FlopsRule::Attention) {
    const Tensor &q = segment.tensor(op.inputs[0]), &k = segment.tensor(op.inputs[1]),
                 &v = segment.tensor(op.inputs[2]);
    const Expr keys = compressed_keys(segment, op) >= 0
                          ? window_per_query(segment, op) + compressed_per_query(segment, op)
                      : picked_keys(segment, op) >= 0   ? picked_per_query(segment, op)
                      : attention_attributes(op).packed ? document_tokens()
                                                        : k.sizes[1];
    return Expr(2) * q.sizes[0] * q.sizes[1] * q.sizes[2] * keys * (k.sizes.back() + v.sizes.back());
  }
  // Weights of index heads have no letters of their own.
  const OpSpec spec = *parse_op_spec(op.spec);
  std::set<char> seen;
  Expr out(2);
  for (size_t i = 0; i < spec.in.size() && i < op.inputs.size(); ++i)
    for (size_t d = 0; d < spec.in[i].size(); ++d)
      if (seen.insert(spec.in[i][d]).second) out = out * segment.tensor(op.inputs[i]).sizes[d];
  return out;
}

}  // namespace

Expr document_tokens() {
  static const Expr tokens{Symbol::intern("Sd")};
  return tokens;
}

Expr useful_flops_of(const Segment& segment, const Expr& flops) {
  static const Expr of_rank{Symbol::intern("Cx")}, top_k{Symbol::intern("K")}, all{Symbol::intern("X")};
  const Symbol slots_of_rank = segment.scope.of(of_rank).symbols().front();
  const std::vector<Symbol> symbols = flops.symbols();
  if (std::find(symbols.begin(), symbols.end(), slots_of_rank) == symbols.end()) return flops;
  const Expr *tokens = extent(segment, Axis::Tokens), *slots = extent(segment, Axis::Slots);
  if (!tokens || !slots) return flops;
  const Expr* routes = extent(segment, Axis::AllRoutes);
  const Expr experts = routes ? *routes : segment.scope.of(all);
  return flops.substitute(slots_of_rank,
                          Expr(slots_of_rank) * *tokens * segment.scope.of(top_k) / (experts * *slots));
}

bool has_model_flops(OpKind kind) {
  switch (op_traits(kind).flops) {
    case FlopsRule::Contraction:
    case FlopsRule::Attention:
    case FlopsRule::IndexScores: return true;
    case FlopsRule::Letters:
    case FlopsRule::OwnLetters:
    case FlopsRule::Result:
    case FlopsRule::FirstOperand:
    case FlopsRule::SecondOperand:
    case FlopsRule::None:
    case FlopsRule::Scan:
    case FlopsRule::LinearScan:
    case FlopsRule::Sum:
    case FlopsRule::Merge:
    case FlopsRule::Quantize: return false;
  }
  return false;
}

Expr model_flops_of(const Segment& segment, const Op& op) {
  return useful_flops_of(segment, every_term(segment, op));
}

}  // namespace shardscape
