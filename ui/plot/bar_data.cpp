#include "ui/plot/bar_data.h"

#include <algorithm>

namespace shardscape::ui {

void BarData::addComparedBars(const BarData& other, int letter) {
  if (others.empty()) own = series.size();
  std::vector<size_t> place;
  for (const BarSeries& one : other.series) {
    const auto same = [&](const BarSeries& s) { return s.label == one.label; };
    const auto it = std::find_if(series.begin(), series.end(), same);
    place.push_back(static_cast<size_t>(it - series.begin()));
    if (it == series.end()) series.push_back(one);
  }
  for (const BarSeries& entry : other.legend)
    if (std::none_of(legend.begin(), legend.end(),
                     [&](const BarSeries& s) { return s.label == entry.label; }))
      legend.push_back(entry);
  ComparedBars& added = others.emplace_back(ComparedBars{letter, {}, std::vector<int>(series.size(), -1)});
  for (size_t i = 0; i < place.size(); ++i) added.own[place[i]] = static_cast<int>(i);
  for (const std::vector<double>& stage : other.values) {
    std::vector<double>& mapped = added.values.emplace_back(series.size(), 0);
    for (size_t i = 0; i < stage.size(); ++i) mapped[place[i]] = stage[i];
  }
  for (int member = 0; member < members(); ++member)
    for (std::vector<double>& stage : member == 0 ? values : others[static_cast<size_t>(member - 1)].values)
      stage.resize(series.size(), 0);
}

}  // namespace shardscape::ui
