// Fills bars and legend swatches: solid, hatched or dotted. Hatches and dots are single lines and points,
// because Qt's SVG writer drops pattern brushes. Also the pen of a limit.
#pragma once

#include <QPainter>

#include "ui/plot/bar_data.h"
#include "ui/toolkit/roles.h"

namespace shardscape::ui {

BarSeries series_of(Role role, const QString& label);  // in the role's colour and fill
QPen limit_pen();                                      // dashed, in the colour for bad news
void fill_bar(QPainter& painter, const QRectF& rect, const BarSeries& series, const QColor& ground);

}  // namespace shardscape::ui
