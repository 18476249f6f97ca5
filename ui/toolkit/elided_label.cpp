#include "ui/toolkit/elided_label.h"

#include <QPainter>

#include "ui/toolkit/glossary.h"

namespace shardscape::ui {

ElidedLabel::ElidedLabel(QWidget* parent, QFont font, QPalette::ColorRole role)
    : QWidget(parent), role_(role) {
  setFont(font);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ElidedLabel::setText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  setAccessibleName(text);
  updateGeometry();
  update();
}

void ElidedLabel::setShort(const QString& text) {
  if (text == short_) return;
  short_ = text;
  update();
}

void ElidedLabel::setTerm(const QString& term, bool has_tip) {
  const QString tip = Glossary::instance().tip(term);
  is_term_ = !tip.isEmpty();
  tip_ = has_tip ? tip : QString();
  setToolTip(tip_);
  update();
}

void ElidedLabel::setInk(const QColor& ink) {
  ink_ = ink;
  update();
}

QSize ElidedLabel::sizeHint() const {
  const QFontMetrics metrics(font());
  return {metrics.horizontalAdvance(text_) + 1, metrics.height()};
}

QSize ElidedLabel::minimumSizeHint() const {
  return {QFontMetrics(font()).horizontalAdvance("0…"), sizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(ink_.isValid() ? ink_ : palette().color(role_));
  const bool whole = short_.isEmpty() || fontMetrics().horizontalAdvance(text_) <= width();
  const QString shown = fontMetrics().elidedText(whole ? text_ : short_, Qt::ElideRight, width());
  const bool elided = shown != text_;
  if (elided ? toolTip().isEmpty() || toolTip() == tip_ : toolTip() != tip_)
    setToolTip(!elided ? tip_ : tip_.isEmpty() ? text_ : text_ + u'\n' + tip_);
  if (is_term_) underlineTerm(painter, rect(), Qt::AlignLeft | Qt::AlignVCenter, shown);
  painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, shown);
}

}  // namespace shardscape::ui
