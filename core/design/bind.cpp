// Numbers of a design under their symbols.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "design/limits.h"
#include "design/validate.h"

namespace shardscape {
namespace {

// In the order of base_values.
const std::array<Symbol, 16>& base_symbols() {
  static const std::array<Symbol, 16> symbols = [] {
    const auto s = [](const char* name) { return Symbol::intern(name); };
    return std::array<Symbol, 16>{s("B"), s("b"), s("S"), s("L"),    s("D"),  s("H"),  s("G"), s("E"),
                                  s("F"), s("V"), s("Smax"), s("tp"), s("cp"), s("pp"), s("dp"), s("v")};
  }();
  return symbols;
}

std::array<int64_t, 16> base_values(const Design& d) {
  // Without a position table its size appears in no formula, but it has to be a size.
  const int64_t positions = std::max<int64_t>(1, d.model.positions);
  return {d.workload.batch, d.workload.microbatch, d.workload.seq, d.model.layers, d.model.hidden,
          d.model.heads,    d.model.kv_heads,      d.model.head_dim, d.model.ffn,  d.model.vocab,
          positions,        d.parallel.tp,         d.parallel.cp,  d.parallel.pp,  d.parallel.dp, d.parallel.virtual_stages};
}

}  // namespace

std::vector<int64_t> layers_per_virtual_stage(const Design& design) {
  if (!design.parallel.stage_layers.empty()) return design.parallel.stage_layers;
  const int64_t pp = design.parallel.pp, v = design.parallel.virtual_stages, layers = std::max<int64_t>(0, design.model.layers);
  if (pp < 1 || pp > kMaxWorld || v < 1 || v > kMaxWorld / pp) return {};
  const int64_t stages = pp * v;
  std::vector<int64_t> result(static_cast<size_t>(stages), layers / stages);
  for (int64_t i = 0; i < layers % stages; ++i) ++result[static_cast<size_t>(i)];
  return result;
}

std::vector<int64_t> layers_per_stage(const Design& design) {
  std::vector<int64_t> chunks = layers_per_virtual_stage(design);
  if (design.parallel.virtual_stages == 1 || chunks.empty()) return chunks;
  std::vector<int64_t> result(static_cast<size_t>(std::clamp<int64_t>(design.parallel.pp, 1, kMaxWorld)), 0);
  for (size_t i = 0; i < chunks.size(); ++i) result[i % result.size()] += chunks[i];
  return result;
}

std::vector<DerivedSymbol> derived_symbols(const Design& design) {
  const auto symbol = [](const char* name) { return Symbol::intern(name); };
  std::vector<DerivedSymbol> out{
      {symbol("Vp"), DerivedRule::Align, symbol("V"), Expr(design.workload.vocab_multiple) * Expr(symbol("tp"))},
      {symbol("m"), DerivedRule::FloorDiv, symbol("B"), Expr(symbol("b")) * Expr(symbol("dp"))}};
  if (design.model.window > 0) out.push_back({symbol("We"), DerivedRule::Min, symbol("W"), symbol("S")});
  return out;
}

Binding bind_symbols(const Design& design) {
  Binding binding;
  const auto values = base_values(design);
  for (size_t i = 0; i < values.size(); ++i) binding.set(base_symbols()[i], values[i]);
  if (design.model.window > 0) binding.set(Symbol::intern("W"), design.model.window);
  if (ulysses_ranks(design) > 1 && ring_ranks(design) > 1) binding.set(Symbol::intern("u"), ulysses_ranks(design));
  if (const auto error = define(binding, derived_symbols(design))) {
    throw std::invalid_argument("the symbols of an invalid design were asked for: " + error->message);
  }
  return binding;
}

}  // namespace shardscape
