// What the colours and patterns of the timeline's boxes mean.
#pragma once

#include <QPainter>

#include "ui/timeline/lanes.h"

namespace shardscape::ui {

void paint_gantt_legend(QPainter& painter, const QRectF& rect, const Lanes& lanes, const QColor& ground);

}  // namespace shardscape::ui
