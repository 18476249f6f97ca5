// One plot of a chart with several: its title, axes, and the lines of limits.
#pragma once

#include <QPainter>
#include <QRectF>

#include "ui/plot/axis_scale.h"

namespace shardscape::ui {

struct PlotPanel {
  QString title;  // above the plot, at the left
  QRectF plot;
  AxisScale x, y;

  QPointF at(double of_x, double of_y) const;
  double valueAt(double pixel_x) const;  // of the horizontal axis
  bool shows(const QPointF& point) const { return plot.adjusted(-4, -4, 4, 4).contains(point); }
};

// The plot of a panel that takes this area, with room for title, ticks and the title of the axis.
QRectF plot_in(const QRectF& area);
void paint_axes(QPainter& painter, const PlotPanel& panel);
// A dashed line at the value of an axis, with a wash over the side that exceeds it. Outside of the plot:
// none.
void paint_limit_x(QPainter& painter, const PlotPanel& panel, double value, const QString& text,
                   const QColor& ground);
void paint_limit_y(QPainter& painter, const PlotPanel& panel, double value, const QString& text,
                   const QColor& ground);

struct LegendEntry {
  QString text;
  QColor ink;
};
// From the right end of the line at y.
void paint_legend(QPainter& painter, const std::vector<LegendEntry>& entries, double right, double y);

}  // namespace shardscape::ui
