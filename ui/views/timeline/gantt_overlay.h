// What a person put on the timeline: the marked range, bookmarks, and the arrows of the selected box's waits.
#pragma once

#include <QPainter>
#include <optional>

#include "ui/views/timeline/flows.h"
#include "ui/views/timeline/time_range.h"

namespace shardscape::ui {

struct GanttOverlay {
  std::optional<TimeRange> range;
  std::vector<Flow> flows;
  std::vector<double> bookmarks;  // seconds, ascending
  int bookmark = -1;              // the last visited one
  int moved_row = -1;             // a row that is dragged to another place
};

QRectF bookmark_flag(const GanttLayout& layout, double seconds);  // null outside of the visible part
void paint_overlay(QPainter& painter, const GanttLayout& layout, const GanttOverlay& overlay,
                   const QColor& ground);

}  // namespace shardscape::ui
