// The legend of the colours and patterns of the timeline: it names what is visible.
#pragma once

#include <QPainter>

#include "ui/toolkit/roles.h"

namespace shardscape::ui {

void paint_gantt_legend(QPainter& painter, const QRectF& rect, const Roles& shown, const QColor& ground);

}  // namespace shardscape::ui
