// From the values of a column to places along an axis: linear, logarithmic where they span decades, or one
// place per choice.
#pragma once

#include <QString>
#include <vector>

#include "base/units.h"
#include "ui/plot/value_column.h"

namespace shardscape::ui {

struct AxisScale {
  bool ordinal = false, logarithmic = false;
  double divisor = 1;        // of values as they are written
  QString title;             // "Memory, GiB"
  double low = 0, high = 1;  // the whole axis, in places
  double from = 0, to = 1;   // what is shown of it
  QStringList choices;       // of an ordinal axis

  double place(double value) const;
  double share(double value) const {
    return (place(value) - from) / (to - from);
  }  // 0 at the left or lower end
};

struct AxisTick {
  double place = 0;
  QString text;
};

// also: values that the axis reaches to where they are not far (a capacity, the present design); NaN: none.
AxisScale scale_of(const ValueColumn& column, UnitSystem units, const std::vector<double>& also = {});
// At most one per so many pixels; text is measured by the caller.
std::vector<AxisTick> ticks_of(const AxisScale& scale, double pixels, double apart);

}  // namespace shardscape::ui
