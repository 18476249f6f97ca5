// What a chart of stacked bars by pipeline stage shows. Values are raw; the axis divides them.
#pragma once

#include <QColor>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

namespace shardscape::ui {

enum class BarFill { Solid, Hatched };

struct BarSeries {
  QString label;  // "Activations"
  QColor color;
  BarFill fill = BarFill::Solid;
  friend bool operator==(const BarSeries&, const BarSeries&) = default;
};

struct BarLimit {
  double value = 0;
  QString label;  // "80 GiB capacity"
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

  int stages() const { return static_cast<int>(values.size()); }
  double total(int stage) const {
    double sum = 0;
    for (const double value : values[static_cast<size_t>(stage)]) sum += value;
    return sum;
  }
};

}  // namespace shardscape::ui
