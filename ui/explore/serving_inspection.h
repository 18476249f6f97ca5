// What the inspector says beside a sweep over batches and contexts: of one point both phases, else how many sequences fit.
#pragma once

#include "ui/explore/serving_canvas.h"
#include "ui/state/session.h"

namespace shardscape::ui {

Inspection inspect_served_point(const ServingCanvas& canvas, int at, Mode mode, UnitSystem units);
Inspection inspect_sweep(const ServingSweep& sweep, Mode mode);

}  // namespace shardscape::ui
