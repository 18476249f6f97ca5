// Finds room for the words next to the lines; words without room are left out (the inspector has them all).
#pragma once

#include <vector>

#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

// One text per wire of the sheet, empty for none. A tensor with several readers is named once.
void place_labels(Sheet& sheet, const std::vector<QString>& labels, const QFont& font);

}  // namespace shardscape::ui
