#include "ui/views/architecture/part_box.h"

#include <QAbstractItemView>
#include <QStyleOptionComboBox>
#include <QWheelEvent>

#include "ui/toolkit/elided_combo.h"

namespace shardscape::ui {

PartBox::PartBox(QWidget* parent) : QComboBox(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  setMinimumContentsLength(4);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setMaxVisibleItems(16);
  connect(this, &QComboBox::currentTextChanged, this, &QWidget::setToolTip);  // the text may be cut
}

void PartBox::paintEvent(QPaintEvent*) {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  paintElided(*this, option);
}

void PartBox::showPopup() {
  view()->setMinimumWidth(view()->sizeHintForColumn(0) + 32);
  QComboBox::showPopup();
}

void PartBox::wheelEvent(QWheelEvent* event) {
  if (hasFocus())
    QComboBox::wheelEvent(event);
  else
    event->ignore();
}

}  // namespace shardscape::ui
