// Places labels next to lines. A label without room is left out; the inspector shows its text.
#pragma once

#include <vector>

#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

// labels: one text per wire of the sheet, may be empty. A tensor with several readers is labelled once.
void place_labels(Sheet& sheet, const std::vector<QString>& labels, const QFont& font);

}  // namespace shardscape::ui
