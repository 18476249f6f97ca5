#include "symbolic/program.h"

#include <QTest>
#include <algorithm>
#include <array>
#include <limits>

#include "random_expr.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Compares the program with evaluate() for every expression and design; counts what was seen per fault.
bool agrees(const std::vector<Expr>& exprs, const std::vector<Binding>& designs, std::array<int, 5>& seen) {
  const ExprProgram program = ExprProgram::compile(exprs);
  for (const Binding& design : designs) {
    std::vector<EvalFault> faults;
    const std::vector<Wide> values = program.evaluate(design, &faults);
    if (program.evaluate(design) != values) return false;
    for (size_t e = 0; e < exprs.size(); ++e) {
      const auto expected = evaluate(exprs[e], design);
      const auto* error = std::get_if<EvalError>(&expected);
      const EvalFault fault = error ? error->fault : EvalFault::None;
      const Wide value = error ? Wide{0} : std::get<Wide>(expected);
      ++seen[static_cast<size_t>(fault)];
      if (faults[e] == fault && values[e] == value) continue;
      qWarning("%s: %s (%s) is not %s (%s)", exprs[e].text().c_str(), to_string(values[e]).c_str(),
               to_string(faults[e]), to_string(value).c_str(), to_string(fault));
      return false;
    }
  }
  return true;
}

int seen_of(const std::array<int, 5>& seen, EvalFault fault) { return seen[static_cast<size_t>(fault)]; }

}  // namespace

class ProgramTest : public QObject {
  Q_OBJECT

 private slots:
  void equals_evaluate_on_small_numbers();
  void equals_evaluate_on_powers_of_two();
  void equals_evaluate_on_huge_numbers();
  void equals_evaluate_near_the_limits();
  void sums_longer_than_their_terms();
  void unbound_symbols();
  void empty_programs();
};

void ProgramTest::equals_evaluate_on_small_numbers() {
  QRandomGenerator random(21);
  std::array<int, 5> seen{};
  for (int round = 0; round < 60; ++round) {
    std::vector<Expr> exprs;
    for (int i = 0; i < 20; ++i) exprs.push_back(random_expr(random, {5, 3, 3, i % 2 == 0}));
    std::vector<Binding> designs;
    for (int d = 0; d < 50; ++d) designs.push_back(random_binding(random, round % 3 == 0 ? -6 : 1, 12));
    QVERIFY(agrees(exprs, designs, seen));
  }
  QVERIFY(seen_of(seen, EvalFault::None) > 1000 && seen_of(seen, EvalFault::NotDivisible) > 1000);
  QVERIFY(seen_of(seen, EvalFault::DivisionByZero) > 100);
}

void ProgramTest::equals_evaluate_on_powers_of_two() {
  QRandomGenerator random(22);
  std::array<int, 5> seen{};
  for (int round = 0; round < 40; ++round) {
    std::vector<Expr> exprs;
    for (int i = 0; i < 20; ++i) exprs.push_back(random_expr(random, {5, 4, 2, true}));
    std::vector<Binding> designs;
    for (int d = 0; d < 60; ++d) {
      Binding binding;
      for (Symbol symbol : some_symbols()) {
        const int64_t value = int64_t{1} << random.bounded(20);
        binding.set(symbol, random.bounded(8) ? value : -value);
      }
      designs.push_back(binding);
    }
    QVERIFY(agrees(exprs, designs, seen));
  }
  QVERIFY(seen_of(seen, EvalFault::None) > 1000);
}

void ProgramTest::equals_evaluate_on_huge_numbers() {
  QRandomGenerator random(23);
  std::array<int, 5> seen{};
  for (int round = 0; round < 60; ++round) {
    std::vector<Expr> exprs;
    for (int i = 0; i < 12; ++i) exprs.push_back(random_expr(random, {4, 4, 3, i % 3 == 0}));
    std::vector<Binding> designs;
    for (int d = 0; d < 40; ++d) {
      Binding binding;
      for (Symbol symbol : some_symbols()) {
        binding.set(symbol, static_cast<int64_t>(random.generate64() >> random.bounded(60)) *
                                (random.bounded(4) ? 1 : -1));
      }
      designs.push_back(binding);
    }
    QVERIFY(agrees(exprs, designs, seen));
  }
  QVERIFY(seen_of(seen, EvalFault::None) > 1000 && seen_of(seen, EvalFault::Overflow) > 1000);
}

void ProgramTest::equals_evaluate_near_the_limits() {
  constexpr int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  std::vector<Binding> designs;
  for (int64_t s :
       {low, low + 1, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1} << 31, int64_t{1} << 62, high}) {
    for (int64_t d : {low, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1} << 32, high}) {
      Binding binding;
      binding.set(Symbol::intern("S"), s);
      binding.set(Symbol::intern("D"), d);
      designs.push_back(binding);
    }
  }
  std::vector<Expr> exprs;
  for (const char* text :
       {"S·D", "2·S·D", "2·S·D + 2·D", "2·S·D + 2·D - 1", "S^2 + S·D + S", "3·S^2/2 + 3·S·D/2 + S", "S^2·D/S",
        "S/D", "S^3/D^2", "9223372036854775807·S + D", "S + D", "S - D", "-9223372036854775808·S·D", "S^127",
        "D^-1", "S^500/D^500", "S/3 + 2·S/3", "S/7 + D/9223372036854775807", "0"}) {
    exprs.push_back(parsed(text));
  }
  std::array<int, 5> seen{};
  QVERIFY(agrees(exprs, designs, seen));
}

void ProgramTest::sums_longer_than_their_terms() {
  // Every term fits its lane, the sum does not: 64 bits for the first, 128 bits for its square.
  Expr sum;
  Binding binding;
  for (const char* name : {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"}) {
    const Symbol symbol = Symbol::intern(name);
    sum += Expr(symbol);
    binding.set(symbol, (int64_t{1} << 62) - 1);
  }
  std::array<int, 5> seen{};
  QVERIFY(agrees({sum}, {binding}, seen));
  QCOMPARE(seen_of(seen, EvalFault::None), 1);
  QVERIFY(agrees({sum * sum}, {binding}, seen));
  QCOMPARE(seen_of(seen, EvalFault::Overflow), 1);
}

void ProgramTest::unbound_symbols() {
  const ExprProgram program = ExprProgram::compile(
      std::vector<Expr>{parsed("S + D"), parsed("2·S"), parsed("D/S"), Expr(3)});
  Binding binding;
  binding.set(Symbol::intern("S"), 5);
  std::vector<EvalFault> faults;
  const std::vector<Wide> values = program.evaluate(binding, &faults);
  QVERIFY((faults == std::vector{EvalFault::Unbound, EvalFault::None, EvalFault::Unbound, EvalFault::None}));
  QVERIFY((values == std::vector<Wide>{0, 10, 0, 3}));
  QVERIFY(program.evaluate(binding) == values);
}

void ProgramTest::empty_programs() {
  const ExprProgram nothing = ExprProgram::compile({});
  QCOMPARE(nothing.size(), size_t{0});
  QVERIFY(nothing.evaluate(Binding()).empty());
  const ExprProgram constants = ExprProgram::compile(std::vector<Expr>{Expr(), Expr(5), parsed("1/2")});
  QCOMPARE(constants.size(), size_t{3});
  QVERIFY(constants.symbols().empty());
  std::vector<EvalFault> faults;
  QVERIFY((constants.evaluate(Binding(), &faults) == std::vector<Wide>{0, 5, 0}));
  QCOMPARE(faults[2], EvalFault::NotDivisible);
}

QTEST_APPLESS_MAIN(ProgramTest)
#include "program_test.moc"
