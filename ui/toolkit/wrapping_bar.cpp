#include "ui/toolkit/wrapping_bar.h"

#include <QBoxLayout>
#include <QEvent>

namespace shardscape::ui {

WrappingBar::WrappingBar(const QMargins& margins, QWidget* parent)
    : QWidget(parent), parts_(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
  parts_->setContentsMargins(margins);
  parts_->setSpacing(8);
  parts_->setSizeConstraint(QLayout::SetNoConstraint);  // a line that is too long wraps
}

void WrappingBar::add(QLayout* part, int stretch) { parts_->addLayout(part, stretch); }

bool WrappingBar::event(QEvent* event) {
  // A part may show or hide widgets while the bar keeps its size.
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) {
    const QMargins margins = parts_->contentsMargins();
    int needed = margins.left() + margins.right() - parts_->spacing();
    for (int i = 0; i < parts_->count(); ++i)
      needed += parts_->itemAt(i)->minimumSize().width() + parts_->spacing();
    const auto direction = needed > width() ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
    if (direction != parts_->direction()) parts_->setDirection(direction);
  }
  return QWidget::event(event);
}

}  // namespace shardscape::ui
