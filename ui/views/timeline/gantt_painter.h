// Draws the timeline with a level of detail that depends on the zoom.
#pragma once

#include <QFont>
#include <QHash>
#include <QPainter>
#include <QStaticText>
#include <array>
#include <functional>
#include <optional>

#include "ui/toolkit/roles.h"
#include "ui/views/timeline/gantt_layout.h"
#include "ui/views/timeline/op_detail.h"

namespace shardscape::ui {

struct GanttMarks {
  ItemRef selected, hovered;
  int selected_op = -1;  // index among the ops of the selected box
  bool focused = false;
  bool critical = false;  // the critical path is highlighted
  std::function<bool(const ItemRef&)>
      item_highlighted;  // true for boxes of the selection or search; empty function: no highlight
  std::function<bool(int member, int segment, int op, int layer)> op_highlighted;
  std::vector<ItemRef> matching;  // boxes of other designs that match the selected box
  std::optional<double> peak;     // seconds of the memory peak of the present design
  QString peak_label;
  QColor ground;
};

// Laid-out texts of boxes, cached because a frame has thousands of numbers. The widget owns the cache.
struct LaidOutTexts {
  struct Text {
    QStaticText text;
    double advance = 0;  // pixels
  };
  struct OfFont {
    QFont font;
    QHash<QString, Text> texts;
  };
  std::array<OfFont, 2> fonts;  // normal, tight
};

// Returns the ops of a box. Called for wide boxes only. Empty: not computed yet.
using OpsOf = std::function<std::vector<PlacedOp>(const ItemRef& ref, double from, double to)>;
inline constexpr double kLeastForOps = 260;  // pixels; narrower boxes show no ops

// Returns what is visible, for the legend.
Roles paint_gantt(QPainter& painter, const GanttLayout& layout, const GanttMarks& marks, const OpsOf& ops,
                  LaidOutTexts& texts);

}  // namespace shardscape::ui
