#include "ui/charts/bar_paint.h"

#include <QLineF>
#include <QList>
#include <algorithm>
#include <cmath>

#include "ui/theme/contrast.h"

namespace shardscape::ui {
void fill_bar(QPainter& painter, const QRectF& rect, const BarSeries& series, const QColor& ground) {
  if (series.fill == BarFill::Solid) {
    painter.fillRect(rect, series.color);
    return;
  }
  painter.fillRect(rect, mixed(ground, series.color, 0.35));
  if (rect.height() < 1 || rect.width() < 1) return;
  // Lines x + y = c, cut at the rectangle's own edges: no clipping, so every paint engine draws the same.
  constexpr double step = 6;
  QList<QLineF> lines;
  const double first = std::ceil((rect.left() + rect.top()) / step) * step;
  for (double c = first; c < rect.right() + rect.bottom(); c += step) {
    const double x_low = std::max(rect.left(), c - rect.bottom());
    const double x_high = std::min(rect.right(), c - rect.top());
    lines.append(QLineF(x_low, c - x_low, x_high, c - x_high));
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(series.color, 1.6, Qt::SolidLine, Qt::FlatCap));
  painter.drawLines(lines);
  painter.restore();
}

}  // namespace shardscape::ui
