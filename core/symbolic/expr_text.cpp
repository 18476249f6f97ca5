#include "symbolic/expr.h"

namespace shardscape {
namespace {

std::string digits_of(uint64_t value) { return std::to_string(value); }

uint64_t absolute(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

uint64_t absolute(int exponent) { return absolute(static_cast<int64_t>(exponent)); }

std::string superscript(uint64_t exponent) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (char c : digits_of(exponent)) text += digits[c - '0'];
  return text;
}

std::string latex_name(const std::string& name) {
  const size_t underscore = name.find('_');
  if (underscore == std::string::npos) return name;
  std::string subscript;
  for (char c : name.substr(underscore + 1)) subscript += c == '_' ? std::string("\\_") : std::string(1, c);
  return name.substr(0, underscore) + "_{" + subscript + "}";
}

// One side of the fraction bar. Sign +1 selects positive exponents, -1 negative exponents.
struct Side {
  std::string text;
  int factors = 0;
};

Side text_side(uint64_t coefficient, const Term& term, int sign) {
  Side side;
  const auto add = [&](const std::string& factor) {
    if (side.factors++ > 0) side.text += "·";
    side.text += factor;
  };
  if (coefficient != 1) add(digits_of(coefficient));
  for (const Power& power : term.powers) {
    if ((power.exponent > 0) != (sign > 0)) continue;
    const uint64_t exponent = absolute(power.exponent);
    add(power.symbol.name() + (exponent == 1 ? "" : superscript(exponent)));
  }
  return side;
}

Side latex_side(uint64_t coefficient, const Term& term, int sign) {
  Side side;
  bool long_before = false;
  // A thin space separates names of several letters, which would otherwise read as a product of letters.
  const auto add = [&](const std::string& factor, bool is_long) {
    if (side.factors++ > 0) side.text += is_long || long_before ? "\\," : " ";
    side.text += factor;
    long_before = is_long;
  };
  if (coefficient != 1) add(digits_of(coefficient), false);
  for (const Power& power : term.powers) {
    if ((power.exponent > 0) != (sign > 0)) continue;
    const uint64_t exponent = absolute(power.exponent);
    add(latex_name(power.symbol.name()) + (exponent == 1 ? "" : "^{" + digits_of(exponent) + "}"),
        power.symbol.name().size() > 1);
  }
  return side;
}

std::string text_of(const Term& term) {
  const Side top = text_side(absolute(term.coefficient.num()), term, +1);
  const Side bottom = text_side(absolute(term.coefficient.den()), term, -1);
  const std::string text = top.factors == 0 ? "1" : top.text;
  if (bottom.factors == 0) return text;
  return text + "/" + (bottom.factors == 1 ? bottom.text : "(" + bottom.text + ")");
}

std::string latex_of(const Term& term) {
  const Side top = latex_side(absolute(term.coefficient.num()), term, +1);
  const Side bottom = latex_side(absolute(term.coefficient.den()), term, -1);
  const std::string text = top.factors == 0 ? "1" : top.text;
  return bottom.factors == 0 ? text : "\\frac{" + text + "}{" + bottom.text + "}";
}

template <typename Print>
std::string join(std::span<const Term> terms, Print print) {
  if (terms.empty()) return "0";
  std::string text;
  for (const Term& term : terms) {
    const bool negative = term.coefficient.num() < 0;
    if (text.empty()) {
      if (negative) text += "-";
    } else {
      text += negative ? " - " : " + ";
    }
    text += print(term);
  }
  return text;
}

}  // namespace

std::string Expr::text() const { return join(terms_, text_of); }

std::string Expr::latex() const { return join(terms_, latex_of); }

}  // namespace shardscape
