#include "symbolic/binding.h"

#include <QTest>
#include <cmath>
#include <limits>

#include "random_expr.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();

Wide value_of(const Expr& expr, const Binding& binding) {
  const auto result = evaluate(expr, binding);
  if (const auto* error = std::get_if<EvalError>(&result)) qFatal("%s", error->message.c_str());
  return std::get<Wide>(result);
}

EvalError error_of(const char* text, const Binding& binding) {
  const auto result = evaluate(parsed(text), binding);
  const auto* error = std::get_if<EvalError>(&result);
  return error ? *error : EvalError{EvalFault::None, to_string(std::get<Wide>(result))};
}

Binding bound(std::initializer_list<std::pair<const char*, int64_t>> values) {
  Binding binding;
  for (const auto& [name, value] : values) binding.set(Symbol::intern(name), value);
  return binding;
}

}  // namespace

class BindingTest : public QObject {
  Q_OBJECT

 private slots:
  void set_and_get();
  void evaluation_is_a_homomorphism();
  void evaluation_by_exact_fractions();
  void substitution_against_evaluation();
  void only_the_total_has_to_be_whole();
  void beyond_64_bits();
  void faults_are_readable();
  void cancellation_before_overflow();
  void derived_symbols();
  void derived_symbol_faults();
};

void BindingTest::set_and_get() {
  Binding binding = bound({{"zulu", 1}, {"tp", 2}, {"S", 3}, {"alpha", 4}});
  QVERIFY(!binding.get(Symbol::intern("D")));
  QCOMPARE(*binding.get(Symbol::intern("S")), int64_t{3});
  binding.set(Symbol::intern("S"), 0);
  QCOMPARE(*binding.get(Symbol::intern("S")), int64_t{0});
  std::string names;
  for (const auto& [symbol, value] : binding.items()) names += symbol.name() + " ";
  QCOMPARE(names, std::string("S tp alpha zulu "));
}

void BindingTest::evaluation_is_a_homomorphism() {
  QRandomGenerator random(11);
  for (int i = 0; i < 2000; ++i) {
    const Expr a = random_expr(random, {5, 3, 3, false}), b = random_expr(random, {5, 3, 3, false});
    const Binding binding = random_binding(random, -40, 40);
    QVERIFY(value_of(a + b, binding) == value_of(a, binding) + value_of(b, binding));
    QVERIFY(value_of(a - b, binding) == value_of(a, binding) - value_of(b, binding));
    QVERIFY(value_of(a * b, binding) == value_of(a, binding) * value_of(b, binding));
  }
}

void BindingTest::evaluation_by_exact_fractions() {
  QRandomGenerator random(12);
  int whole = 0, broken = 0;
  for (int i = 0; i < 4000; ++i) {
    const Expr expr = random_expr(random, {4, 2, 2, true});
    Binding binding;
    for (Symbol symbol : some_symbols())
      binding.set(symbol, random.bounded(2) ? (1 << random.bounded(3)) : -random.bounded(1, 4));
    Rational total = 0;
    for (const Term& term : expr.terms()) {
      Rational product = term.coefficient;
      for (const Power& power : term.powers) {
        for (int n = 0; n < std::abs(power.exponent); ++n) {
          const Rational value = *binding.get(power.symbol);
          product = power.exponent > 0 ? product * value : product / value;
        }
      }
      total = total + product;
    }
    const auto result = evaluate(expr, binding);
    if (total.den() == 1) {
      ++whole;
      QVERIFY(std::holds_alternative<Wide>(result));
      QVERIFY(std::get<Wide>(result) == total.num());
    } else {
      ++broken;
      QVERIFY(std::holds_alternative<EvalError>(result));
      QCOMPARE(std::get<EvalError>(result).fault, EvalFault::NotDivisible);
    }
  }
  QVERIFY(whole > 500 && broken > 500);
}

void BindingTest::substitution_against_evaluation() {
  QRandomGenerator random(13);
  const Symbol s = Symbol::intern("S");
  for (int i = 0; i < 2000; ++i) {
    const Expr expr = random_expr(random, {4, 3, 2, false}), inner = random_expr(random, {3, 2, 2, false});
    Binding binding = random_binding(random, -5, 5);
    const Wide after = value_of(expr.substitute(s, inner), binding);
    binding.set(s, static_cast<int64_t>(value_of(inner, binding)));
    QVERIFY(after == value_of(expr, binding));
  }
}

void BindingTest::only_the_total_has_to_be_whole() {
  const Binding binding = bound({{"S", 7}, {"tp", 4}, {"D", 9}, {"cp", 3}});
  QCOMPARE(to_string(value_of(parsed("S/tp + D/tp"), binding)), std::string("4"));
  QCOMPARE(to_string(value_of(parsed("S^2/2 - S/2"), binding)), std::string("21"));
  QCOMPARE(to_string(value_of(parsed("1/2 + 1/3 + 1/6"), binding)), std::string("1"));
  QCOMPARE(to_string(value_of(parsed("-S/tp - 1/tp"), binding)), std::string("-2"));
  QCOMPARE(to_string(value_of(Expr(), binding)), std::string("0"));
}

void BindingTest::beyond_64_bits() {
  const Binding binding = bound({{"S", kHigh}, {"D", kLow}, {"b", 1}});
  QCOMPARE(to_string(value_of(parsed("S^2"), binding)),
           std::string("85070591730234615847396907784232501249"));
  QCOMPARE(to_string(value_of(parsed("S·D"), binding)),
           std::string("-85070591730234615856620279821087277056"));
  // The lowest 128-bit number is a value; one less is not.
  QCOMPARE(to_string(value_of(parsed("2·S·D + 2·D"), binding)),
           std::string("-170141183460469231731687303715884105728"));
  QCOMPARE(error_of("2·S·D + 2·D - b", binding).fault, EvalFault::Overflow);
  // A partial sum beyond 128 bits does not spoil a total that fits: the carry is kept.
  Binding large = bound({{"S", kHigh}, {"b", kHigh}, {"L", kHigh}, {"D", kLow}});
  QCOMPARE(to_string(value_of(parsed("S^2 + S·b + S·L + S·D + b·D + L·D + S + b + L"), large)),
           std::string("0"));
  QCOMPARE(to_string(value_of(parsed("2·S·D + 2·D - b + 5·b"), binding)),
           std::string("-170141183460469231731687303715884105724"));
}

void BindingTest::faults_are_readable() {
  const Binding binding = bound({{"S", 7}, {"tp", 4}, {"cp", 0}, {"F", kHigh}});
  EvalError error = error_of("2·S/tp", binding);
  QCOMPARE(error.fault, EvalFault::NotDivisible);
  QCOMPARE(error.message, std::string("2·S/tp is not whole for S = 7, tp = 4"));
  error = error_of("S·D", binding);
  QCOMPARE(error.fault, EvalFault::Unbound);
  QCOMPARE(error.message, std::string("D has no value in S·D"));
  error = error_of("S/cp + F^3", binding);
  QCOMPARE(error.fault, EvalFault::DivisionByZero);
  QVERIFY(error.message.ends_with("divides by cp = 0"));
  error = error_of("S·F^3", binding);
  QCOMPARE(error.fault, EvalFault::Overflow);
  QCOMPARE(error.message, std::string("S·F³ does not fit in 128 bits for S = 7, F = 9223372036854775807"));
  QCOMPARE(error_of("F^2 + F^2 + F^2", binding).fault, EvalFault::Overflow);
  QCOMPARE(error_of("cp·F^99", binding).message, std::string("0"));
}

void BindingTest::cancellation_before_overflow() {
  const Binding binding = bound({{"S", 6}, {"D", 12}, {"tp", 1000003}, {"one", 1}, {"minus", -1}});
  QCOMPARE(to_string(value_of(parsed("S^60·D^40/(S^100·2^40)"), binding)), std::string("1"));
  QCOMPARE(to_string(value_of(parsed("tp^50·S/tp^49"), binding)), std::string("6000018"));
  QCOMPARE(to_string(value_of(parsed("one^2000000000·minus^1999999999"), binding)), std::string("-1"));
  QCOMPARE(error_of("S^60/tp^2", binding).fault, EvalFault::Overflow);
  QCOMPARE(error_of("1/tp^3", binding).fault, EvalFault::NotDivisible);
}

void BindingTest::derived_symbols() {
  const auto symbol = [](const char* name) { return Symbol::intern(name); };
  Binding binding = bound(
      {{"V", 50257}, {"tp", 4}, {"G", 2}, {"pp", 8}, {"p", 3}, {"m", 16}, {"L", 61}, {"v", 2}});
  const std::vector<DerivedSymbol> derived = {
      {symbol("Vp"), DerivedRule::Align, parsed("V"), parsed("128·tp")},
      {symbol("Gr"), DerivedRule::Max, parsed("G"), parsed("tp")},
      {symbol("nf"), DerivedRule::Min, parsed("pp - p"), parsed("m")},
      {symbol("Lc"), DerivedRule::CeilDiv, parsed("L"), parsed("pp·v")},
      {symbol("Lf"), DerivedRule::FloorDiv, parsed("L - 2"), parsed("pp")},
      {symbol("Vt"), DerivedRule::CeilDiv, parsed("Vp"), parsed("tp")},
  };
  QVERIFY(!define(binding, derived));
  const auto value = [&](const char* name) { return *binding.get(symbol(name)); };
  QCOMPARE(value("Vp"), int64_t{50688});
  QCOMPARE(value("Gr"), int64_t{4});
  QCOMPARE(value("nf"), int64_t{5});
  QCOMPARE(value("Lc"), int64_t{4});
  QCOMPARE(value("Lf"), int64_t{7});
  QCOMPARE(value("Vt"), int64_t{12672});
  QCOMPARE(derived[0].definition(), std::string("Vp = align(V, 128·tp)"));
  QCOMPARE(derived[1].definition(), std::string("Gr = max(G, tp)"));
  QCOMPARE(derived[2].definition(), std::string("nf = min(-p + pp, m)"));
  QCOMPARE(derived[3].definition(), std::string("Lc = ceil(L/(pp·v))"));
  QCOMPARE(derived[4].definition(), std::string("Lf = floor((L - 2)/pp)"));
  QCOMPARE(derived[5].definition(), std::string("Vt = ceil(Vp/tp)"));

  // Floor and ceiling by their defining inequalities, for every sign.
  for (int a = -20; a <= 20; ++a) {
    for (int b : {-7, -3, -1, 1, 2, 5}) {
      Binding signs = bound({{"x", a}, {"y", b}});
      const std::vector<DerivedSymbol> both = {
          {symbol("fl"), DerivedRule::FloorDiv, parsed("x"), parsed("y")},
          {symbol("ce"), DerivedRule::CeilDiv, parsed("x"), parsed("y")}};
      QVERIFY(!define(signs, both));
      const double exact = double(a) / b;
      QCOMPARE(double(*signs.get(symbol("fl"))), std::floor(exact));
      QCOMPARE(double(*signs.get(symbol("ce"))), std::ceil(exact));
    }
  }
}

void BindingTest::derived_symbol_faults() {
  const Symbol out = Symbol::intern("out");
  const auto fault = [&](DerivedRule rule, const char* a, const char* b) {
    Binding binding = bound({{"S", 7}, {"tp", 4}, {"zero", 0}, {"F", kHigh}});
    const std::vector<DerivedSymbol> derived = {{out, rule, parsed(a), parsed(b)}};
    const auto error = define(binding, derived);
    if (error && (!error->message.starts_with("out = ") || binding.get(out)))
      qFatal("%s", error->message.c_str());
    return error ? error->fault : EvalFault::None;
  };
  QCOMPARE(fault(DerivedRule::Max, "S/tp", "1"), EvalFault::NotDivisible);
  QCOMPARE(fault(DerivedRule::Max, "S", "unknown_symbol"), EvalFault::Unbound);
  QCOMPARE(fault(DerivedRule::Align, "S", "zero"), EvalFault::DivisionByZero);
  QCOMPARE(fault(DerivedRule::CeilDiv, "S", "zero·tp"), EvalFault::DivisionByZero);
  QCOMPARE(fault(DerivedRule::Align, "F", "128"), EvalFault::Overflow);
  QCOMPARE(fault(DerivedRule::Max, "F^2", "1"), EvalFault::Overflow);
  QCOMPARE(fault(DerivedRule::CeilDiv, "F^2", "F"), EvalFault::None);
  QCOMPARE(fault(DerivedRule::CeilDiv, "2·F^2", "F"), EvalFault::Overflow);
}

QTEST_APPLESS_MAIN(BindingTest)
#include "binding_test.moc"
