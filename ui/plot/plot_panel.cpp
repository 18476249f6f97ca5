#include "ui/plot/plot_panel.h"

#include <cmath>

#include "ui/plot/axis_paint.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 52, kTop = 26, kRight = 14, kBottom = 38;
constexpr double kTicksApart = 60, kLabelHeight = 15;
constexpr float kWash = 0.07f;

void wash(QPainter& painter, const QRectF& over) {
  QColor color = Theme::instance().colors().bad;
  color.setAlphaF(kWash);
  painter.fillRect(over, color);
}

void paint_label(QPainter& painter, const QRectF& box, const QString& text, const QColor& ground) {
  painter.setPen(readable(Theme::instance().colors().bad, ground));
  paint_veiled_text(painter, box, text, ground);
}

}  // namespace

QPointF PlotPanel::at(double of_x, double of_y) const {
  return {plot.left() + plot.width() * x.share(of_x), plot.bottom() - plot.height() * y.share(of_y)};
}

double PlotPanel::valueAt(double pixel_x) const {
  const double place = x.from + (pixel_x - plot.left()) / plot.width() * (x.to - x.from);
  return x.logarithmic ? std::pow(x.base, place) : place;
}

QRectF plot_in(const QRectF& area) { return area.adjusted(kLeft, kTop, -kRight, -kBottom); }

void paint_axes(QPainter& painter, const PlotPanel& panel) {
  const QRectF& plot = panel.plot;
  painter.setPen(Theme::instance().colors().text);
  painter.drawText(QRectF(plot.left() - kLeft + 4, plot.top() - kTop + 2, plot.width() + kLeft, 18),
                   Qt::AlignLeft | Qt::AlignVCenter, panel.title);
  paint_y_axis(painter, panel.y, plot, kLeft);
  paint_x_axis(painter, panel.x, plot, kTicksApart);
  painter.setPen(Theme::instance().colors().secondary);
  painter.drawText(QRectF(plot.left(), plot.bottom() + 20, plot.width(), 16), Qt::AlignCenter, panel.x.title);
}

void paint_limit_x(QPainter& painter, const PlotPanel& panel, double value, const QString& text,
                   const QColor& ground) {
  const QRectF& plot = panel.plot;
  const double share = panel.x.share(value);
  if (!(share >= 0 && share <= 1)) return;
  const double x = plot.left() + plot.width() * share;
  wash(painter, QRectF(QPointF(x, plot.top()), plot.bottomRight()));
  painter.setPen(QPen(Theme::instance().colors().bad, 1.4, Qt::DashLine));
  painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  const double width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 6;
  const double left = x + 4 + width <= plot.right() ? x + 4 : x - 4 - width;
  paint_label(painter, QRectF(left, plot.top() + 2, width, kLabelHeight), text, ground);
}

void paint_limit_y(QPainter& painter, const PlotPanel& panel, double value, const QString& text,
                   const QColor& ground) {
  const QRectF& plot = panel.plot;
  const double share = panel.y.share(value);
  if (!(share >= 0 && share <= 1)) return;
  const double y = plot.bottom() - plot.height() * share;
  wash(painter, QRectF(plot.topLeft(), QPointF(plot.right(), y)));
  painter.setPen(QPen(Theme::instance().colors().bad, 1.4, Qt::DashLine));
  painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
  const double width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 6;
  const double top = y - 2 - kLabelHeight >= plot.top() ? y - 2 - kLabelHeight : y + 2;
  paint_label(painter, QRectF(plot.left() + 4, top, width, kLabelHeight), text, ground);
}

void paint_legend(QPainter& painter, const std::vector<LegendEntry>& entries, double right, double y) {
  const QFontMetricsF metrics(painter.font());
  double x = right;
  for (size_t i = entries.size(); i-- > 0;) {
    x -= metrics.horizontalAdvance(entries[i].text);
    painter.setPen(Theme::instance().colors().secondary);
    painter.drawText(QPointF(x, y + 4), entries[i].text);
    x -= 13;
    painter.fillRect(QRectF(x, y - 4, 8, 8), entries[i].ink);
    x -= 14;
  }
}

}  // namespace shardscape::ui
