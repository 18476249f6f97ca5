// Weights inside the experts: an expert multiplies its activation by the weight of the slot, so that results
// are added without weights (Megatron-core, TEGroupedMLP.forward in transformer/moe/experts.py and
// weighted_swiglu in fusions/fused_bias_swiglu.py). The weights travel with the tokens. A bias behind the
// last GEMM is weighed on its own (_apply_bias).
#include <algorithm>
#include <optional>

#include "graph/op_spec.h"
#include "graph/passes/assembler.h"

namespace shardscape {
namespace {

OpLine* made_by(BlockTemplate& block, const std::string& output) {
  const auto it = std::find_if(block.ops.begin(), block.ops.end(),
                               [&](const OpLine& line) { return line.output == output; });
  return it == block.ops.end() ? nullptr : &*it;
}

bool calls(const OpLine* line, OpKind kind) { return line && line->callee == template_name(kind); }

bool may_weigh(const OpLine* line) {
  const auto kind = line ? op_kind_from_name(line->callee) : std::nullopt;
  return kind && op_traits(*kind).weighs_slots;
}

// The line with the weights of its slots as its last operand. The letters of experts and slots come first.
void weigh(OpLine& line, const std::string& weights) {
  line.spec.insert(line.spec.find("->"), "," + line.spec.substr(0, 2));
  line.args.push_back(weights);
}

}  // namespace

std::optional<BlockTemplate> with_weighed_activations(const BlockTemplate& block) {
  BlockTemplate out = block;
  const auto combine = std::find_if(out.ops.begin(), out.ops.end(),
                                    [](const OpLine& line) { return calls(&line, OpKind::Combine); });
  if (combine == out.ops.end() || combine->args.size() != 2) return std::nullopt;
  const std::string choices = combine->args[1], weights = choices + ".slots";
  OpLine* result = made_by(out, combine->args[0]);
  OpLine* const bias = calls(result, OpKind::BiasAdd) ? result : nullptr;
  if (bias) result = made_by(out, bias->args[0]);
  if (!calls(result, OpKind::Einsum)) return std::nullopt;
  OpLine* const activation = made_by(out, result->args[0]);
  const auto dispatch = std::find_if(out.ops.begin(), out.ops.end(), [&](const OpLine& line) {
    return calls(&line, OpKind::Dispatch) && line.args[0] == choices;
  });
  if (!may_weigh(activation) || dispatch == out.ops.end()) return std::nullopt;
  weigh(*activation, weights);
  if (bias) weigh(*bias, weights);
  combine->callee = template_name(OpKind::CombineSum);
  OpLine sent = *dispatch;
  const OpSpec spec = *parse_op_spec(dispatch->spec);
  sent.output = weights;
  sent.callee = template_name(OpKind::DispatchWeights);
  sent.spec = OpSpec{{spec.in[0]}, spec.out.substr(0, 2)}.text();
  sent.args = {choices};
  out.labels[weights] = "Dispatch of weights";
  out.ops.insert(dispatch + 1, std::move(sent));
  return out;
}

const BlockTemplate* Assembler::weighed(const BlockTemplate& block) {
  const auto [it, fresh] = weighed_.try_emplace(&block);
  if (fresh) it->second = with_weighed_activations(block);
  return it->second ? &*it->second : &block;
}

}  // namespace shardscape
