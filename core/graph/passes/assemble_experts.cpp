// Tokens on their way to experts and back: dispatch in two steps, across nodes and inside a node, and slots
// in the type in which they travel.
#include "graph/passes/assembler.h"

namespace shardscape {

TensorId Assembler::to_experts(TensorId slots) {
  const Structure& s = b_.structure();
  const bool quantized = is_quantized(type_at_experts());
  if (is_quantized(b_.tensor(slots).dtype)) {  // quantized before the exchange across nodes
    const TensorId there = b_.redistribute(slots, b_.at_experts(), Phase::Forward, "the experts");
    return quantized ? there : b_.cast(there, s.dtype, Phase::Forward);
  }
  if (!s.fp8_dispatch)
    return quantized ? b_.redistribute(slots, b_.at_experts(), Phase::Forward, "the experts") : slots;
  if (quantized) return slots;
  const TensorId sent = b_.quantize(slots, Phase::Forward, static_cast<int>(b_.segment().blocks.size()) - 1,
                                    DType::FP8Block);
  return b_.cast(b_.redistribute(sent, b_.at_experts(), Phase::Forward, "the experts"), s.dtype,
                 Phase::Forward);
}

OpLine Assembler::with(OpLine line, OpKind callee, std::vector<std::string> in, std::string out) {
  line.callee = template_name(callee);
  line.spec = OpSpec{std::move(in), std::move(out)}.text();
  return line;
}

char Assembler::unused_letter(const OpSpec& spec) {
  for (char letter = 'a';; ++letter)
    if (spec.text().find(letter) == std::string::npos) return letter;
}

TensorId Assembler::dispatch_by_node(const OpLine& line, const OpSpec& spec,
                                     const std::vector<TensorId>& operands, const std::string& name,
                                     const std::string& label, RecomputeModules modules) {
  const Structure& s = b_.structure();
  const std::string &choices = spec.in[0], &tokens = spec.in[1], &slots = spec.out;
  const std::string node(1, unused_letter(spec)), rows = slots.substr(0, 2);
  TensorId weights = operands[0];
  if (b_.tensor(weights).dtype != DType::FP32) {
    weights = b_.cast(weights, DType::FP32, Phase::Forward);
    b_.segment().ops.back().modules = modules;
  }
  const OpLine to_nodes = with(line, OpKind::DispatchNodes, {choices, tokens}, rows + tokens.substr(1));
  TensorId copies = op(to_nodes, operands, name + ".nodes", label + " to nodes", modules);
  if (s.fp8_dispatch) {
    copies = b_.quantize(copies, Phase::Forward, static_cast<int>(b_.segment().blocks.size()) - 1,
                         is_quantized(type_at_experts()) ? type_at_experts() : DType::FP8Block);
    b_.segment().ops.back().modules = modules;
  }
  const char choice = unused_letter(*parse_op_spec(to_nodes.spec));
  const OpLine weights_to_nodes = with(line, OpKind::DispatchNodes, {choices, choices.substr(0, 1) + choice},
                                       rows + choice);
  const TensorId sent = op(weights_to_nodes, {operands[0], weights}, name + ".weights",
                           label + " of weights to nodes", modules);
  copies = b_.redistribute(copies, b_.at_nodes(), Phase::Forward, label);
  at_nodes_[operands[0]] = b_.redistribute(sent, b_.at_nodes(), Phase::Forward, label);
  return op(with(line, OpKind::Dispatch, {node + choices, node + tokens}, slots),
            {at_nodes_[operands[0]], copies}, name, label, modules);
}

TensorId Assembler::at_nodes(const OpLine& line, TensorId choices) const {
  const auto weights = at_nodes_.find(choices);
  if (weights == at_nodes_.end())
    fail(ProblemCode::OpArguments, line.callee_place(),
         "the combined slots were not dispatched by the same choices", "the choices of an earlier dispatch");
  return weights->second;
}

TensorId Assembler::dispatch_in_node(const OpLine& line, const OpSpec& spec, TensorId choices,
                                     const std::string& name, const std::string& label,
                                     RecomputeModules modules) {
  const std::string node(1, unused_letter(spec));
  return op(with(line, OpKind::DispatchWeights, {node + spec.in[0]}, spec.out), {at_nodes(line, choices)},
            name, label + " in nodes", modules);
}

TensorId Assembler::combine_by_node(const OpLine& line, const OpSpec& spec,
                                    const std::vector<TensorId>& operands, const std::string& name,
                                    const std::string& label, RecomputeModules modules) {
  const TensorId weights = at_nodes(line, operands[1]);
  const std::string node(1, unused_letter(spec)), &choices = spec.in[1];
  const OpLine in_node = with(line, *op_kind_from_name(line.callee), {spec.in[0], node + choices},
                              node + spec.out);
  const TensorId sums = op(in_node, {operands[0], weights}, name, label + " in nodes", modules);
  return op(with(line, OpKind::CombineNodes, {spec.in[0]}, spec.out), {sums}, name + ".home", label, modules);
}

}  // namespace shardscape
