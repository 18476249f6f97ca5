// Adapters of LoRA next to the GEMMs of frozen weights.
#include <algorithm>

#include "graph/passes/assembler.h"

namespace shardscape {
namespace {

// The weights that the line multiplies, if they have an adapter; otherwise nullptr.
const BlockParam* adapted_weights(const LoraModules& modules, const BlockTemplate& block,
                                  const OpLine& line) {
  if (line.callee != template_name(OpKind::Einsum) || line.args.size() != 2) return nullptr;
  const auto param = std::find_if(block.params.begin(), block.params.end(),
                                  [&](const BlockParam& p) { return p.name == line.args[1]; });
  if (param == block.params.end() || !param->role) return nullptr;
  const auto module = lora_module_of(*param->role);
  return module && modules.has(*module) ? &*param : nullptr;
}

}  // namespace

TensorId Assembler::adapted(const BlockTemplate& block, const OpLine& line,
                            const std::vector<TensorId>& operands, TensorId result,
                            const std::string& instance, const std::string& label, RecomputeModules modules) {
  if (!b_.structure().lora || b_.segment().kind != SegmentKind::Layer) return result;
  const BlockParam* weights = adapted_weights(b_.structure().lora_modules, block, line);
  if (!weights) return result;
  const OpSpec spec = *parse_op_spec(line.spec);
  const char rank = unused_letter(spec);
  BlockParam down, up;
  down.name = weights->name + ".lora_a";
  up.name = weights->name + ".lora_b";
  up.axes = {Axis::LoraRank};
  up.column = weights->column;
  std::string inputs, outputs, inner = spec.in[0];
  for (size_t d = 0; d < weights->axes.size(); ++d) {
    const char letter = spec.in[1][d];
    const bool output = spec.out.find(letter) != std::string::npos;
    (output ? outputs : inputs) += letter;
    (output ? up : down).axes.push_back(weights->axes[d]);
    if (!output) std::erase(inner, letter);
  }
  down.axes.push_back(Axis::LoraRank);
  inner += rank;
  const std::string prefix = instance + "." + line.output;
  const auto trained = [&](const BlockParam& param) {
    const TensorId id = parameter(instance, param);
    b_.segment().params.back().frozen = false;
    return id;
  };
  const auto add = [&](OpKind kind, std::vector<std::string> in, const std::string& out,
                       const std::vector<TensorId>& of, const char* name, const char* what) {
    OpLine own = with(line, kind, std::move(in), out);
    own.output = name;
    return op(own, of, prefix + "." + name, label + what, modules);
  };
  const auto reduced_rank = [&] {
    TensorId x = operands[0];
    if (b_.structure().lora_dropout)
      x = add(OpKind::LoraDropout, {spec.in[0]}, spec.in[0], {x}, "lora_x", ", LoRA dropout");
    const TensorId low = add(OpKind::Einsum, {spec.in[0], inputs + rank}, inner, {x, trained(down)}, "lora_a",
                             ", LoRA A");
    // Partial sums of a row-parallel GEMM are reduced at the rank of the adapter, to the tokens of the
    // stream.
    const Tensor& t = b_.tensor(low);
    if (t.axes != std::vector<Axis>{Axis::Batch, Axis::Seq, Axis::LoraRank} || t.placement.partial.empty())
      return low;
    return b_.redistribute(low, b_.stream_placement({Axis::Batch, Axis::Seq, Axis::Hidden}), Phase::Forward,
                           label + ", LoRA B");
  };
  // Packed: the first of the matrices with this input has the matrix A of all of them.
  TensorId low = -1;
  if (!b_.structure().lora_packed) {
    low = reduced_rank();
  } else if (const auto known = packed_ranks_.find(operands[0]); known != packed_ranks_.end()) {
    low = known->second;
  } else {
    low = packed_ranks_[operands[0]] = reduced_rank();
  }
  const TensorId high = add(OpKind::Einsum, {inner, rank + outputs}, spec.out, {low, trained(up)}, "lora_b",
                            ", LoRA B");
  const TensorId scaled = add(OpKind::Scale, {spec.out}, spec.out, {high}, "lora_scale", ", LoRA scale");
  return add(OpKind::Add, {spec.out, spec.out}, spec.out, {result, scaled}, "lora", ", with LoRA");
}

}  // namespace shardscape
