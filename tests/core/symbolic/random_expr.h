// Random polynomials and bindings for tests by properties; the seed is fixed, so a failure can be repeated.
#pragma once

#include <QRandomGenerator>
#include <QString>
#include <vector>

#include "symbolic/binding.h"
#include "symbolic/expr.h"

namespace shardscape::test {

inline std::vector<Symbol> some_symbols() {
  std::vector<Symbol> symbols;
  for (const char* name : {"S", "b", "D", "tp", "cp", "v", "zeta", "Alpha_1"})
    symbols.push_back(Symbol::intern(name));
  return symbols;
}

struct Shape {
  int terms = 4;         // at most
  int factors = 3;       // per term, at most
  int exponent = 3;      // magnitude, at most
  bool negative = true;  // negative exponents and fractions
};

inline Expr random_expr(QRandomGenerator& random, const Shape& shape = {}) {
  static const std::vector<Symbol> symbols = some_symbols();
  Expr sum;
  for (int t = random.bounded(shape.terms + 1); t > 0; --t) {
    Expr term(Rational(random.bounded(-9, 10), shape.negative ? random.bounded(1, 5) : 1));
    for (int f = random.bounded(shape.factors + 1); f > 0; --f) {
      const int exponent = random.bounded(shape.negative ? -shape.exponent : 0, shape.exponent + 1);
      term = term * Expr(symbols[random.bounded(int(symbols.size()))], exponent);
    }
    sum += term;
  }
  return sum;
}

inline Expr random_monomial(QRandomGenerator& random) {
  for (;;) {
    const Expr expr = random_expr(random, {1, 3, 3, true});
    if (expr.is_monomial()) return expr;
  }
}

inline Binding random_binding(QRandomGenerator& random, int low, int high) {
  Binding binding;
  for (Symbol symbol : some_symbols()) binding.set(symbol, random.bounded(low, high + 1));
  return binding;
}

inline Expr parsed(const char* text) {
  const auto result = Expr::parse(text);
  if (const auto* error = std::get_if<ParseError>(&result)) {
    qFatal("%s: %zu: %s", text, error->position, error->message.c_str());
  }
  return std::get<Expr>(result);
}

inline QString shown(const Expr& expr) { return QString::fromStdString(expr.text()); }

}  // namespace shardscape::test
