// Numbers of a design under their symbols.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "design/limits.h"
#include "design/validate.h"

namespace shardscape {
namespace {

// In the order of base_values.
const std::array<Symbol, 15>& base_symbols() {
  static const std::array<Symbol, 15> symbols = [] {
    const auto s = [](const char* name) { return Symbol::intern(name); };
    return std::array<Symbol, 15>{s("B"), s("b"), s("S"), s("L"),    s("D"),  s("H"),  s("G"), s("E"),
                                  s("F"), s("V"), s("Smax"), s("tp"), s("cp"), s("pp"), s("dp")};
  }();
  return symbols;
}

std::array<int64_t, 15> base_values(const Design& d) {
  // Without a position table its size appears in no formula, but it has to be a size.
  const int64_t positions = std::max<int64_t>(1, d.model.positions);
  return {d.workload.batch, d.workload.microbatch, d.workload.seq, d.model.layers, d.model.hidden,
          d.model.heads,    d.model.kv_heads,      d.model.head_dim, d.model.ffn,  d.model.vocab,
          positions,        d.parallel.tp,         d.parallel.cp,  d.parallel.pp,  d.parallel.dp};
}

}  // namespace

std::vector<int64_t> layers_per_stage(const Design& design) {
  if (!design.parallel.stage_layers.empty()) return design.parallel.stage_layers;
  const int64_t stages = design.parallel.pp, layers = std::max<int64_t>(0, design.model.layers);
  if (stages < 1 || stages > kMaxWorld) return {};
  std::vector<int64_t> result(static_cast<size_t>(stages), layers / stages);
  for (int64_t i = 0; i < layers % stages; ++i) ++result[static_cast<size_t>(i)];
  return result;
}

std::vector<DerivedSymbol> derived_symbols(const Design& design) {
  const auto symbol = [](const char* name) { return Symbol::intern(name); };
  return {{symbol("Vp"), DerivedRule::Align, symbol("V"), Expr(design.workload.vocab_multiple) * Expr(symbol("tp"))},
          {symbol("m"), DerivedRule::FloorDiv, symbol("B"), Expr(symbol("b")) * Expr(symbol("dp"))}};
}

Binding bind_symbols(const Design& design) {
  Binding binding;
  const auto values = base_values(design);
  for (size_t i = 0; i < values.size(); ++i) binding.set(base_symbols()[i], values[i]);
  if (const auto error = define(binding, derived_symbols(design))) {
    throw std::invalid_argument("the symbols of an invalid design were asked for: " + error->message);
  }
  return binding;
}

}  // namespace shardscape
