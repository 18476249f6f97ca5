#include "symbolic/program.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <optional>
#include <unordered_map>

#include "symbolic/exact.h"

namespace shardscape {
namespace {

// Replaces value by value / den and returns true if the quotient is whole. Requires den != 0 and value above
// the minimum of its type.
template <typename Int>
bool divide(Int& value, int64_t den) {
  if (den > 0 && (den & (den - 1)) == 0) {
    // Parallel degrees are nearly always powers of two, and a shift is ten times faster than a division.
    if ((value & (den - 1)) != 0) return false;
    value >>= std::countr_zero(static_cast<uint64_t>(den));
    return true;
  }
  const Int quotient = value / den;
  if (quotient * den != value) return false;
  value = quotient;
  return true;
}

struct PowersHash {
  size_t operator()(const std::vector<Power>* powers) const {
    uint64_t hash = 0;
    for (const Power& power : *powers) {
      hash = (hash ^ (power.symbol.id() * 0x9e3779b97f4a7c15u + static_cast<uint32_t>(power.exponent))) *
             0xbf58476d1ce4e5b9u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};
struct PowersEqual {
  bool operator()(const std::vector<Power>* a, const std::vector<Power>* b) const { return *a == *b; }
};

}  // namespace

ExprProgram ExprProgram::compile(std::span<const Expr> expressions) {
  ExprProgram program;
  for (const Expr& expr : expressions) {
    for (const Term& term : expr.terms()) {
      for (const Power& power : term.powers) program.symbols_.push_back(power.symbol);
    }
    if (program.symbols_.size() < 4096) continue;
    std::sort(program.symbols_.begin(), program.symbols_.end());
    program.symbols_.erase(std::unique(program.symbols_.begin(), program.symbols_.end()),
                           program.symbols_.end());
  }
  std::sort(program.symbols_.begin(), program.symbols_.end());
  program.symbols_.erase(std::unique(program.symbols_.begin(), program.symbols_.end()),
                         program.symbols_.end());
  uint32_t last_id = 0;
  for (Symbol symbol : program.symbols_) last_id = std::max(last_id, symbol.id());
  std::vector<uint32_t> place_of(last_id + 1);
  for (uint32_t i = 0; i < program.symbols_.size(); ++i) place_of[program.symbols_[i].id()] = i;

  std::unordered_map<const std::vector<Power>*, uint32_t, PowersHash, PowersEqual> known;
  for (const Expr& expr : expressions) {
    const auto first = static_cast<uint32_t>(program.summands_.size());
    for (const Term& term : expr.terms()) {
      const auto [it, added] = known.try_emplace(&term.powers,
                                                 static_cast<uint32_t>(program.monomials_.size()));
      if (added) {
        const auto begin = static_cast<uint32_t>(program.factors_.size());
        for (const Power& power : term.powers)
          program.factors_.push_back({place_of[power.symbol.id()], power.exponent});
        program.monomials_.push_back({begin, static_cast<uint32_t>(program.factors_.size())});
      }
      program.summands_.push_back({it->second, term.coefficient.num(), term.coefficient.den()});
    }
    program.sums_.push_back({first, static_cast<uint32_t>(program.summands_.size())});
  }
  return program;
}

struct ExprProgram::Values {
  std::vector<int64_t> row;      // per symbol; 1 if unbound
  std::vector<uint8_t> unbound;  // per symbol
  bool any_unbound = false;
  std::vector<Wide> monomials;
  std::vector<uint8_t> known;  // per monomial: whether it is whole and fits
};

// The value of a monomial. Returns false if it is not whole or does not fit.
bool ExprProgram::product(const Monomial& of, std::span<const int64_t> row, Wide& out) const {
  int64_t top = 1, bottom = 1;
  for (uint32_t f = of.first; f < of.last; ++f) {
    const int64_t value = row[factors_[f].symbol];
    int64_t& side = factors_[f].exponent > 0 ? top : bottom;
    for (int32_t times = std::abs(factors_[f].exponent); times > 0; --times)
      if (__builtin_mul_overflow(side, value, &side)) return wide_product(of, row, out);
  }
  if (top == std::numeric_limits<int64_t>::min()) return wide_product(of, row, out);
  if (bottom != 1 && (bottom == 0 || !divide(top, bottom))) return false;
  out = top;
  return true;
}

bool ExprProgram::wide_product(const Monomial& of, std::span<const int64_t> row, Wide& out) const {
  Wide top = 1;
  int64_t bottom = 1;
  for (uint32_t f = of.first; f < of.last; ++f) {
    const int64_t value = row[factors_[f].symbol];
    for (int32_t times = factors_[f].exponent; times > 0; --times)
      if (__builtin_mul_overflow(top, Wide{value}, &top)) return false;
    for (int32_t times = -factors_[f].exponent; times > 0; --times)
      if (__builtin_mul_overflow(bottom, value, &bottom)) return false;
  }
  if (bottom == -1 || bottom == 0 || !divide(top, bottom)) return false;
  out = top;
  return true;
}

// The sum of an expression. Returns false if a term is not whole, or if a term or a partial sum does not fit.
bool ExprProgram::sum(const Sum& of, const Values& values, Wide& out) const {
  Wide total = 0;
  for (uint32_t s = of.first; s < of.last; ++s) {
    const auto& [monomial, num, den] = summands_[s];
    Wide term = values.monomials[monomial];
    if (!values.known[monomial] || __builtin_mul_overflow(term, Wide{num}, &term)) return false;
    if (den != 1 && !divide(term, den)) return false;
    if (__builtin_add_overflow(total, term, &total)) return false;
  }
  out = total;
  return true;
}

// The sum without shortcuts: cancels common factors before it multiplies, and adds fractions.
EvalFault ExprProgram::exact_sum(const Sum& of, const Values& values, Wide& out) const {
  ExactSum total;
  EvalFault fault = EvalFault::None;
  std::vector<ValuePower> powers;
  for (uint32_t s = of.first; s < of.last; ++s) {
    const auto& [monomial, num, den] = summands_[s];
    powers.clear();
    for (uint32_t f = monomials_[monomial].first; f < monomials_[monomial].last; ++f)
      powers.push_back({values.row[factors_[f].symbol], factors_[f].exponent});
    Fraction term;
    const EvalFault found = exact_term(num, den, powers, term);
    if (found == EvalFault::DivisionByZero) return found;
    if (found != EvalFault::None) fault = found;
    total.add(term);
  }
  return fault != EvalFault::None ? fault : total.total(out);
}

bool ExprProgram::bound(const Sum& of, const Values& values) const {
  for (uint32_t s = of.first; s < of.last; ++s) {
    const Monomial& monomial = monomials_[summands_[s].monomial];
    for (uint32_t f = monomial.first; f < monomial.last; ++f)
      if (values.unbound[factors_[f].symbol]) return false;
  }
  return true;
}

std::vector<Wide> ExprProgram::evaluate(const Binding& binding, std::vector<EvalFault>* faults) const {
  Values values;
  values.row.reserve(symbols_.size());
  values.unbound.reserve(symbols_.size());
  for (const Symbol symbol : symbols_) {
    const std::optional<int64_t> value = binding.get(symbol);
    values.row.push_back(value.value_or(1));
    values.unbound.push_back(!value);
    values.any_unbound |= !value;
  }
  values.monomials.resize(monomials_.size());
  values.known.resize(monomials_.size());
  for (size_t m = 0; m < monomials_.size(); ++m)
    values.known[m] = product(monomials_[m], values.row, values.monomials[m]);
  std::vector<Wide> out(sums_.size());
  if (faults) faults->assign(sums_.size(), EvalFault::None);
  for (size_t e = 0; e < sums_.size(); ++e) {
    EvalFault fault = EvalFault::None;
    if (values.any_unbound && !bound(sums_[e], values))
      fault = EvalFault::Unbound;
    else if (!sum(sums_[e], values, out[e]))
      fault = exact_sum(sums_[e], values, out[e]);
    if (fault != EvalFault::None) out[e] = 0;
    if (faults) (*faults)[e] = fault;
  }
  return out;
}

}  // namespace shardscape
