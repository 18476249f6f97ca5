#include "ui/plot/bar_paint.h"

#include <QLineF>
#include <QList>
#include <algorithm>
#include <cmath>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kStep = 6;  // between lines, and between dots

// Lines x + y = c, cut at the rectangle's own edges: no clipping, so every paint engine draws the same.
QList<QLineF> hatching(const QRectF& rect) {
  QList<QLineF> lines;
  const double first = std::ceil((rect.left() + rect.top()) / kStep) * kStep;
  for (double c = first; c < rect.right() + rect.bottom(); c += kStep) {
    const double x_low = std::max(rect.left(), c - rect.bottom());
    const double x_high = std::min(rect.right(), c - rect.top());
    lines.append(QLineF(x_low, c - x_low, x_high, c - x_high));
  }
  return lines;
}

// Rows of dots on a grid; every other row is moved by half a step.
QList<QPointF> dots(const QRectF& rect, double radius) {
  QList<QPointF> points;
  const double half = kStep / 2;
  for (double row = std::ceil((rect.top() + radius) / half); row * half <= rect.bottom() - radius; ++row) {
    const double shift = static_cast<int64_t>(row) % 2 == 0 ? 0 : half;
    for (double x = std::ceil((rect.left() + radius - shift) / kStep) * kStep + shift;
         x <= rect.right() - radius; x += kStep)
      points.append({x, row * half});
  }
  return points;
}

}  // namespace

BarSeries series_of(Role role, const QString& label) {
  const RoleFill fill = fill_of(role);
  return {label, color_of(role),
          fill == RoleFill::Hatched  ? BarFill::Hatched
          : fill == RoleFill::Dotted ? BarFill::Dotted
                                     : BarFill::Solid};
}

QPen limit_pen() {
  QPen pen(Theme::instance().colors().bad, 1.4);
  pen.setDashPattern({4, 3});
  return pen;
}

void fill_bar(QPainter& painter, const QRectF& rect, const BarSeries& series, const QColor& ground) {
  if (series.fill == BarFill::Solid) {
    painter.fillRect(rect, series.color);
    return;
  }
  painter.fillRect(rect, mixed(ground, series.color, 0.35));
  if (rect.height() < 1 || rect.width() < 1) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (series.fill == BarFill::Hatched) {
    painter.setPen(QPen(series.color, 1.6, Qt::SolidLine, Qt::FlatCap));
    painter.drawLines(hatching(rect));
  } else {
    constexpr double kDot = 2.2;
    const QList<QPointF> points = dots(rect, kDot / 2);
    painter.setPen(QPen(series.color, kDot, Qt::SolidLine, Qt::RoundCap));
    painter.drawPoints(points.data(), static_cast<int>(points.size()));
  }
  painter.restore();
}

}  // namespace shardscape::ui
