#include "ui/inspector/fact_row.h"

#include <QBoxLayout>
#include <QFrame>
#include <QLabel>
#include <algorithm>

#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/glossary.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kShortFact = 110;  // pixels: shorter names and values stay on one line
constexpr int kGap = 12;         // pixels between a name and its value

QLabel* link_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::RichText);
  label->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  label->setObjectName("inspector_link");
  return label;
}

// The tip of a fact such as "Level", "rail: 64 ranks in 8 domains": the glossary explains the name and the
// word before the colon. Empty if one of both is no term.
QString explanation(const QString& name, const QString& value) {
  const qsizetype colon = value.indexOf(u':');
  const QString word = colon < 0 ? QString() : Glossary::instance().tip(value.left(colon));
  const QString of_name = word.isEmpty() ? QString() : Glossary::instance().tip(name);
  return of_name.isEmpty() ? QString() : word + u'\n' + of_name;
}

}  // namespace

FactRow::FactRow(QWidget* parent, bool link)
    : QWidget(parent),
      line_(new QBoxLayout(QBoxLayout::LeftToRight)),
      name_(new CopyLabel({}, this, true)),
      text_(link ? nullptr : new CopyLabel({}, this, true)),
      value_(link ? link_label(this) : text_) {
  line_->setContentsMargins(0, 5, 0, 5);
  name_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  value_->setAlignment(Qt::AlignRight | Qt::AlignTop);
  line_->addWidget(name_);
  line_->addWidget(value_);
  auto* hairline = new QFrame(this);
  hairline->setObjectName("hairline");
  hairline->setFixedHeight(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(line_);
  layout->addWidget(hairline);
  setMinimumWidth(1);  // arrange() decides what fits
  if (link) connect(value_, &QLabel::linkActivated, this, &FactRow::followed);
}

// Shapes and formulas are set in the monospace font, figures are not. A short text stays on one line and the
// other text gets the rest of the row. Two long texts share the row in proportion to their lengths.
void FactRow::set(const QString& name, const QString& value) {
  name_->setWords(name);
  const QString tip = explanation(name, value);
  name_->setTerm(!tip.isEmpty());
  setToolTip(tip);
  name_->setAccessibleDescription(tip);
  if (text_) {
    text_->setWords(value);
  } else {
    value_->setText(
        QStringLiteral("<a href=\"#\" style=\"text-decoration:none\">%1</a>").arg(value.toHtmlEscaped()));
    value_->setAccessibleName(name + u' ' + value);
  }
  const bool formula = value.startsWith('[') || value.contains(QChar(0xB7));
  value_->setFont(formula ? Theme::instance().monoFont(12) : QFont());
  const int name_wants = name_->fontMetrics().horizontalAdvance(name),
            value_wants = value_->fontMetrics().horizontalAdvance(value);
  const bool short_value = value_wants <= kShortFact, short_name = !short_value && name_wants <= kShortFact;
  const int least = std::max(1, (name_wants + value_wants) / 4);
  value_->setWordWrap(!short_value);
  name_->setWordWrap(!short_name);
  line_->setStretch(0, short_name ? 0 : short_value ? 1 : std::max(least, name_wants));
  line_->setStretch(1, short_value ? 0 : short_name ? 1 : std::max(least, value_wants));
  arrange();
}

void FactRow::arrange() {
  const int needed = name_->minimumSizeHint().width() + kGap + value_->minimumSizeHint().width();
  const bool beside = width() >= needed;
  line_->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  line_->setSpacing(beside ? kGap : 0);
}

void FactRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

}  // namespace shardscape::ui
