// Mouse and keys of the scatter.
#include "ui/views/explore/scatter_canvas.h"

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

void ScatterCanvas::click(const QPointF& at, Qt::KeyboardModifiers) { select(rowAt(at)); }

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
