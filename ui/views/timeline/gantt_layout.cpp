#include "ui/views/timeline/gantt_layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace shardscape::ui {
namespace {

struct Density {
  double compute, thin, thin_gap, gap;
};
// Row heights from roomy to dense. The first density with which all rows fit is used.
constexpr Density kDensities[] = {{32, 10, 3, 30}, {26, 9, 2, 20}, {22, 9, 1, 12},
                                  {20, 6, 1, 8},   {14, 4, 1, 6},  {12, 3, 1, 5}};
constexpr double kMostCompute = 72, kMostThin = 22;  // where few rows share a high view
constexpr double kFolded = 16;

double row_height(const Density& d, const std::vector<StreamLane>& lanes, bool folded) {
  if (folded) return std::min(d.compute, kFolded) + std::min(d.gap, 8.0);
  return d.compute + static_cast<double>(lanes.size() - 1) * (d.thin + d.thin_gap) + d.gap;
}

// The roomiest density, with higher lanes as far as `left` pixels allow it.
Density stretched(double left, double computes, double thins) {
  Density density = kDensities[0];
  if (computes <= 0 || left <= 0) return density;
  // Lanes grow in proportion.
  const double base = computes * density.compute + thins * density.thin;
  const double factor = 1 + left / base;
  density.compute = std::floor(std::min(kMostCompute, density.compute * factor));
  density.thin = std::floor(std::min(kMostThin, density.thin * factor));
  return density;
}

}  // namespace

std::vector<int> RowOrder::all(int count) const {
  if (static_cast<int>(stages.size()) == count) return stages;
  std::vector<int> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

double longest(const GanttSteps& steps) {
  double most = 0;
  for (const GanttStep& step : steps) most = std::max(most, step.lanes->simulation().step_seconds);
  return most;
}

GanttLayout::GanttLayout(const QRectF& area, const GanttSteps& steps, const GanttView& view)
    : steps_(steps), view_(view), plot_(area.adjusted(kLabels, kAxis, -8, 0)) {
  scale_ = std::max(1.0, plot_.width()) / std::max(view_.seconds, 1e-12);
  const double heading = steps.size() > 1 ? kHeading : 0;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const int stage : steps[i].rows.all(steps[i].lanes->stages()))
      if (steps[i].only < 0 || steps[i].only == stage)
        rows_.push_back({i, stage, 0, 0, steps[i].rows.folded.count(stage) > 0});
  const auto lanes = [&](const GanttRow& row) -> const std::vector<StreamLane>& {
    return steps[row.step].lanes->of(row.stage);
  };
  const auto height = [&](const Density& density) {
    return std::accumulate(
        rows_.begin(), rows_.end(), heading * static_cast<double>(steps.size()),
        [&](double sum, const GanttRow& row) { return sum + row_height(density, lanes(row), row.folded); });
  };
  Density chosen = kDensities[std::size(kDensities) - 1];
  for (const Density& density : kDensities)
    if (height(density) <= plot_.height()) {
      chosen = density;
      break;
    }
  if (const double left = plot_.height() - height(kDensities[0]) - kDensities[0].gap / 2; left > 0) {
    double computes = 0, thins = 0;
    for (const GanttRow& row : rows_)
      if (!row.folded) computes += 1, thins += static_cast<double>(lanes(row).size() - 1);
    chosen = stretched(left, computes, thins);
  }
  compute_ = chosen.compute;
  thin_ = chosen.thin;
  thin_gap_ = chosen.thin_gap;
  gap_ = chosen.gap;
  folded_ = std::min(compute_, kFolded);
  double top = heading > 0 ? 0 : gap_ / 2;
  for (size_t r = 0; r < rows_.size(); ++r) {
    GanttRow& row = rows_[r];
    if (first_row_.size() <= row.step) {
      first_row_.resize(row.step + 1, static_cast<int>(r));
      row_of_.resize(row.step + 1);
      row_of_.back().assign(static_cast<size_t>(steps[row.step].lanes->stages()), -1);
      top += heading;
    }
    row_of_[row.step][static_cast<size_t>(row.stage)] = static_cast<int>(r);
    row.top = top;
    row.bottom = top += row_height(chosen, lanes(row), row.folded);
  }
  height_ = top;
  view_.top = std::clamp(view_.top, 0.0, std::max(0.0, height_ - plot_.height()));
}

int GanttLayout::rowOf(const ItemRef& ref) const {
  for (size_t i = 0; i < row_of_.size(); ++i)
    if (steps_[i].member == ref.member)
      return ref.stage >= 0 && ref.stage < static_cast<int>(row_of_[i].size())
                 ? row_of_[i][static_cast<size_t>(ref.stage)]
                 : -1;
  return -1;
}

int GanttLayout::rowAt(double y) const {
  for (int row = firstRow(); row < endRow(); ++row)
    if (const QRectF rect = rowRect(row); y >= rect.top() && y < rect.bottom()) return row;
  return -1;
}

std::pair<int, int> GanttLayout::rowsBetween(double y0, double y1) const {
  const auto all = static_cast<int>(rows_.size());
  if (y0 < plot_.top()) return {0, all};
  const auto row_at = [&](double y) {
    const double at = y - plot_.top() + view_.top;
    const auto it = std::partition_point(rows_.begin(), rows_.end(),
                                         [&](const GanttRow& row) { return row.bottom <= at; });
    return std::min(all - 1, static_cast<int>(it - rows_.begin()));
  };
  return all == 0 ? std::pair(0, 0) : std::pair(row_at(std::min(y0, y1)), row_at(std::max(y0, y1)) + 1);
}

QRectF GanttLayout::rowRect(int row) const {
  const GanttRow& of = rows_[static_cast<size_t>(row)];
  return {plot_.left() - kLabels, plot_.top() + of.top - view_.top, plot_.width() + kLabels,
          of.bottom - of.top};
}

QRectF GanttLayout::lane(int row, int lane) const {
  const double top = std::round(plot_.top() + rows_[static_cast<size_t>(row)].top - view_.top);
  const bool folded = rows_[static_cast<size_t>(row)].folded;
  if (lane == 0) return {plot_.left(), top, plot_.width(), folded ? folded_ : compute_};
  if (folded) return {};
  return {plot_.left(), top + compute_ + thin_gap_ + (lane - 1) * (thin_ + thin_gap_), plot_.width(), thin_};
}

QRectF GanttLayout::lane(const ItemRef& ref) const {
  const int row = rowOf(ref);
  return row < 0 ? QRectF() : lane(row, ref.lane);
}

QRectF GanttLayout::heading(size_t step) const {
  if (steps_.size() < 2 || step >= first_row_.size()) return {};
  const double own = plot_.top() + rows_[static_cast<size_t>(first_row_[step])].top - view_.top - kHeading,
               last = rowsOf(step).bottom() - kHeading;
  return {plot_.left() - kLabels, std::round(std::max(own, std::min(plot_.top(), last))),
          plot_.width() + kLabels, kHeading - 2};
}

QRectF GanttLayout::rowsOf(size_t step) const {
  if (step >= first_row_.size()) return {};
  const size_t end = step + 1 < first_row_.size() ? static_cast<size_t>(first_row_[step + 1]) : rows_.size();
  const double top = rows_[static_cast<size_t>(first_row_[step])].top,
               bottom = rows_[end - 1].bottom - gap_ / 2;
  return {plot_.left(), plot_.top() + top - view_.top, plot_.width(), bottom - top};
}

int GanttLayout::firstRow() const {
  const auto it = std::partition_point(rows_.begin(), rows_.end(),
                                       [&](const GanttRow& row) { return row.bottom <= view_.top; });
  return static_cast<int>(it - rows_.begin());
}

int GanttLayout::endRow() const {
  const auto it = std::partition_point(
      rows_.begin(), rows_.end(), [&](const GanttRow& row) { return row.top < view_.top + plot_.height(); });
  return static_cast<int>(it - rows_.begin());
}

ItemRef GanttLayout::at(const QPointF& point) const {
  if (!plot_.contains(point)) return {};
  for (size_t step = 0; step < steps_.size(); ++step)
    if (heading(step).contains(point)) return {};  // the heading may cover rows
  for (int row = firstRow(); row < endRow(); ++row) {
    if (!rowRect(row).contains(point)) continue;
    const GanttRow& shown = rows_[static_cast<size_t>(row)];
    const std::vector<StreamLane>& lanes = steps_[shown.step].lanes->of(shown.stage);
    for (int l = 0; l < static_cast<int>(lanes.size()); ++l) {
      const QRectF area = lane(row, l);
      if (area.isNull() || !area.adjusted(0, -0.5, 0, thin_gap_).contains(point)) continue;
      const StreamLane& of = lanes[static_cast<size_t>(l)];
      constexpr double kReach = 2;  // pixels around a box, so that thin boxes can be hit
      size_t i = Lanes::first_after(of, seconds(point.x() - kReach));
      if (i >= of.items.size() || of.items[i].begin > seconds(point.x() + kReach)) return {};
      // Takes the next box if the cursor is on it.
      while (i + 1 < of.items.size() && of.items[i].end <= seconds(point.x()) &&
             of.items[i + 1].begin <= seconds(point.x()))
        ++i;
      return {shown.stage, l, static_cast<int>(i), steps_[shown.step].member};
    }
  }
  return {};
}

QRectF GanttLayout::rect(const ItemRef& ref) const {
  const QRectF of = lane(ref);
  if (of.isNull()) return {};
  const LaneItem& item = steps_[rows_[static_cast<size_t>(rowOf(ref))].step].lanes->item(ref);
  return {x(item.begin), of.top(), (item.end - item.begin) * scale_, of.height()};
}

}  // namespace shardscape::ui
