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
  static constexpr double
      kLeastBar = 0.1;  // where no bar reaches this part of it, bars set the scale, and it is above the axis
};

// The bars of another design in the same chart, thinner next to the first: the same series.
struct ComparedBars {
  int member = 1;                           // as Comparisons::letter counts
  std::vector<std::vector<double>> values;  // [stage][series]
  std::vector<int>
      own;  // by series: its place among those of that design; -1, or past the end: it has no such
};

// A segment of a bar; member 0 is the design itself, the next ones are the compared designs.
struct BarMark {
  int member = 0, stage = 0, series = 0;
  friend bool operator==(const BarMark&, const BarMark&) = default;
};

struct BarData {
  QString title;
  QString unit;                             // of the value axis
  double divisor = 1;                       // value / divisor is in unit
  std::vector<BarSeries> series;            // bottom to top
  std::vector<BarSeries> legend;            // left to right
  std::vector<std::vector<double>> values;  // [stage][series]
  std::vector<ComparedBars> others;
  size_t own = 0;  // how many series are the design's own, once there are compared designs
  std::optional<BarLimit> limit;
  std::function<QString(double)> text;  // a value with its unit: "41.6 GiB"
  QString nothing;                      // said in the plot where every value is zero

  double tallest() const {
    double top = 0;
    for (int member = 0; member < members(); ++member)
      for (int stage = 0; stage < stages(member); ++stage) top = std::max(top, total(stage, member));
    return top;
  }
  bool limitShown() const { return limit && tallest() >= BarLimit::kLeastBar * limit->value; }

  // Member 0 is the design itself, the next ones are the compared designs.
  int members() const { return 1 + static_cast<int>(others.size()); }
  const std::vector<std::vector<double>>& of(int member) const {
    return member == 0 ? values : others[static_cast<size_t>(member - 1)].values;
  }
  // The place of a series among those that a design has by itself; -1: it has no such.
  int ownSeries(int member, int at) const {
    const auto place = static_cast<size_t>(at);
    if (member == 0) return place < (others.empty() ? series.size() : own) ? at : -1;
    const std::vector<int>& of = others[static_cast<size_t>(member - 1)].own;
    return place < of.size() ? of[place] : -1;
  }
  int letter(int member) const { return member == 0 ? 0 : others[static_cast<size_t>(member - 1)].member; }
  int stages(int member = 0) const { return static_cast<int>(of(member).size()); }
  int most_stages() const {
    int most = 0;
    for (int member = 0; member < members(); ++member) most = std::max(most, stages(member));
    return most;
  }
  double total(int stage, int member = 0) const {
    double sum = 0;
    for (const double value : of(member)[static_cast<size_t>(stage)]) sum += value;
    return sum;
  }
  // Bars of the same kind become another member; series that only they have come last, with nothing in the
  // others.
  void addComparedBars(const BarData& other, int letter);
};

}  // namespace shardscape::ui
