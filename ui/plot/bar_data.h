// The data of a chart of stacked bars, one bar per pipeline stage. Values are raw; the axis divides them.
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
  QString label;                            // "80 GiB capacity"
  static constexpr double kLeastBar = 0.1;  // if no bar reaches this share of the limit, the bars set the
                                            // scale and the limit is above the axis
};

// The bars of a compared design in the same chart, thinner, with the same series.
struct ComparedBars {
  int member = 1;                           // 1 is the first pinned design, see Comparisons::letter
  std::vector<std::vector<double>> values;  // [stage][series]
  std::vector<int> own;  // [series]: its index among the series of that design; -1 or past the end: the
                         // design lacks the series
};

// A segment of a bar; member 0 is the design itself, the next ones are the compared designs.
struct BarMark {
  int member = 0, stage = 0, series = 0;
  friend bool operator==(const BarMark&, const BarMark&) = default;
};

struct BarData {
  QString title;
  QString unit;                             // of the value axis
  double divisor = 1;                       // value / divisor is in `unit`
  std::vector<BarSeries> series;            // bottom to top
  std::vector<BarSeries> legend;            // left to right
  std::vector<std::vector<double>> values;  // [stage][series]
  std::vector<ComparedBars> others;
  size_t own = 0;  // with compared designs: the number of series that the design itself has
  std::optional<BarLimit> limit;
  std::function<QString(double)> text;  // a value with its unit: "41.6 GiB"
  QString nothing;                      // shown in the plot if every value is zero

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
  // The index of a series among the series of one design; -1: the design lacks the series.
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
  // Adds the bars of another design as a new member. Series that only this design has come last, with value 0
  // in the other designs.
  void addComparedBars(const BarData& other, int letter);
};

}  // namespace shardscape::ui
