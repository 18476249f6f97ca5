// What a chart of stacked bars by pipeline stage shows. Values are raw; the axis divides them.
#pragma once

#include <QColor>
#include <QString>
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace shardscape::ui {

enum class BarFill { Solid, Hatched, Dotted };

struct BarSeries {
  QString label;  // "Activations"
  QColor color;
  BarFill fill = BarFill::Solid;
  friend bool operator==(const BarSeries&, const BarSeries&) = default;
};

struct BarLimit {
  double value = 0;
  QString label;  // "80 GiB capacity"
  static constexpr double kLeastBar = 0.1;  // where no bar reaches this part of it, bars set the scale, and it is above the axis
};

struct BarData {
  QString title;
  QString unit;                             // of the value axis
  double divisor = 1;                       // value / divisor is in unit
  std::vector<BarSeries> series;            // bottom to top
  std::vector<BarSeries> legend;            // left to right
  std::vector<std::vector<double>> values;  // [stage][series]
  std::optional<BarLimit> limit;
  std::function<QString(double)> text;  // a value with its unit: "41.6 GiB"
  QString nothing;                      // said in the plot where every value is zero

  double tallest() const {
    double top = 0;
    for (int stage = 0; stage < stages(); ++stage) top = std::max(top, total(stage));
    return top;
  }
  bool limitShown() const { return limit && tallest() >= BarLimit::kLeastBar * limit->value; }

  int stages() const { return static_cast<int>(values.size()); }
  double total(int stage) const {
    double sum = 0;
    for (const double value : values[static_cast<size_t>(stage)]) sum += value;
    return sum;
  }
};

}  // namespace shardscape::ui
