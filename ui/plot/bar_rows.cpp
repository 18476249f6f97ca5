#include "ui/plot/bar_rows.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {

int BarRows::shownIn(const QRectF& rect) const {
  const double room = rect.height() - kHeading;
  return std::min(count(), std::max(1, static_cast<int>(room / rowHeight(room))));
}

QRectF BarRows::rowIn(const QRectF& rect, int at) const {
  if (at < 0 || at >= shownIn(rect)) return {};
  const double height = rowHeight(rect.height() - kHeading);
  return {rect.left(), rect.top() + kHeading + at * height, rect.width(), height};
}

int BarRows::rowAt(const QPointF& at) const {
  if (at.y() < kHeading) return -1;
  const auto row = static_cast<int>(std::floor((at.y() - kHeading) / rowHeight(height() - kHeading)));
  return row < shown() ? row : -1;
}

void BarRows::setSelected(int at) {
  selected_ = at < count() ? at : -1;
  setAccessibleDescription(selected_ >= 0 ? rowTip(selected_) : QString());
  update();
}

void BarRows::select(int at) {
  setSelected(at);
  Q_EMIT rowSelected(selected_);
}

QString BarRows::tipAt(const QPointF& at) const {
  const int row = rowAt(at);
  return row < 0 ? QString() : rowTip(row);
}

void BarRows::click(const QPointF& at, Qt::KeyboardModifiers) { select(rowAt(at)); }

void BarRows::doubleClick(const QPointF& at) {
  if (const int row = rowAt(at); row >= 0 && acts(row)) Q_EMIT rowActivated(row);
}

bool BarRows::go(Way way, Qt::KeyboardModifiers) {
  const int last = shown() - 1;
  switch (way) {
    case Way::Up: select(selected_ < 0 ? last : std::max(0, selected_ - 1)); return true;
    case Way::Down: select(std::min(last, selected_ + 1)); return true;
    case Way::First: select(0); return true;
    case Way::Last: select(last); return true;
    case Way::Left:
    case Way::Right:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool BarRows::activate() {
  if (selected_ >= 0 && acts(selected_)) Q_EMIT rowActivated(selected_);
  return true;
}

bool BarRows::clear() {
  select(-1);
  return true;
}

}  // namespace shardscape::ui
