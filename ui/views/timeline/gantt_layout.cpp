#include "ui/views/timeline/gantt_layout.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {
namespace {

struct Density {
  double compute, thin, thin_gap, gap;
};
// Row heights from roomy to dense. The first density with which all rows fit is used.
constexpr Density kDensities[] = {{32, 10, 3, 30}, {26, 9, 2, 20}, {22, 9, 1, 12},
                                  {20, 6, 1, 8},   {14, 4, 1, 6},  {12, 3, 1, 5}};

double row_height(const Density& d, const std::vector<StreamLane>& lanes) {
  return d.compute + static_cast<double>(lanes.size() - 1) * (d.thin + d.thin_gap) + d.gap;
}

}  // namespace

double longest(const GanttSteps& steps) {
  double most = 0;
  for (const GanttStep& step : steps) most = std::max(most, step.lanes->simulation().step_seconds);
  return most;
}

GanttLayout::GanttLayout(const QRectF& area, const GanttSteps& steps, const GanttView& view)
    : steps_(steps), view_(view), plot_(area.adjusted(kLabels, kAxis, -8, 0)) {
  scale_ = std::max(1.0, plot_.width()) / std::max(view_.seconds, 1e-12);
  const double heading = steps.size() > 1 ? kHeading : 0;
  const auto each = [&](const auto& visit) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const int stages = steps[i].lanes->stages(), only = steps[i].only;
      for (int s = std::max(0, only); s < (only < 0 ? stages : std::min(only + 1, stages)); ++s) visit(i, s);
    }
  };
  const Density* chosen = kDensities;
  for (const Density& density : kDensities) {
    chosen = &density;
    double all = heading * static_cast<double>(steps.size());
    each([&](size_t step, int s) { all += row_height(density, steps[step].lanes->of(s)); });
    if (all <= plot_.height()) break;
  }
  compute_ = chosen->compute;
  thin_ = chosen->thin;
  thin_gap_ = chosen->thin_gap;
  gap_ = chosen->gap;
  double top = heading > 0 ? 0 : gap_ / 2;
  each([&](size_t step, int s) {
    if (first_row_.size() <= step) {
      first_row_.resize(step + 1, static_cast<int>(rows_.size()));
      top += heading;
    }
    rows_.push_back({step, s, top, top + row_height(*chosen, steps[step].lanes->of(s))});
    top = rows_.back().bottom;
  });
  height_ = top;
  view_.top = std::clamp(view_.top, 0.0, std::max(0.0, height_ - plot_.height()));
}

int GanttLayout::rowOf(const ItemRef& ref) const {
  for (size_t i = 0; i < steps_.size() && i < first_row_.size(); ++i) {
    if (steps_[i].member != ref.member) continue;
    const int row = first_row_[i] + ref.stage - rows_[static_cast<size_t>(first_row_[i])].stage;
    const bool shown = row >= first_row_[i] && row < static_cast<int>(rows_.size()) &&
                       rows_[static_cast<size_t>(row)].step == i;
    return shown ? row : -1;
  }
  return -1;
}

QRectF GanttLayout::rowRect(int row) const {
  const GanttRow& of = rows_[static_cast<size_t>(row)];
  return {plot_.left() - kLabels, plot_.top() + of.top - view_.top, plot_.width() + kLabels,
          of.bottom - of.top};
}

QRectF GanttLayout::lane(int row, int lane) const {
  const double top = std::round(plot_.top() + rows_[static_cast<size_t>(row)].top - view_.top);
  if (lane == 0) return {plot_.left(), top, plot_.width(), compute_};
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
      if (!lane(row, l).adjusted(0, -0.5, 0, thin_gap_).contains(point)) continue;
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
