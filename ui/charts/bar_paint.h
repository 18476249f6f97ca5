// Filling of bars and legend swatches: solid, or hatched by single lines (pattern brushes are lost in SVG).
#pragma once

#include <QPainter>

#include "ui/charts/bar_data.h"

namespace shardscape::ui {

void fill_bar(QPainter& painter, const QRectF& rect, const BarSeries& series, const QColor& ground);

}  // namespace shardscape::ui
