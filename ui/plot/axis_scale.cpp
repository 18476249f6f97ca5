#include "ui/plot/axis_scale.h"

#include <algorithm>
#include <cmath>

#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kDecades = 20;  // times from low to high from which an axis is logarithmic

QString number_text(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude >= 10000) return grouped_text(static_cast<Wide>(std::llround(value)));
  return QString::number(value, 'g', magnitude >= 1000 ? 4 : 3);
}

}  // namespace

double AxisScale::place(double value) const {
  return logarithmic ? std::log10(std::max(value, 1e-300)) : value;
}

AxisScale scale_of(const ValueColumn& column, UnitSystem units, const std::vector<double>& also) {
  AxisScale scale;
  scale.title = column.label;
  if (column.axis()) {
    scale.ordinal = true;
    scale.choices = column.choices;
    scale.low = -0.5;
    scale.high = static_cast<double>(column.choices.size()) - 0.5;
  } else {
    double low = column.known() ? column.low : 0, high = column.known() ? column.high : 1;
    for (const double value : also) {
      if (value > high && value < 2 * high) high = value;
      if (value < low && 2 * value > low) low = value;
    }
    QString unit = column.unit;
    if (column.measure == Measure::Bytes) {
      const ValueScale bytes = byte_scale(std::max(std::fabs(low), std::fabs(high)), units);
      scale.divisor = bytes.divisor;
      unit = bytes.unit;
    } else if (column.measure == Measure::Seconds) {
      scale.divisor = high < 1e-3 ? 1e-6 : high < 1 ? 1e-3 : 1;
      unit = high < 1e-3 ? QStringLiteral("µs") : high < 1 ? QStringLiteral("ms") : QStringLiteral("s");
    } else if (column.measure == Measure::Share) {
      scale.divisor = 0.01;
      unit = QStringLiteral("%");
    } else if (column.measure == Measure::Money) {
      unit = QStringLiteral("$");
    }
    if (!unit.isEmpty()) scale.title += QStringLiteral(", ") + unit;
    scale.logarithmic = low > 0 && high > kDecades * low;
    scale.low = scale.place(low);
    scale.high = scale.place(high);
    const double margin = scale.high > scale.low ? 0.04 * (scale.high - scale.low)
                                                 : std::max(0.05 * std::fabs(scale.low), 1e-12);
    scale.low -= margin;
    scale.high += margin;
  }
  scale.from = scale.low;
  scale.to = scale.high;
  return scale;
}

std::vector<AxisTick> ticks_of(const AxisScale& scale, double pixels, double apart) {
  std::vector<AxisTick> ticks;
  const double span = scale.to - scale.from;
  if (!(span > 0) || pixels <= 0) return ticks;
  const double most = std::max(2.0, pixels / apart);
  if (scale.ordinal) {
    const int every = std::max(1, static_cast<int>(std::ceil(span / most)));
    for (int i = std::max(0, static_cast<int>(std::ceil(scale.from)));
         i < scale.choices.size() && i <= scale.to; ++i)
      if (i % every == 0) ticks.push_back({static_cast<double>(i), scale.choices[i]});
    return ticks;
  }
  if (scale.logarithmic) {
    const double unit = std::log10(scale.divisor);
    const int first = static_cast<int>(std::floor(scale.from - unit)),
              last = static_cast<int>(std::ceil(scale.to - unit));
    const bool fine = span > 0 && pixels / span / 4 > apart;  // room for 2 and 5
    if (span > 0.6) {
      for (int e = first; e <= last; ++e)
        for (const double digit : {1.0, 2.0, 5.0}) {
          if (digit > 1 && !fine) continue;
          const double value = digit * std::pow(10, e), at = std::log10(value) + unit;
          if (at >= scale.from && at <= scale.to) ticks.push_back({at, number_text(value)});
        }
      return ticks;
    }
  }
  // Steps of 1, 2 or 5, also on a short stretch of a logarithmic axis.
  const double from = (scale.logarithmic ? std::pow(10, scale.from) : scale.from) / scale.divisor,
               to = (scale.logarithmic ? std::pow(10, scale.to) : scale.to) / scale.divisor;
  const double rough = (to - from) / most, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = rough <= power       ? power
                      : rough <= 2 * power ? 2 * power
                      : rough <= 5 * power ? 5 * power
                                           : 10 * power;
  for (double i = std::ceil(from / step); i * step <= to; ++i) {
    const double value = i * step;
    ticks.push_back(
        {scale.place(value * scale.divisor), number_text(std::fabs(value) < step * 1e-6 ? 0 : value)});
  }
  return ticks;
}

}  // namespace shardscape::ui
