#include "ui/toolkit/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace shardscape::ui {

FlowLayout::FlowLayout(int gap, QWidget* parent) : QLayout(parent), gap_(gap) {
  setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

QLayoutItem* FlowLayout::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

int FlowLayout::heightForWidth(int width) const { return place(QRect(0, 0, width, 0), false); }

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_)
    if (!item->isEmpty()) size = size.expandedTo(QSize(0, item->sizeHint().height()));
  return size;
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  place(rect, true);
}

int FlowLayout::place(const QRect& rect, bool move) const {
  int x = rect.left(), y = rect.top(), line = 0;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    const QSize size(std::min(item->sizeHint().width(), rect.width()), item->sizeHint().height());
    if (x > rect.left() && x + size.width() > rect.left() + rect.width()) {
      x = rect.left();
      y += line + gap_;
      line = 0;
    }
    if (move) item->setGeometry(QRect(QPoint(x, y), size));
    x += size.width() + gap_;
    line = std::max(line, size.height());
  }
  return y + line - rect.top();
}

}  // namespace shardscape::ui
