#include "ui/plot/axis_paint.h"

#include <cmath>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kWidestText = 140, kBetweenTexts = 6, kValueTickRoom = 34;

}  // namespace

void paint_x_axis(QPainter& painter, const AxisScale& scale, const QRectF& plot, double apart) {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(painter.font());
  double right_of_last = -1e9;
  for (const AxisTick& tick : ticks_of(scale, plot.width(), apart)) {
    const double x = plot.left() + plot.width() * scale.shareOf(tick.place);
    painter.fillRect(QRectF(std::round(x), plot.top(), 1, plot.height()), colors.line);
    const QString text = metrics.elidedText(tick.text, Qt::ElideRight, kWidestText);
    const double half = metrics.horizontalAdvance(text) / 2;
    if (x - half < right_of_last + kBetweenTexts) continue;
    right_of_last = x + half;
    painter.setPen(colors.secondary);
    painter.drawText(QRectF(x - half - 2, plot.bottom() + 4, 2 * half + 4, 15), Qt::AlignCenter, text);
  }
}

void paint_y_axis(QPainter& painter, const AxisScale& scale, const QRectF& plot, double width) {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(painter.font());
  for (const AxisTick& tick : ticks_of(scale, plot.height(), kValueTickRoom)) {
    const double y = plot.bottom() - plot.height() * scale.shareOf(tick.place);
    painter.fillRect(QRectF(plot.left(), std::round(y), plot.width(), 1), colors.line);
    painter.setPen(colors.secondary);
    painter.drawText(QRectF(plot.left() - width, y - 8, width - 8, 16), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(tick.text, Qt::ElideRight, width - 10));
  }
}

void paint_veiled_text(QPainter& painter, const QRectF& box, const QString& text, const QColor& ground,
                       Qt::Alignment align) {
  QColor veil = ground;
  veil.setAlphaF(0.8f);
  painter.fillRect(box, veil);
  painter.drawText(box, static_cast<int>(align), text);
}

}  // namespace shardscape::ui
