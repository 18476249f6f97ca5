#include "ui/views/explore/point_style.h"

#include <algorithm>
#include <cmath>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kMostColours = 6;  // the most named values; more values become a ramp without names

}  // namespace

void PointStyle::set(const ExploreRows& rows, int colour, int shape, UnitSystem units) {
  *this = {};
  const auto count = static_cast<size_t>(rows.rows());
  if (colour >= 0) {
    const ValueColumn& column = rows.column(colour);
    colour_title_ = column.heading;
    ramp_ = !column.axis() || column.choices.size() > kMostColours;
    colour_.assign(count, 0);
    // The ramp is logarithmic if values span decades, as an axis is.
    const bool logarithmic = !column.axis() && column.low > 0 && column.high > 20 * column.low;
    const auto at = [&](double value) { return logarithmic ? std::log(value) : value; };
    const double low = column.known() ? at(column.low) : 0, span = column.known() ? at(column.high) - low : 0;
    for (size_t row = 0; row < count; ++row) {
      const double value = column.values[row];
      if (std::isnan(value)) continue;
      colour_[row] = static_cast<uint8_t>(
          !ramp_     ? value
          : span > 0 ? std::clamp((at(value) - low) / span * (kRampSteps - 1) + 0.5, 0.0, kRampSteps - 1.0)
                     : 0);
    }
    if (ramp_)
      colour_words_ = {ExploreRows::valueText(column, column.low, units),
                       ExploreRows::valueText(column, column.high, units)};
    else
      colour_words_ = column.choices;
  }
  if (shape >= 0) {
    const ValueColumn& column = rows.column(shape);
    shape_title_ = column.heading;
    shape_.assign(count, 0);
    const bool bins = !column.axis();  // figures: by thirds of their range
    for (size_t row = 0; row < count; ++row) {
      const double value = column.values[row];
      if (std::isnan(value)) continue;
      const double place = bins ? (column.high > column.low
                                       ? std::min(2.0, std::floor((value - column.low) /
                                                                  (column.high - column.low) * 3))
                                       : 0)
                                : value;
      shape_[row] = static_cast<uint8_t>(std::min(place, kShapes - 1.0));
    }
    if (bins) {
      for (int third = 0; third < 3; ++third)
        shape_words_ << QStringLiteral("≤ ") +
                            ExploreRows::valueText(
                                column, column.low + (column.high - column.low) * (third + 1) / 3, units);
    } else {
      shape_words_ = column.choices.mid(0, kShapes);
      if (column.choices.size() > kShapes)
        shape_words_.back() = QStringLiteral("%1 …").arg(shape_words_.back());
    }
  }
}

// Values take the steps of the ramp, not the colours of roles (toolkit/roles.h): tp 4 is no kind of memory.
QColor PointStyle::color(int colour) const {
  if (ramp_) return ramp_color(static_cast<double>(colour) / (kRampSteps - 1));
  const auto steps = static_cast<int>(std::min<qsizetype>(colour_words_.size(), kMostColours));
  return ramp_color(steps > 1 ? static_cast<double>(colour % steps) / (steps - 1) : 1);
}

}  // namespace shardscape::ui
