// The base of charts whose view moves along a time axis and over rows, with the mouse and the keys of
// Perfetto: the wheel scrolls the rows, with Ctrl it zooms around the cursor, with Shift it moves along the
// axis. W and S zoom around the cursor, or the selected element; A and D move.
#pragma once

#include <optional>

#include "ui/plot/canvas.h"

namespace shardscape::ui {

class TimeCanvas : public Canvas {
  Q_OBJECT
 protected:
  using Canvas::Canvas;
  static constexpr double kPan = 60;    // pixels of a key
  virtual QRectF plotArea() const = 0;  // where W and S zoom around the cursor
  const std::optional<QPointF>& mouse() const { return mouse_; }
  bool moveKey(int key);  // W A S D

  bool viewMoves() const override { return true; }
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override;
  void wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at) override;
  bool otherKey(const QKeyEvent& event) override;

 private:
  std::optional<QPointF> mouse_;
};

}  // namespace shardscape::ui
