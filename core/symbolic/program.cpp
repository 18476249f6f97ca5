#include "symbolic/program.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <unordered_map>

#include "symbolic/exact.h"

namespace shardscape {
namespace {

// Bounds in bits: |value| <= 2^bits. Products within these bounds cannot overflow and need no check.
constexpr int64_t kNarrowBits = 62;
constexpr int64_t kWideBits = 126;

int64_t bits_of(uint64_t folded) { return std::bit_width(folded); }
int64_t bits_of(unsigned __int128 folded) {
  const uint64_t high = static_cast<uint64_t>(folded >> 64);
  return high ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(folded));
}
// A non-negative number with as many bits as the magnitude. The bitwise or of all elements bounds an array.
uint64_t fold(int64_t value) { return static_cast<uint64_t>(value ^ (value >> 63)); }
unsigned __int128 fold(Wide value) { return static_cast<unsigned __int128>(value ^ (value >> 127)); }

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

// The buffers for one block of designs; allocated once per call.
struct Scratch {
  size_t block;
  std::vector<int64_t> narrow;        // [monomial · block + design], where wide_form is 0
  std::vector<Wide> wide;             // [monomial · block + design], where wide_form is 1
  std::vector<uint8_t> wide_form;     // per monomial
  std::vector<uint8_t> fraction;      // [monomial · block + design]: 1 if not whole or not computed
  std::vector<uint8_t> any_fraction;  // per monomial
  std::vector<int64_t> bits;          // per monomial
  std::vector<int64_t> column_bits;
  std::vector<int64_t> den, sum_narrow;  // per design
  std::vector<Wide> sum_wide;
  std::vector<uint8_t> exact;  // per design: 1 if the sum must be computed again exactly
  std::vector<ValuePower> factors;

  Scratch(size_t monomials, size_t columns, size_t designs)
      // The monomials of one block should fit in the second-level cache.
      : block(std::clamp<size_t>((size_t{1} << 19) / (25 * monomials + 1), 16, 256)) {
    block = std::max<size_t>(1, std::min(block, designs));
    narrow.resize(monomials * block);
    wide.resize(monomials * block);
    fraction.resize(monomials * block);
    wide_form.resize(monomials);
    any_fraction.resize(monomials);
    bits.resize(monomials);
    column_bits.resize(columns);
    den.resize(block);
    sum_narrow.resize(block);
    sum_wide.resize(block);
    exact.resize(block);
  }
};

template <typename Int>
void multiply_column(Int* product, const int64_t* column, int32_t times, size_t count) {
  for (int32_t i = 0; i < times; ++i) {
    for (size_t d = 0; d < count; ++d) product[d] *= column[d];
  }
}

// Adds num/den · value to the sums. If a term is not whole, its design is marked in `exact`.
template <typename Sum, typename Int>
void accumulate(Sum* sums, const Int* values, int64_t num, int64_t den, uint8_t* exact, size_t count) {
  if (den == 1) {
    for (size_t d = 0; d < count; ++d) sums[d] += static_cast<Sum>(values[d]) * num;
    return;
  }
  for (size_t d = 0; d < count; ++d) {
    Sum term = static_cast<Sum>(values[d]) * num;
    if (divide(term, den)) {
      sums[d] += term;
    } else {
      exact[d] = 1;
    }
  }
}

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
  std::vector<uint32_t> column_of(last_id + 1);
  for (uint32_t i = 0; i < program.symbols_.size(); ++i) column_of[program.symbols_[i].id()] = i;

  std::unordered_map<const std::vector<Power>*, uint32_t, PowersHash, PowersEqual> known;
  for (const Expr& expr : expressions) {
    const auto first = static_cast<uint32_t>(program.summands_.size());
    for (const Term& term : expr.terms()) {
      const auto [it, added] = known.try_emplace(&term.powers,
                                                 static_cast<uint32_t>(program.monomials_.size()));
      if (added) {
        const auto begin = static_cast<uint32_t>(program.factors_.size());
        for (const Power& power : term.powers)
          program.factors_.push_back({column_of[power.symbol.id()], power.exponent});
        program.monomials_.push_back({begin, static_cast<uint32_t>(program.factors_.size())});
      }
      program.summands_.push_back({it->second, term.coefficient.num(), term.coefficient.den()});
    }
    program.sums_.push_back({first, static_cast<uint32_t>(program.summands_.size())});
  }
  return program;
}

void ExprProgram::evaluate(std::span<const int64_t* const> columns, size_t designs, std::span<Wide> values,
                           std::span<EvalFault> faults) const {
  if (columns.size() != symbols_.size() || values.size() < sums_.size() * designs ||
      (!faults.empty() && faults.size() < sums_.size() * designs)) {
    throw std::invalid_argument("columns or results do not fit the program");
  }
  if (designs == 0 || sums_.empty()) return;
  Scratch scratch(monomials_.size(), columns.size(), designs);
  const size_t block = scratch.block;

  const auto monomial = [&](size_t index, size_t start, size_t count) {
    const Monomial range = monomials_[index];
    int64_t top = 0, bottom = 0;
    bool divides = false;
    for (uint32_t f = range.first; f < range.last; ++f) {
      const int64_t exponent = factors_[f].exponent, bits = scratch.column_bits[factors_[f].column];
      if (exponent > 0) {
        top += exponent * std::max<int64_t>(bits, 1);
      } else {
        bottom -= exponent * std::max<int64_t>(bits, 1);
        divides = true;
      }
    }
    uint8_t* fraction = &scratch.fraction[index * block];
    std::fill_n(fraction, count, uint8_t{0});
    scratch.any_fraction[index] = 0;
    if (top > kWideBits || bottom > kNarrowBits) {
      // Left to the exact path, which cancels common factors before it multiplies.
      std::fill_n(fraction, count, uint8_t{1});
      std::fill_n(&scratch.narrow[index * block], count, int64_t{0});
      scratch.any_fraction[index] = 1;
      scratch.wide_form[index] = 0;
      scratch.bits[index] = 0;
      return;
    }
    if (divides) {
      std::fill_n(scratch.den.data(), count, int64_t{1});
      for (uint32_t f = range.first; f < range.last; ++f) {
        if (factors_[f].exponent < 0)
          multiply_column(scratch.den.data(), columns[factors_[f].column] + start, -factors_[f].exponent,
                          count);
      }
    }
    const auto fill = [&](auto* result) {
      using Int = std::remove_pointer_t<decltype(result)>;
      std::fill_n(result, count, Int{1});
      for (uint32_t f = range.first; f < range.last; ++f) {
        if (factors_[f].exponent > 0)
          multiply_column(result, columns[factors_[f].column] + start, factors_[f].exponent, count);
      }
      if (divides) {
        for (size_t d = 0; d < count; ++d) {
          if (scratch.den[d] == 0 || !divide(result[d], scratch.den[d])) {
            result[d] = 0;
            fraction[d] = 1;
            scratch.any_fraction[index] = 1;
          }
        }
      }
      decltype(fold(Int{})) folded = 0;
      for (size_t d = 0; d < count; ++d) folded |= fold(result[d]);
      scratch.bits[index] = bits_of(folded);
    };
    scratch.wide_form[index] = top > kNarrowBits;
    if (scratch.wide_form[index]) {
      fill(&scratch.wide[index * block]);
    } else {
      fill(&scratch.narrow[index * block]);
    }
  };

  // The exact sum of one expression in one design, without shortcuts.
  const auto exact_sum = [&](const Sum& sum, size_t start, size_t d, Wide& result) {
    ExactSum total;
    EvalFault fault = EvalFault::None;
    for (uint32_t s = sum.first; s < sum.last; ++s) {
      const Summand& summand = summands_[s];
      const size_t at = summand.monomial * block + d;
      if (!scratch.fraction[at]) {
        Wide term = scratch.wide_form[summand.monomial] ? scratch.wide[at] : scratch.narrow[at];
        if (!__builtin_mul_overflow(term, Wide{summand.num}, &term) && term % summand.den == 0) {
          total.add(term / summand.den);
          continue;
        }
      }
      scratch.factors.clear();
      for (uint32_t f = monomials_[summand.monomial].first; f < monomials_[summand.monomial].last; ++f) {
        scratch.factors.push_back({columns[factors_[f].column][start + d], factors_[f].exponent});
      }
      Fraction term;
      const EvalFault found = exact_term(summand.num, summand.den, scratch.factors, term);
      if (found == EvalFault::DivisionByZero) return found;
      if (found != EvalFault::None) fault = found;
      total.add(term);
    }
    return fault != EvalFault::None ? fault : total.total(result);
  };

  for (size_t start = 0; start < designs; start += block) {
    const size_t count = std::min(block, designs - start);
    for (size_t c = 0; c < columns.size(); ++c) {
      uint64_t folded = 0;
      for (size_t d = 0; d < count; ++d) folded |= fold(columns[c][start + d]);
      scratch.column_bits[c] = bits_of(folded);
    }
    for (size_t m = 0; m < monomials_.size(); ++m) monomial(m, start, count);

    for (size_t e = 0; e < sums_.size(); ++e) {
      const Sum sum = sums_[e];
      Wide* results = &values[e * designs + start];
      int64_t bits = 0;
      bool any_fraction = false;
      for (uint32_t s = sum.first; s < sum.last; ++s) {
        const Summand& summand = summands_[s];
        bits = std::max(bits, bits_of(fold(summand.num)) + scratch.bits[summand.monomial]);
        any_fraction |= scratch.any_fraction[summand.monomial] != 0;
      }
      bits += std::bit_width(sum.last - sum.first);
      const bool fits = bits <= kWideBits;
      std::fill_n(scratch.exact.data(), count, static_cast<uint8_t>(fits ? 0 : 1));
      if (fits && any_fraction) {
        for (uint32_t s = sum.first; s < sum.last; ++s) {
          const uint32_t m = summands_[s].monomial;
          if (!scratch.any_fraction[m]) continue;
          for (size_t d = 0; d < count; ++d) scratch.exact[d] |= scratch.fraction[m * block + d];
        }
      }
      const auto add_up = [&](auto* sums) {
        std::fill_n(sums, count, 0);
        for (uint32_t s = sum.first; s < sum.last; ++s) {
          const Summand& summand = summands_[s];
          const size_t at = summand.monomial * block;
          if (scratch.wide_form[summand.monomial]) {
            accumulate(sums, &scratch.wide[at], summand.num, summand.den, scratch.exact.data(), count);
          } else {
            accumulate(sums, &scratch.narrow[at], summand.num, summand.den, scratch.exact.data(), count);
          }
        }
        std::copy_n(sums, count, results);
      };
      if (bits <= kNarrowBits) {
        add_up(scratch.sum_narrow.data());
      } else if (fits) {
        add_up(scratch.sum_wide.data());
      }
      EvalFault* found = faults.empty() ? nullptr : &faults[e * designs + start];
      if (found) std::fill_n(found, count, EvalFault::None);
      for (size_t d = 0; d < count; ++d) {
        if (!scratch.exact[d]) continue;
        results[d] = 0;
        const EvalFault fault = exact_sum(sum, start, d, results[d]);
        if (found) found[d] = fault;
      }
    }
  }
}

std::vector<Wide> ExprProgram::evaluate(const Binding& binding, std::vector<EvalFault>* faults) const {
  std::vector<int64_t> row(symbols_.size(), 1);
  std::vector<uint8_t> unbound(symbols_.size(), 0);
  std::vector<const int64_t*> columns(symbols_.size());
  bool any_unbound = false;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const std::optional<int64_t> value = binding.get(symbols_[i]);
    row[i] = value.value_or(1);
    unbound[i] = !value;
    any_unbound |= !value;
    columns[i] = &row[i];
  }
  std::vector<Wide> values(sums_.size());
  std::vector<EvalFault> found(sums_.size(), EvalFault::None);
  evaluate(columns, 1, values, found);
  for (size_t e = 0; any_unbound && e < sums_.size(); ++e) {
    for (uint32_t s = sums_[e].first; s < sums_[e].last; ++s) {
      const Monomial& monomial = monomials_[summands_[s].monomial];
      for (uint32_t f = monomial.first; f < monomial.last; ++f) {
        if (!unbound[factors_[f].column]) continue;
        found[e] = EvalFault::Unbound;
        values[e] = 0;
      }
    }
  }
  if (faults) *faults = std::move(found);
  return values;
}

}  // namespace shardscape
