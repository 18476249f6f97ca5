// Draws the axes of a painted chart: grid lines with their ticks, and words on top of a drawing.
#pragma once

#include <QPainter>

#include "ui/plot/axis_scale.h"

namespace shardscape::ui {

// Grid lines of the horizontal axis. Tick texts lie below the plot, at least `apart` pixels from each other.
void paint_x_axis(QPainter& painter, const AxisScale& scale, const QRectF& plot, double apart);
// Grid lines of the vertical axis. Tick texts lie left of the plot in a column of `width` pixels.
void paint_y_axis(QPainter& painter, const AxisScale& scale, const QRectF& plot, double width);
// Text on a translucent patch of the ground, readable over points and lines.
void paint_veiled_text(QPainter& painter, const QRectF& box, const QString& text, const QColor& ground,
                       Qt::Alignment align = Qt::AlignCenter);

}  // namespace shardscape::ui
