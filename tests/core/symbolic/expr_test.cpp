#include "symbolic/expr.h"

#include <QTest>
#include <algorithm>
#include <limits>
#include <thread>

#include "random_expr.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int kRounds = 2000;

// Terms in strictly ascending canonical order, no zero coefficient, no zero exponent, symbols ascending.
bool canonical(const Expr& expr) {
  for (const Term& term : expr.terms()) {
    if (term.coefficient.is_zero()) return false;
    for (size_t i = 0; i < term.powers.size(); ++i) {
      if (term.powers[i].exponent == 0) return false;
      if (i > 0 && !(term.powers[i - 1].symbol < term.powers[i].symbol)) return false;
    }
  }
  Expr rebuilt;
  for (size_t i = expr.terms().size(); i-- > 0;) {
    Expr term(expr.terms()[i].coefficient);
    for (const Power& power : expr.terms()[i].powers) term = term * Expr(power.symbol, power.exponent);
    rebuilt = rebuilt + term;
  }
  return rebuilt == expr;
}

}  // namespace

class ExprTest : public QObject {
  Q_OBJECT

 private slots:
  void symbols_in_house_order();
  void symbols_interned_by_many_threads();
  void rationals_reduce_and_overflow();
  void ring_laws();
  void division_and_powers();
  void substitution();
  void running_sum();
  void overflow_is_thrown();
  void printed_data();
  void printed();
  void print_and_parse();
  void parse_reads_what_people_type_data();
  void parse_reads_what_people_type();
  void parse_errors_data();
  void parse_errors();
};

void ExprTest::symbols_in_house_order() {
  const std::vector<const char*> names = {"p", "m", "nf", "Ls", "b", "S", "L", "D", "H", "G", "E", "F", "V",
                                          "Vp", "X", "K", "B", "cp", "tp", "pp", "dp", "ep", "etp", "edp",
                                          "v", "Aa", "Ab",
                                          // The first eight characters are equal.
                                          "sequence", "sequence1", "sequence12", "sequences", "zz", "zz1"};
  Symbol::intern("sequences"), Symbol::intern("sequence12"), Symbol::intern("zz1"), Symbol::intern("zz"),
      Symbol::intern("Ab"), Symbol::intern("Aa");
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const Symbol a = Symbol::intern(names[i]), b = Symbol::intern(names[i + 1]);
    QVERIFY2(a < b && b > a && a != b, names[i]);
    QCOMPARE(a.name(), std::string(names[i]));
    QCOMPARE(a, Symbol::intern(names[i]));
  }
  for (const char* bad : {"", "1a", "_a", "a-b", "a b", "é"}) {
    QVERIFY(!Symbol::valid_name(bad));
    QVERIFY_EXCEPTION_THROWN(Symbol::intern(bad), std::invalid_argument);
  }
}

void ExprTest::symbols_interned_by_many_threads() {
  constexpr int threads = 4, count = 3000;
  std::vector<std::vector<uint32_t>> ids(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&ids, t] {
      for (int i = 0; i < count; ++i) {
        const std::string name = "thread_" + std::to_string(i);
        const Symbol symbol = Symbol::intern(name);
        ids[t].push_back(symbol.name() == name ? symbol.id() : 0);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (int t = 1; t < threads; ++t) QVERIFY(ids[t] == ids[0]);
  QVERIFY(std::find(ids[0].begin(), ids[0].end(), 0u) == ids[0].end());
}

void ExprTest::rationals_reduce_and_overflow() {
  constexpr int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  QCOMPARE(Rational(6, -4), Rational(-3, 2));
  QCOMPARE(Rational(low, 2).num(), low / 2);
  QCOMPARE(Rational(low, low), Rational(1));
  QCOMPARE(Rational(1, 3) + Rational(1, 6), Rational(1, 2));
  QCOMPARE(Rational(high, 3) * Rational(3, high), Rational(1));
  QCOMPARE(Rational(high, 2) - Rational(high, 2), Rational(0));
  QVERIFY(Rational(high - 1, high) < Rational(1) && Rational(-1, 2) < Rational(-1, 3));
  QVERIFY_EXCEPTION_THROWN(Rational(1, 0), std::domain_error);
  QVERIFY_EXCEPTION_THROWN(Rational(1) / Rational(0), std::domain_error);
  QVERIFY_EXCEPTION_THROWN(Rational(high) + Rational(1), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Rational(low) - Rational(1), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Rational(high) * Rational(2), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(-Rational(low), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Rational(1, low), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Rational(1, high) + Rational(1, high - 1), ArithmeticOverflow);
}

void ExprTest::ring_laws() {
  QRandomGenerator random(1);
  for (int i = 0; i < kRounds; ++i) {
    const Expr a = random_expr(random), b = random_expr(random), c = random_expr(random);
    QVERIFY(canonical(a) && canonical(a + b) && canonical(a * b) && canonical(a - b));
    QCOMPARE((a + b) + c, a + (b + c));
    QCOMPARE(a + b, b + a);
    QCOMPARE((a * b) * c, a * (b * c));
    QCOMPARE(a * b, b * a);
    QCOMPARE(a * (b + c), a * b + a * c);
    QCOMPARE(a - b, a + -b);
    QVERIFY((a - a).is_zero());
    QCOMPARE(a * Expr(1), a);
    QVERIFY((a * Expr()).is_zero() && (Expr() * a).is_zero());
    QCOMPARE(a + Expr(), a);
  }
}

void ExprTest::division_and_powers() {
  QRandomGenerator random(2);
  for (int i = 0; i < kRounds; ++i) {
    const Expr a = random_expr(random), m = random_monomial(random);
    QCOMPARE(a / m * m, a);
    QCOMPARE(a.pow(0), Expr(1));
    QCOMPARE(a.pow(3), a * a * a);
    QCOMPARE(m.pow(-2) * m * m, Expr(1));
    QCOMPARE(m.pow(5), m * m * m * m * m);
  }
  const Expr sum = parsed("S + D");
  QVERIFY_EXCEPTION_THROWN(Expr(1) / sum, std::domain_error);
  QVERIFY_EXCEPTION_THROWN(sum / Expr(), std::domain_error);
  QVERIFY_EXCEPTION_THROWN(sum.pow(-1), std::domain_error);
  QVERIFY_EXCEPTION_THROWN(Expr().pow(-1), std::domain_error);
  QVERIFY(Expr(int64_t{0}).is_zero() && Expr(int64_t{0}).is_constant() && Expr(7).is_constant() &&
          !sum.is_constant());
}

void ExprTest::substitution() {
  const Symbol s = Symbol::intern("S");
  QRandomGenerator random(3);
  for (int i = 0; i < kRounds; ++i) {
    const Expr a = random_expr(random), b = random_expr(random), m = random_monomial(random);
    QCOMPARE((a + b).substitute(s, m), a.substitute(s, m) + b.substitute(s, m));
    QCOMPARE((a * b).substitute(s, m), a.substitute(s, m) * b.substitute(s, m));
    QCOMPARE(a.substitute(s, Expr(s)), a);
    QVERIFY(canonical(a.substitute(s, m)));
    const Expr p = random_expr(random, {4, 3, 2, false}), q = random_expr(random, {3, 2, 2, false});
    Expr by_hand;
    for (const Term& term : p.terms()) {
      Expr product(term.coefficient);
      for (const Power& power : term.powers) {
        for (int n = 0; n < power.exponent; ++n)
          product = product * (power.symbol == s ? q : Expr(power.symbol));
      }
      by_hand += product;
    }
    QCOMPARE(p.substitute(s, q), by_hand);
  }
  QVERIFY_EXCEPTION_THROWN(parsed("1/S").substitute(s, parsed("D + 1")), std::domain_error);
  QVERIFY_EXCEPTION_THROWN(parsed("1/S").substitute(s, Expr()), std::domain_error);
  QCOMPARE(parsed("S^2 + D").substitute(s, Expr()), parsed("D"));
}

void ExprTest::running_sum() {
  QRandomGenerator random(4);
  for (int i = 0; i < kRounds; ++i) {
    Expr running = random_expr(random), sum = running;
    for (int n = 0; n < 8; ++n) {
      const Expr next = random_expr(random, {n % 3, 2, 1, true});
      running += next;
      sum = sum + next;
      QCOMPARE(running, sum);
    }
    running += running;
    QCOMPARE(running, sum * Expr(2));
    running += -running;
    QVERIFY(running.is_zero());
    Expr one = random_monomial(random);
    const Expr twice = one * Expr(2);
    one += one;
    QCOMPARE(one, twice);
  }
}

void ExprTest::overflow_is_thrown() {
  const Expr big(std::numeric_limits<int64_t>::max());
  const Symbol s = Symbol::intern("S");
  QVERIFY_EXCEPTION_THROWN(big + Expr(1), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(big * parsed("2·S"), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(parsed("3·S").pow(50), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Expr(s, std::numeric_limits<int>::max()) * Expr(s), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Expr(s, 1 << 20).pow(1 << 20), ArithmeticOverflow);
  QVERIFY_EXCEPTION_THROWN(Expr(1) / Expr(s, std::numeric_limits<int>::min()), ArithmeticOverflow);
}

void ExprTest::printed_data() {
  QTest::addColumn<QString>("input");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("latex");
  const auto row = [](const char* input, const char* text, const char* latex) {
    QTest::newRow(input) << input << text << latex;
  };
  row("2*F*D*b*S/(tp*cp)", "2·b·S·D·F/(cp·tp)", "\\frac{2 b S D F}{cp\\,tp}");
  row("3/2*S^2", "3·S²/2", "\\frac{3 S^{2}}{2}");
  row("S/tp", "S/tp", "\\frac{S}{tp}");
  row("1/tp^2", "1/tp²", "\\frac{1}{tp^{2}}");
  row("S/2/tp", "S/(2·tp)", "\\frac{S}{2\\,tp}");
  row("0*S", "0", "0");
  row("S - S + 1", "1", "1");
  row("1/2", "1/2", "\\frac{1}{2}");
  row("-S + D", "-S + D", "-S + D");
  row("1 - D - S*D^12", "-S·D¹² - D + 1", "-S D^{12} - D + 1");
  row("Vp*D*x_in_1", "D·Vp·x_in_1", "D\\,Vp\\,x_{in\\_1}");
  row("(S + D)^2", "S² + 2·S·D + D²", "S^{2} + 2 S D + D^{2}");
}

void ExprTest::printed() {
  QFETCH(QString, input);
  const Expr expr = parsed(input.toUtf8().constData());
  QTEST(shown(expr), "text");
  QTEST(QString::fromStdString(expr.latex()), "latex");
}

void ExprTest::print_and_parse() {
  QRandomGenerator random(5);
  for (int i = 0; i < kRounds; ++i) {
    const Expr expr = random_expr(random, {6, 4, 12, true});
    QCOMPARE(parsed(expr.text().c_str()), expr);
  }
  const Symbol s = Symbol::intern("S");
  const Expr low(std::numeric_limits<int64_t>::min());
  for (const Expr& expr :
       {low, low * Expr(s), Expr(s, 2) + low, Expr(s, std::numeric_limits<int>::min() + 1), low / Expr(3)}) {
    QCOMPARE(parsed(expr.text().c_str()), expr);
  }
}

void ExprTest::parse_reads_what_people_type_data() {
  QTest::addColumn<QString>("input");
  QTest::addColumn<QString>("text");
  const auto row = [](const char* input, const char* text) { QTest::newRow(input) << input << text; };
  row("  2 * b·S ", "2·b·S");
  row("S^-1", "1/S");
  row("S⁻²·D³", "D³/S²");
  row("a/b*c", "c·a/b");
  row("a/(b*c)", "a/(b·c)");
  row("-(S - D)*2", "-2·S + 2·D");
  row("S − D × 3 ⋅ F", "-3·D·F + S");
  row("+S + S ^ 2", "S² + S");
  row("(S+1)*(S-1)", "S² - 1");
  row("-S^2", "-S²");
  row("((((S))))/4", "S/4");
}

void ExprTest::parse_reads_what_people_type() {
  QFETCH(QString, input);
  const auto result = Expr::parse(input.toStdString());
  QVERIFY(std::holds_alternative<Expr>(result));
  // Symbols outside the house table follow by name: a before b is not the house order of b.
  if (input.startsWith("a/")) {
    QCOMPARE(std::get<Expr>(result),
             input == "a/b*c"
                 ? Expr(Symbol::intern("a")) * Expr(Symbol::intern("c")) / Expr(Symbol::intern("b"))
                 : Expr(Symbol::intern("a")) / Expr(Symbol::intern("c")) / Expr(Symbol::intern("b")));
    return;
  }
  QTEST(shown(std::get<Expr>(result)), "text");
}

void ExprTest::parse_errors_data() {
  QTest::addColumn<QString>("input");
  QTest::addColumn<int>("position");
  const auto row = [](const QString& input, int position) {
    QTest::newRow(qPrintable(input.left(40))) << input << position;
  };
  row("", 0);
  row("S +", 3);
  row("S * * D", 4);
  row("2S", 1);
  row("(S + D", 6);
  row("S)", 1);
  row("S/(D+1)", 2);
  row("S/0", 2);
  row("S/(D - D)", 2);
  row("(S+D)^-1", 0);
  row("S^", 2);
  row("S^99999999999", 2);
  row("99999999999999999999", 0);
  row("9223372036854775808", 0);
  row("S $ D", 2);
  row("_a", 0);
  row("2^100", 5);
  row("(3000000000*S + D)^3", 20);
  row("(S+D+1)^1000000", 0);
  row("(S+D+b+H+V+F+X+K)^12", 0);
  row("(S+N+X+C)^32", 0);
  row("(S+D)*(S+b)*(S+H)*(S+V)*(S+F)*(S+X)*(S+K)*(S+tp)*(S+pp)*(S+cp)", 56);
  row(QString(5000, '('), 201);
}

void ExprTest::parse_errors() {
  QFETCH(QString, input);
  QFETCH(int, position);
  const auto result = Expr::parse(input.toStdString());
  const auto* error = std::get_if<ParseError>(&result);
  QVERIFY(error);
  QVERIFY(!error->message.empty());
  QCOMPARE(int(error->position), position);
}

QTEST_APPLESS_MAIN(ExprTest)
#include "expr_test.moc"
