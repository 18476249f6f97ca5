// The legend of the colours and patterns of the timeline's boxes.
#pragma once

#include <QPainter>

#include "ui/views/timeline/gantt_painter.h"

namespace shardscape::ui {

void paint_gantt_legend(QPainter& painter, const QRectF& rect, const GanttSteps& steps, const QColor& ground);

}  // namespace shardscape::ui
