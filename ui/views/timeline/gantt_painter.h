// How the timeline is drawn: boxes down to a level of detail that a pixel can show.
#pragma once

#include <QFont>
#include <QHash>
#include <QPainter>
#include <QStaticText>
#include <array>
#include <functional>
#include <optional>

#include "ui/views/timeline/gantt_layout.h"
#include "ui/views/timeline/op_detail.h"

namespace shardscape::ui {

struct GanttMarks {
  ItemRef selected, hovered;
  int selected_op = -1;  // index among the ops of the selected box
  bool focused = false;
  bool critical = false;  // the critical path is highlighted
  std::function<bool(const ItemRef&)>
      item_highlighted;  // of what else is selected or searched for; empty: all are the same
  std::function<bool(int member, int segment, int op, int layer)> op_highlighted;
  std::vector<ItemRef> matching;  // the same as the selected box in other designs
  std::optional<double> peak;     // seconds at which memory of the present design is fullest
  QString peak_label;
  QColor ground;
};

// Texts of boxes, laid out once: a frame has thousands of numbers. Owned by whoever paints many frames.
struct LaidOutTexts {
  struct Text {
    QStaticText text;
    double advance = 0;  // pixels
  };
  struct OfFont {
    QFont font;
    QHash<QString, Text> texts;
  };
  std::array<OfFont, 2> fonts;  // usual, tight
};

// Ops of boxes that are wide enough; asked for only there. Empty: none are known yet.
using OpsOf = std::function<std::vector<PlacedOp>(const ItemRef& ref, double from, double to)>;
inline constexpr double kLeastForOps = 260;  // pixels of a box

void paint_gantt(QPainter& painter, const GanttLayout& layout, const GanttMarks& marks, const OpsOf& ops,
                 LaidOutTexts& texts);

}  // namespace shardscape::ui
