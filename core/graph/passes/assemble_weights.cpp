// Weights in the formats of a checkpoint: the bytes that a rank stores, and the precision of their GEMMs.
#include <algorithm>
#include <map>
#include <utility>

#include "graph/passes/assembler.h"

namespace shardscape {
namespace {

// How a checkpoint sees the dimensions of a parameter: several matrices (one per expert), each of inputs and
// outputs.
struct MatrixDims {
  std::vector<int> matrices, inputs, outputs;
};

// Inputs come first, and the hidden dimension at the end is the only output. Tables over the vocabulary have
// the hidden dimension as inputs. An output projection in groups is a matrix per group, with one output
// dimension.
MatrixDims matrix_dims(const std::vector<Axis>& axes) {
  MatrixDims out;
  int first = 0;
  const bool groups = axes.front() == Axis::OutputGroups && axes.back() == Axis::OutputRank;
  if (axes.front() == Axis::Experts || groups) out.matrices.push_back(first++);
  const int last = static_cast<int>(axes.size()) - 1;
  const bool to_hidden = axes.back() == Axis::Hidden || groups, table = axes.front() == Axis::Vocab;
  for (int d = first; d <= last; ++d) {
    const bool input = table ? d > first : to_hidden ? d < last || first == last : d == first;
    (input ? out.inputs : out.outputs).push_back(d);
  }
  return out;
}

Expr product(const Tensor& t, const std::vector<int>& dims) {
  Expr out(1);
  for (const int d : dims) out = out * local_size(t, d);
  return out;
}

// The words of an expression as one name: "H·E/tp" is "HxE_per_tp".
std::string name_of(const Expr& expr) {
  static const std::pair<std::string_view, std::string_view> words[] = {
      {"·", "x"}, {"/", "_per_"}, {" + ", "_plus_"}, {" - ", "_less_"},
      {"(", ""},  {")", ""},      {"²", "2"},        {"³", "3"}};
  std::string text = expr.text();
  for (const auto& [sign, word] : words)
    for (size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at + word.size()))
      text.replace(at, sign.size(), word);
  return text;
}

// ceil(size / block) as a symbol of the segment; blocks of one element need none.
Expr blocks(Segment& segment, const Expr& size, int64_t block) {
  if (block == 1) return size;
  const Symbol symbol = Symbol::intern("blocks" + std::to_string(block) + "_" + name_of(size));
  if (std::none_of(segment.derived.begin(), segment.derived.end(),
                   [&](const DerivedSymbol& d) { return d.symbol == symbol; }))
    segment.derived.push_back({symbol, DerivedRule::CeilDiv, size, Expr(block)});
  return Expr(symbol);
}

// Bytes of the elements: two 4-bit elements of a row share a byte.
Expr element_bytes(Segment& segment, WeightFormat format, const Tensor& t) {
  const MatrixDims dims = matrix_dims(t.axes);
  const int64_t per_byte = 8 / element_format(stored_type(format)).bits;
  return product(t, dims.matrices) * product(t, dims.outputs) *
         blocks(segment, product(t, dims.inputs), per_byte);
}

// Bytes of the scales of a matrix that consists of parameters with equal inputs. Each rank has the scales of
// the blocks that its share touches.
Expr scale_bytes(Segment& segment, WeightFormat format, const std::vector<Param*>& parts) {
  const ElementFormat elements = element_format(stored_type(format));
  const Tensor& first = segment.tensor(parts.front()->tensor);
  const MatrixDims dims = matrix_dims(first.axes);
  Expr outputs;
  for (const Param* part : parts) {
    const Tensor& t = segment.tensor(part->tensor);
    outputs += product(t, matrix_dims(t.axes).outputs);
  }
  Expr bytes(bytes_per_matrix(format));
  if (elements.scale_bits > 0)
    bytes += blocks(segment, outputs, elements.outputs) *
             blocks(segment, product(first, dims.inputs), elements.inputs) * Expr(elements.scale_bits / 8);
  return product(first, dims.matrices) * bytes;
}

}  // namespace

void Assembler::store_weights(const BlockTemplate& block, const TensorNames& inside) {
  const WeightFormats& formats = b_.structure().formats;
  if (formats.empty()) return;
  Segment& s = b_.segment();
  std::map<std::pair<WeightRole, std::string>, std::vector<Param*>> matrices;  // by role and inputs
  for (const BlockParam& of : block.params) {
    const auto format = of.role ? formats.find(*of.role) : formats.end();
    if (format == formats.end()) continue;
    const TensorId tensor = inside.at(of.name);
    for (Param& param : s.params)
      if (param.tensor == tensor) {
        param.format = format->second;
        const Tensor& t = s.tensor(tensor);
        matrices[{*of.role, product(t, matrix_dims(t.axes).inputs).text()}].push_back(&param);
      }
  }
  for (const auto& [matrix, parts] : matrices) {
    for (Param* part : parts) part->stored_bytes = element_bytes(s, part->format, s.tensor(part->tensor));
    parts.front()->stored_bytes += scale_bytes(s, parts.front()->format, parts);
  }
}

const Param* Assembler::formatted(OpKind kind, const std::vector<TensorId>& operands) {
  if (kind != OpKind::Einsum) return nullptr;
  for (const TensorId id : operands)
    if (const Param* param = b_.segment().param(id); param && param->format != WeightFormat::Plain)
      return param;
  return nullptr;
}

std::optional<DType> Assembler::quantized_type(const OpDraft& draft) {
  if (const Param* weights = formatted(draft.kind, draft.operands)) {
    // Scales lie along the inputs. A GEMM that sums over other dimensions (keys and values that decode
    // absorbs into queries and results) reads dequantized weights, as inference engines do.
    const MatrixDims dims = matrix_dims(b_.tensor(weights->tensor).axes);
    const auto at = std::find(draft.operands.begin(), draft.operands.end(), weights->tensor);
    const std::string& letters = draft.spec.in[static_cast<size_t>(at - draft.operands.begin())];
    const bool along_inputs = std::all_of(dims.inputs.begin(), dims.inputs.end(), [&](int d) {
      return draft.spec.out.find(letters[static_cast<size_t>(d)]) == std::string::npos;
    });
    return along_inputs ? product_type(weights->format) : std::nullopt;
  }
  if (!is_quantized(b_.structure().compute) || draft.kind != OpKind::Einsum ||
      b_.segment().kind != SegmentKind::Layer)
    return std::nullopt;
  // Adapters stay in the data type, as in Megatron Bridge and NeMo, which build them from plain layers.
  const auto weights = std::count_if(draft.operands.begin(), draft.operands.end(), [&](TensorId id) {
    const Param* param = b_.segment().param(id);
    return param && (param->frozen || !b_.structure().lora);
  });
  const bool single = draft.out_axes.back() == Axis::LinearGroupHeads ||  // one number per head
                      draft.out_axes.back() == Axis::IndexHeads;
  const bool full = std::any_of(draft.out_axes.begin(), draft.out_axes.end(), [](Axis a) {
    return a == Axis::Routes || a == Axis::AllRoutes || a == Axis::One || a == Axis::Halves ||
           a == Axis::StreamMix;
  });
  return weights == 1 && !full && !single ? std::optional(b_.structure().compute) : std::nullopt;
}

DType Assembler::parameter_type(const BlockParam& param) const {
  const Structure& s = b_.structure();
  if (s.frozen_dtype == FrozenWeights::Same || b_.segment().kind != SegmentKind::Layer || !param.role ||
      !is_linear_role(*param.role))
    return param.dtype.value_or(s.dtype);
  return s.frozen_dtype == FrozenWeights::NF4 ? DType::NF4 : DType::NF4Double;
}

TensorId Assembler::dequantized(TensorId id) {
  const DType type = b_.tensor(id).dtype;
  if (type != DType::NF4 && type != DType::NF4Double) return id;
  const TensorId out = b_.cast(id, b_.structure().dtype, Phase::Forward);
  b_.tensor(out).role = TensorRole::Dequantized;
  Op& made = b_.segment().ops.back();
  made.label = "Dequantize";
  made.block = static_cast<int>(b_.segment().blocks.size()) - 1;
  made.recomputed_in_backward = true;
  return out;
}

DType Assembler::type_at_experts() const {
  const auto format = b_.structure().formats.find(WeightRole::ExpertUp);
  if (format == b_.structure().formats.end()) return b_.structure().compute;
  return product_type(format->second).value_or(b_.structure().dtype);
}

}  // namespace shardscape
