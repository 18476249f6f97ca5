#include "ui/plot/axis_scale.h"

#include <algorithm>
#include <cmath>

#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kMostSteps = 1e12;  // from zero to a tick
constexpr double kDecades = 10;      // an axis is logarithmic if high / low is at least this
constexpr int kLongestPower = 5, kSmallestPower = -3;  // other powers of ten are written as powers

// "2,000", "0.05", "10⁷", "5·10⁷".
QString power_text(int digit, int power) {
  if (power >= 0 && power <= kLongestPower)
    return grouped_text(digit * static_cast<Wide>(std::llround(std::pow(10, power))));
  if (power < 0 && power >= kSmallestPower) return QString::number(digit * std::pow(10, power), 'g', 1);
  QString raised;
  const char16_t signs[] = u"⁰¹²³⁴⁵⁶⁷⁸⁹";
  for (const QChar c : QString::number(std::abs(power))) raised += QChar(signs[c.digitValue()]);
  return (digit > 1 ? QString::number(digit) + QStringLiteral("·10") : QStringLiteral("10")) +
         (power < 0 ? QStringLiteral("⁻") : QString()) + raised;
}

std::vector<AxisTick> ordinal_ticks(const AxisScale& scale, double most) {
  std::vector<AxisTick> ticks;
  const int every = std::max(1, static_cast<int>(std::ceil((scale.to - scale.from) / most)));
  for (int i = std::max(0, static_cast<int>(std::ceil(scale.from)));
       i < scale.choices.size() && i <= scale.to; ++i)
    if (i % every == 0) ticks.push_back({static_cast<double>(i), scale.choices[i]});
  return ticks;
}

std::vector<AxisTick> linear_ticks(const AxisScale& scale, double most) {
  std::vector<AxisTick> ticks;
  const auto value = [&](double place) {
    return (scale.logarithmic ? std::pow(scale.base, place) : place) / scale.divisor;
  };
  const double from = value(scale.from), to = value(scale.to);
  const double step = std::max(scale.least_step, tick_step(to - from, most));
  const double first = std::ceil(from / step - 1e-9);
  if (!(std::fabs(first) < kMostSteps))
    return ticks;  // ends so close that ticks between them are equal numbers
  for (int i = 0; i <= 2 * most && (first + i) * step <= to * (1 + 1e-12); ++i)
    ticks.push_back({scale.place((first + i) * step * scale.divisor), tick_text((first + i) * step, step)});
  return ticks;
}

// Ticks at powers of the base. For base ten also at 2 and 5 times a power, if there is room.
std::vector<AxisTick> power_ticks(const AxisScale& scale, double pixels, double apart) {
  std::vector<AxisTick> ticks;
  const double span = scale.to - scale.from;
  if (scale.base == 2) {
    const int every = std::max(1, static_cast<int>(std::ceil(apart * span / pixels)));
    for (int e = static_cast<int>(std::ceil(scale.from)); e <= scale.to; e += every)
      ticks.push_back({static_cast<double>(e), tick_text(std::exp2(e) / scale.divisor, 1)});
    return ticks;
  }
  const double unit = std::log10(scale.divisor);
  const bool fine = pixels / span / 4 > apart;
  const int every = std::max(1, static_cast<int>(std::ceil(apart * span / pixels)));
  for (int e = static_cast<int>(std::floor(scale.from - unit)); e <= scale.to - unit; ++e)
    for (const int digit : {1, 2, 5}) {
      if ((digit > 1 && !fine) || e % every != 0) continue;
      const double at = std::log10(digit) + e + unit;
      if (at >= scale.from - 1e-9 && at <= scale.to + 1e-9) ticks.push_back({at, power_text(digit, e)});
    }
  return ticks;
}

}  // namespace

double AxisScale::place(double value) const {
  if (!logarithmic) return value;
  const double positive = std::max(value, 1e-300);
  return base == 2 ? std::log2(positive) : std::log10(positive);
}

AxisScale linear_scale(double low, double high, double divisor) {
  AxisScale scale;
  scale.divisor = divisor;
  scale.low = scale.from = low;
  scale.high = scale.to = high;
  return scale;
}

AxisScale log_scale(double low, double high, double base, double divisor) {
  AxisScale scale;
  scale.logarithmic = true;
  scale.base = base;
  scale.divisor = divisor;
  scale.low = scale.from = scale.place(low);
  scale.high = scale.to = scale.place(high);
  return scale;
}

bool spans_decades(double low, double high) { return low > 0 && high > kDecades * low; }

AxisScale scale_of(const ValueColumn& column, UnitSystem units, const std::vector<double>& also) {
  if (column.axis()) {
    AxisScale scale = linear_scale(-0.5, static_cast<double>(column.choices.size()) - 0.5);
    scale.ordinal = true;
    scale.title = column.label;
    scale.choices = column.choices;
    return scale;
  }
  double low = column.known() ? column.low : 0, high = column.known() ? column.high : 1;
  for (const double value : also) {
    if (value > high && value < 2 * high) high = value;
    if (value < low && 2 * value > low) low = value;
  }
  ValueScale unit{1, column.unit};
  switch (column.measure) {
    case Measure::Bytes: unit = byte_scale(std::max(std::fabs(low), std::fabs(high)), units); break;
    case Measure::Seconds: unit = seconds_scale(high); break;
    case Measure::Share: unit = {0.01, QStringLiteral("%")}; break;
    case Measure::Money: unit.unit = QStringLiteral("$"); break;
    case Measure::Place:
    case Measure::Plain: break;
  }
  AxisScale scale = spans_decades(low, high) ? log_scale(low, high, 10, unit.divisor)
                                             : linear_scale(low, high, unit.divisor);
  scale.title = column.label + (unit.unit.isEmpty() ? QString() : QStringLiteral(", ") + unit.unit);
  const double margin = scale.high > scale.low ? 0.04 * (scale.high - scale.low)
                                               : std::max(0.05 * std::fabs(scale.low), 1e-12);
  scale.from = scale.low -= margin;
  scale.to = scale.high += margin;
  return scale;
}

double tick_step(double span, double most) {
  const double rough = span / most, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

QString tick_text(double value, double step) {
  if (std::fabs(value) < step * 1e-6) return QStringLiteral("0");
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  if (decimals == 0 && std::fabs(value) < 1e15) return grouped_text(static_cast<Wide>(std::llround(value)));
  return QString::number(value, 'f', decimals);
}

std::vector<AxisTick> ticks_of(const AxisScale& scale, double pixels, double apart) {
  const double span = scale.to - scale.from, most = std::max(2.0, pixels / apart);
  if (!(span > 0) || pixels <= 0) return {};
  if (scale.ordinal) return ordinal_ticks(scale, most);
  // A short part of a logarithmic axis has the ticks of a linear axis.
  if (scale.logarithmic && (scale.base == 2 || span > 0.6)) return power_ticks(scale, pixels, apart);
  return linear_ticks(scale, most);
}

}  // namespace shardscape::ui
