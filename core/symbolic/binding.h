// Binds symbols to numbers: evaluates one expression, and defines derived symbols by printed rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/wide.h"
#include "symbolic/expr.h"

namespace shardscape {

class Binding {
 public:
  void set(Symbol symbol, int64_t value);
  std::optional<int64_t> get(Symbol symbol) const;
  std::vector<std::pair<Symbol, int64_t>> items() const;  // in canonical order of symbols

 private:
  std::vector<int64_t> values_;
  std::vector<uint8_t> known_;
};

enum class EvalFault : uint8_t { None, Overflow, NotDivisible, Unbound, DivisionByZero };
const char* to_string(EvalFault fault);

struct EvalError {
  EvalFault fault;
  std::string message;  // "2·S/tp is not whole for S = 7, tp = 4"
};

// Exact evaluation. The sum of all terms must be a whole number; single terms may be fractions.
std::variant<Wide, EvalError> evaluate(const Expr& expr, const Binding& binding);

// A derived symbol: an exact integer that a printed rule defines from other symbols.
enum class DerivedRule { Align, Max, Min, CeilDiv, FloorDiv };
struct DerivedSymbol {
  Symbol symbol;
  DerivedRule rule;
  Expr a, b;
  std::string definition() const;  // "Vp = align(V, 128·tp)"
};
// Defines the symbols in order. Stops at the first symbol whose rule has no value and returns its error.
std::optional<EvalError> define(Binding& binding, std::span<const DerivedSymbol> symbols);

}  // namespace shardscape
