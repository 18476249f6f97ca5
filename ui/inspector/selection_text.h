// A short name of the selection.
#pragma once

#include <QString>

#include "ui/selection/resolved_selection.h"

namespace shardscape::ui {

// "Activations, stage 1", "QKV projection, layers 8 … 15"; empty without a selection. simulation: of the
// report, or null.
QString selectionText(const Selection& selection, const Report& report, const Simulation* simulation);

}  // namespace shardscape::ui
