#include "ui/views/architecture/part_box.h"

#include <QAbstractItemView>
#include <QWheelEvent>

namespace shardscape::ui {

PartBox::PartBox(QWidget* parent) : QComboBox(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  setMinimumContentsLength(4);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setMaxVisibleItems(16);
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
