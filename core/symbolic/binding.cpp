#include "symbolic/binding.h"

#include <algorithm>
#include <limits>

#include "symbolic/exact.h"

namespace shardscape {
namespace {

std::string with_values(const Expr& expr, const Binding& binding) {
  std::string text;
  for (Symbol symbol : expr.symbols()) {
    text += text.empty() ? " for " : ", ";
    text += symbol.name() + " = " + std::to_string(binding.get(symbol).value_or(0));
  }
  return text;
}

// The quotient of a printed rule. An operand with more than one factor gets parentheses.
std::string quotient(const Expr& a, const Expr& b) {
  const auto operand = [](const Expr& expr, bool divisor) {
    std::string text = expr.text();
    if (text.find_first_of("/+-") == std::string::npos && !(divisor && text.find("·") != std::string::npos))
      return text;
    text.insert(0, 1, '(');
    text += ')';
    return text;
  };
  return operand(a, false) + "/" + operand(b, true);
}

Wide floor_divide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

bool rule_value(DerivedRule rule, Wide a, Wide b, Wide& result) {
  switch (rule) {
    case DerivedRule::Max: result = std::max(a, b); return true;
    case DerivedRule::Min: result = std::min(a, b); return true;
    case DerivedRule::FloorDiv: result = floor_divide(a, b); return true;
    case DerivedRule::CeilDiv: result = -floor_divide(-a, b); return true;
    case DerivedRule::Align: return !__builtin_mul_overflow(-floor_divide(-a, b), b, &result);
  }
  return false;
}

}  // namespace

void Binding::set(Symbol symbol, int64_t value) {
  if (symbol.id() >= values_.size()) {
    values_.resize(symbol.id() + 1);
    known_.resize(symbol.id() + 1);
  }
  values_[symbol.id()] = value;
  known_[symbol.id()] = 1;
}

std::optional<int64_t> Binding::get(Symbol symbol) const {
  if (symbol.id() >= known_.size() || !known_[symbol.id()]) return std::nullopt;
  return values_[symbol.id()];
}

std::vector<std::pair<Symbol, int64_t>> Binding::items() const {
  std::vector<std::pair<Symbol, int64_t>> items;
  for (uint32_t id = 0; id < known_.size(); ++id) {
    if (known_[id]) items.emplace_back(Symbol::from_id(id), values_[id]);
  }
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return items;
}

const char* to_string(EvalFault fault) {
  switch (fault) {
    case EvalFault::None: return "none";
    case EvalFault::Overflow: return "overflow";
    case EvalFault::NotDivisible: return "not divisible";
    case EvalFault::Unbound: return "unbound";
    case EvalFault::DivisionByZero: return "division by zero";
  }
  return "";
}

std::variant<Wide, EvalError> evaluate(const Expr& expr, const Binding& binding) {
  // Report missing values and divisions by zero before any arithmetic, in the order of the formula.
  const Power* zero = nullptr;
  for (const Term& term : expr.terms()) {
    for (const Power& power : term.powers) {
      const std::optional<int64_t> value = binding.get(power.symbol);
      if (!value)
        return EvalError{EvalFault::Unbound, power.symbol.name() + " has no value in " + expr.text()};
      if (*value == 0 && power.exponent < 0 && !zero) zero = &power;
    }
  }
  if (zero)
    return EvalError{EvalFault::DivisionByZero, expr.text() + " divides by " + zero->symbol.name() + " = 0"};
  ExactSum sum;
  EvalFault fault = EvalFault::None;
  std::vector<ValuePower> factors;
  for (const Term& term : expr.terms()) {
    factors.clear();
    for (const Power& power : term.powers) factors.push_back({*binding.get(power.symbol), power.exponent});
    Fraction value;
    fault = exact_term(term.coefficient.num(), term.coefficient.den(), factors, value);
    if (fault != EvalFault::None) break;
    sum.add(value);
  }
  Wide total = 0;
  if (fault == EvalFault::None) fault = sum.total(total);
  if (fault == EvalFault::None) return total;
  const char* reason = fault == EvalFault::NotDivisible ? " is not whole" : " does not fit in 128 bits";
  return EvalError{fault, expr.text() + reason + with_values(expr, binding)};
}

std::string DerivedSymbol::definition() const {
  std::string text = symbol.name();
  switch (rule) {
    case DerivedRule::Align: text += " = align("; break;
    case DerivedRule::Max: text += " = max("; break;
    case DerivedRule::Min: text += " = min("; break;
    case DerivedRule::CeilDiv: text += " = ceil("; break;
    case DerivedRule::FloorDiv: text += " = floor("; break;
  }
  const bool divides = rule == DerivedRule::CeilDiv || rule == DerivedRule::FloorDiv;
  text += divides ? quotient(a, b) : a.text() + ", " + b.text();
  text += ')';
  return text;
}

std::optional<EvalError> define(Binding& binding, std::span<const DerivedSymbol> symbols) {
  for (const DerivedSymbol& derived : symbols) {
    const auto a = evaluate(derived.a, binding);
    const auto b = evaluate(derived.b, binding);
    for (const auto* value : {&a, &b}) {
      if (const EvalError* error = std::get_if<EvalError>(value)) {
        return EvalError{error->fault, derived.definition() + ": " + error->message};
      }
    }
    const bool divides = derived.rule != DerivedRule::Max && derived.rule != DerivedRule::Min;
    Wide divisor = std::get<Wide>(b);
    if (divides && divisor == 0) {
      return EvalError{EvalFault::DivisionByZero, derived.definition() + ": " + derived.b.text() + " is 0" +
                                                      with_values(derived.b, binding)};
    }
    // A binding holds 64-bit values. Larger operands could overflow inside the rule.
    constexpr Wide low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
    const Wide dividend = std::get<Wide>(a);
    Wide result = 0;
    const bool safe = !divides || (dividend > -(Wide{1} << 126) && dividend < (Wide{1} << 126));
    if (!safe || !rule_value(derived.rule, dividend, divisor, result) || result < low || result > high) {
      return EvalError{EvalFault::Overflow,
                       derived.definition() + " does not fit in 64 bits" + with_values(derived.a, binding)};
    }
    binding.set(derived.symbol, static_cast<int64_t>(result));
  }
  return std::nullopt;
}

}  // namespace shardscape
