// Inspector texts of a sweep over batches and contexts: both phases of one point, or the largest batches that
// fit.
#pragma once

#include "ui/selection/inspection.h"
#include "ui/views/serving/serving_canvas.h"

namespace shardscape::ui {

Inspection inspect_served_point(const ServingCanvas& canvas, int at, Mode mode, UnitSystem units);
Inspection inspect_sweep(const ServingSweep& sweep, Mode mode);

}  // namespace shardscape::ui
