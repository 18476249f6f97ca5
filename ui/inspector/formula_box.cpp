#include "ui/inspector/formula_box.h"

#include <QFrame>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kLongTerms = 9,
              kFirstTerms = 5;  // formulas with more than kLongTerms terms show the first kFirstTerms

// The position after the first `terms` terms, where the next term begins with its sign (" + 2·D"); -1 if
// there are no more terms. Signs inside parentheses have no spaces.
qsizetype end_of_terms(const QString& sum, int terms) {
  static const QRegularExpression sign(QStringLiteral(" [+-] "));
  qsizetype at = 0;
  for (int i = 0; i < terms && at >= 0; ++i) at = sum.indexOf(sign, at + 1);
  return at;
}

int terms_of(const QString& sum) {
  static const QRegularExpression sign(QStringLiteral(" [+-] "));
  return static_cast<int>(sum.count(sign)) + 1;
}

}  // namespace

FormulaBox::FormulaBox(const InspectedValue& value, bool whole, QWidget* parent)
    : QWidget(parent), value_(value) {
  auto* label = new CopyLabel(value.label, this);
  label->setProperty("role", "small");
  auto* box = new QFrame(this);
  box->setObjectName("formula_box");
  auto* lines = new QVBoxLayout(box);
  lines->setContentsMargins(12, 9, 12, 9);
  lines->setSpacing(3);
  const int terms = terms_of(value.formula);
  const bool is_long = terms > kLongTerms;
  const auto some = [&](const QString& sum) {
    return is_long && !whole ? sum.left(end_of_terms(sum, kFirstTerms)) + QStringLiteral(" + …") : sum;
  };
  const auto add = [&](const QString& text, QFont::Weight weight, bool pale) {
    auto* line = new CopyLabel(text, box, true);
    QFont font = Theme::instance().monoFont(12);
    font.setWeight(weight);
    line->setFont(font);
    if (pale) line->setProperty("role", "secondary");
    lines->addWidget(line);
  };
  if (!value.formula.isEmpty()) add(some(value.formula), QFont::Normal, false);
  if (!value.substituted.isEmpty() && value.substituted != value.formula &&
      value.substituted != value.value) {
    add("= " + some(value.substituted), QFont::Normal, true);
  }
  if (!value.value.isEmpty()) add("= " + value.value, QFont::Bold, false);
  if (is_long) {
    auto* more = new QPushButton(whole ? tr("First terms only") : tr("All %1 terms").arg(terms), box);
    more->setObjectName("all_terms");
    more->setProperty("link", true);
    lines->addWidget(more, 0, Qt::AlignLeft);
    connect(more, &QPushButton::clicked, this, [this, whole] { Q_EMIT wholeWanted(!whole); });
  }
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addWidget(label);
  layout->addWidget(box);
}

}  // namespace shardscape::ui
