// Axes of charts: where a value lies, and which values have ticks. Linear, logarithmic, or one place per
// choice. This is the one tick algorithm of the window.
#pragma once

#include <QString>
#include <vector>

#include "base/units.h"
#include "ui/plot/value_column.h"

namespace shardscape::ui {

// A value's place is the value itself, its logarithm, or the index of a choice.
struct AxisScale {
  bool ordinal = false, logarithmic = false;
  double base = 10;          // of a logarithmic axis: 10, or 2 for ticks at powers of two
  double divisor = 1;        // a tick shows value / divisor
  double least_step = 0;     // between ticks of a linear axis: 1 for whole numbers
  QString title;             // "Memory, GiB"
  double low = 0, high = 1;  // the whole axis, in places
  double from = 0, to = 1;   // the part that is shown, in places
  QStringList choices;       // of an ordinal axis

  double place(double value) const;
  double shareOf(double place) const { return (place - from) / (to - from); }  // 0 at the left or lower end
  double share(double value) const { return shareOf(place(value)); }
};

struct AxisTick {
  double place = 0;
  QString text;
};

AxisScale linear_scale(double low, double high, double divisor = 1);
AxisScale log_scale(double low, double high, double base = 10, double divisor = 1);  // low > 0
// The axis of a column, in one unit, with margins; logarithmic if the values span decades. also: further
// values (a capacity, the present design) that the axis includes if they are near; NaN values are skipped.
AxisScale scale_of(const ValueColumn& column, UnitSystem units, const std::vector<double>& also = {});
bool spans_decades(double low, double high);  // true: axes, bins and colours are logarithmic

// The smallest step of 1, 2 or 5 times a power of ten that divides the span into at most `most` parts.
double tick_step(double span, double most);
QString tick_text(double value, double step);  // with the decimals that the step needs: "0.25", "12,000"
// At most one tick per `apart` pixels. The caller measures the texts.
std::vector<AxisTick> ticks_of(const AxisScale& scale, double pixels, double apart);

}  // namespace shardscape::ui
