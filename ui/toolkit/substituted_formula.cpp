#include "ui/toolkit/substituted_formula.h"

#include <QStringList>
#include <cstdlib>

#include "base/units.h"

namespace shardscape::ui {
namespace {

QString superscript(int exponent) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text;
  for (const QChar digit : QString::number(exponent)) text += digits[digit.digitValue()];
  return text;
}

QString magnitude(int64_t value) {
  const Wide wide = value;
  return QString::fromStdString(grouped(wide < 0 ? -wide : wide));
}

QString factor(const Power& power, const Binding& binding) {
  const std::optional<int64_t> value = binding.get(power.symbol);
  QString text = QString::fromStdString(value ? grouped(*value) : power.symbol.name());
  if (value && *value < 0) text = "(" + text + ")";
  const int exponent = std::abs(power.exponent);
  return exponent == 1 ? text : text + superscript(exponent);
}

// One side of the fraction bar: sign +1 selects positive exponents, -1 negative ones.
QStringList side(int64_t coefficient, const Term& term, int sign, const Binding& binding) {
  QStringList factors;
  if (coefficient != 1 && coefficient != -1) factors << magnitude(coefficient);
  for (const Power& power : term.powers) {
    if ((power.exponent > 0) == (sign > 0)) factors << factor(power, binding);
  }
  return factors;
}

QString term_text(const Term& term, const Binding& binding) {
  const QStringList top = side(term.coefficient.num(), term, +1, binding);
  const QStringList bottom = side(term.coefficient.den(), term, -1, binding);
  const QString text = top.isEmpty() ? QStringLiteral("1") : top.join(QChar(0xB7));
  if (bottom.isEmpty()) return text;
  const QString product = bottom.join(QChar(0xB7));
  return text + "/" + (bottom.size() == 1 ? product : "(" + product + ")");
}

}  // namespace

QString substituted(const Expr& expr, const Binding& binding) {
  if (expr.is_zero()) return QStringLiteral("0");
  QString text;
  for (const Term& term : expr.terms()) {
    const bool negative = term.coefficient.num() < 0;
    text += text.isEmpty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += term_text(term, binding);
  }
  return text;
}

}  // namespace shardscape::ui
