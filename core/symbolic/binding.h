// Symbols -> numbers: evaluation of one expression, and derived symbols with their printed rules.
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
  std::vector<std::pair<Symbol, int64_t>> items() const;  // canonical order

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

// Exact: the sum of all terms must be whole (single terms need not be).
std::variant<Wide, EvalError> evaluate(const Expr& expr, const Binding& binding);

// An exact integer defined from others by a printed rule.
enum class DerivedRule { Align, Max, Min, CeilDiv, FloorDiv };
struct DerivedSymbol {
  Symbol symbol;
  DerivedRule rule;
  Expr a, b;
  std::string definition() const;  // "Vp = align(V, 128·tp)"
};
// Sets the symbols in order; stops at the first that cannot be evaluated.
std::optional<EvalError> define(Binding& binding, std::span<const DerivedSymbol> symbols);

}  // namespace shardscape
