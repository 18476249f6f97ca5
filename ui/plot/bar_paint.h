// Filling of bars and legend swatches: solid, or in single lines or dots (pattern brushes are lost in SVG);
// the line of a limit.
#pragma once

#include <QPainter>

#include "ui/plot/bar_data.h"

namespace shardscape::ui {

QPen limit_pen();  // dashed, in the colour for bad news
void fill_bar(QPainter& painter, const QRectF& rect, const BarSeries& series, const QColor& ground);

}  // namespace shardscape::ui
