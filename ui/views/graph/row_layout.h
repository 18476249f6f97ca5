// Places the stages of a pipeline from left to right and draws the lines between them.
#pragma once

#include <vector>

#include "ui/views/graph/flow_layout.h"

namespace shardscape::ui {

// Every link connects neighbouring pieces. A line leaves a frame at its lower edge and enters a frame at its
// upper edge, where the lines inside the frame end; cards have their lines at the sides. The rects of
// sheet.pieces must have their sizes.
void arrange_row(Sheet& sheet, const std::vector<Link>& links, const QFont& label_font);

}  // namespace shardscape::ui
