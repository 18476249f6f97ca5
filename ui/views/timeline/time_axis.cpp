#include "ui/views/timeline/time_axis.h"

namespace shardscape::ui {

ValueScale time_axis_unit(double largest, double step) {
  constexpr double kThreeDecimals = 0.999e-3;
  const ValueScale unit = seconds_scale(largest);
  return step >= kThreeDecimals * unit.divisor ? unit : seconds_scale(1000 * step);
}

}  // namespace shardscape::ui
