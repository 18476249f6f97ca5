// Places the pieces of one sheet by the layered layout and draws the lines between them.
#pragma once

#include <stop_token>
#include <vector>

#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

struct Link {
  int from = -1, to = -1;  // indices of pieces; -1: outside the sheet
  bool up = false;
  int segment = -1;
  TensorId tensor = -1;
  bool transfer = false;
  QString label;
};

struct FlowGaps {
  double between = 24, below = 32;
};

// Places the pieces and routes the links. The rects of sheet.pieces must have their sizes. Returns false if
// stopped.
bool arrange(Sheet& sheet, const std::vector<Link>& links, const FlowGaps& gaps, const QFont& label_font,
             const std::stop_token& stop);
// Moves everything of another sheet into this one.
void merge(Sheet& into, const Sheet& part, QPointF offset);
// Extends the lines that pass the upper or lower edge of a part of the sheet to the sheet's own edge.
void extend_to_edges(Sheet& part, double above, double below);
// Builds the joint path and the coarse lines once all wires are final.
void join_lines(Sheet& sheet);
TextLine make_line(const QString& text, QPointF at);

}  // namespace shardscape::ui
