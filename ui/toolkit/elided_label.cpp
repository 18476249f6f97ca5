#include "ui/toolkit/elided_label.h"

#include <QPainter>

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
  if (toolTip().isEmpty() == (shown != text_)) setToolTip(shown == text_ ? QString() : text_);
  painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, shown);
}

}  // namespace shardscape::ui
