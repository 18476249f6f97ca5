// Draws the axes of a painted chart: grid lines with their ticks, and words on top of a drawing.
#pragma once

#include <QPainter>

#include "ui/plot/axis_scale.h"

namespace shardscape::ui {

// Lines across the plot; their text lies below it, at least `apart` pixels from one to the next.
void paint_x_axis(QPainter& painter, const AxisScale& scale, const QRectF& plot, double apart);
// Lines along the plot; their text lies left of it in a column of that width.
void paint_y_axis(QPainter& painter, const AxisScale& scale, const QRectF& plot, double width);
// Words that stay readable over points and lines: the ground shines through a veil behind them.
void paint_veiled_text(QPainter& painter, const QRectF& box, const QString& text, const QColor& ground,
                       Qt::Alignment align = Qt::AlignCenter);

}  // namespace shardscape::ui
