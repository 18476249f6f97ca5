// The unit of the timeline's axis.
#pragma once

#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {

// The unit of the largest value on the axis, as the texts next to it have it; where the step between ticks
// would need more than three decimals, a smaller unit.
ValueScale time_axis_unit(double largest, double step);

}  // namespace shardscape::ui
