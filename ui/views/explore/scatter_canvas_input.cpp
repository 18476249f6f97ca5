// Mouse and keys of the scatter.
#include "ui/views/explore/scatter_canvas.h"

#include <cmath>
#include <utility>

namespace shardscape::ui {

void ScatterCanvas::setHovered(int row) {
  if (row == hovered_) return;
  hovered_ = row;
  Q_EMIT hoveredChanged(row);
  update();
}

bool ScatterCanvas::hover(const QPointF& at, bool) {
  setHovered(rowAt(at));
  return hovered_ >= 0;
}

void ScatterCanvas::click(const QPointF& at, Qt::KeyboardModifiers held) {
  const int row = rowAt(at);
  if (!(held & Qt::ControlModifier)) return select(row);
  if (row >= 0) Q_EMIT rowToggled(row);
}

bool ScatterCanvas::grabs(const QPointF& at, Qt::KeyboardModifiers held) {
  drawn_from_ = at;
  adds_ = held.testFlag(Qt::ControlModifier);
  return draws_ || held.testFlag(Qt::ShiftModifier);
}

bool ScatterCanvas::drag(const QPointF& at) {
  drawn_ = QRectF(drawn_from_, at).normalized() & plot();
  setCursor(Qt::CrossCursor);
  update();
  return true;
}

void ScatterCanvas::drop() {
  const QRectF rect = std::exchange(drawn_, {});
  update();
  Q_EMIT areaChosen(valuesIn(rect), adds_);
}

QRectF ScatterCanvas::valuesIn(const QRectF& rect) const {
  const QRectF area = plot();
  const auto value = [](const AxisScale& scale, double share) {
    const double place = scale.from + share * (scale.to - scale.from);
    return scale.logarithmic ? std::pow(scale.base, place) : place;
  };
  const double left = value(x_, (rect.left() - area.left()) / area.width()),
               right = value(x_, (rect.right() - area.left()) / area.width()),
               low = value(y_, (area.bottom() - rect.bottom()) / area.height()),
               high = value(y_, (area.bottom() - rect.top()) / area.height());
  return QRectF(QPointF(left, low), QPointF(right, high));
}

std::vector<int> ScatterCanvas::rowsIn(const QRectF& values) const {
  std::vector<int> out;
  const auto inside = [](const AxisScale& scale, float place, double from, double to) {
    return place >= static_cast<float>(scale.place(from)) && place <= static_cast<float>(scale.place(to));
  };
  for (size_t row = 0; row < xs_.size(); ++row)
    if (passes(static_cast<int>(row)) && inside(x_, xs_[row], values.left(), values.right()) &&
        inside(y_, ys_[row], values.top(), values.bottom()))
      out.push_back(static_cast<int>(row));
  return out;
}

void ScatterCanvas::doubleClick(const QPointF& at) {
  const int row = rowAt(at);
  if (row < 0) return fit();
  select(row);
  Q_EMIT makeCurrentRequested(row);
}

bool ScatterCanvas::go(Way way, Qt::KeyboardModifiers held) {
  constexpr double kPan = 60;
  const auto step_or_pan = [&](int dx, int dy) {
    held& Qt::ShiftModifier ? pan(QPointF(dx, dy) * kPan) : step(dx, dy);
    return true;
  };
  switch (way) {
    case Way::Left: return step_or_pan(-1, 0);
    case Way::Right: return step_or_pan(1, 0);
    case Way::Up: return step_or_pan(0, -1);
    case Way::Down: return step_or_pan(0, 1);
    case Way::First:  // the best design that passes
      for (int row = 0; row < rows_->rows(); ++row)
        if (passes(row)) {
          select(row);
          reveal(row);
          break;
        }
      return true;
    case Way::Last:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool ScatterCanvas::activate() {
  if (selected_ >= 0) Q_EMIT makeCurrentRequested(selected_);
  return true;
}

bool ScatterCanvas::clear() {
  select(-1);
  return true;
}

}  // namespace shardscape::ui
