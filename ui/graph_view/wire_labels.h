// Finds room for the words beside the lines; words without room are left out (the inspector has them all).
#pragma once

#include <vector>

#include "ui/graph_view/sheet.h"

namespace shardscape::ui {

// One text per wire of the sheet, empty for none. A tensor with several readers is named once.
void place_labels(Sheet& sheet, const std::vector<QString>& labels, const QFont& font);

}  // namespace shardscape::ui
