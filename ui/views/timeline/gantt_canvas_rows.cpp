// What a person arranges on the timeline: ranges, rows and bookmarks.
#include <algorithm>

#include "ui/views/timeline/gantt_canvas.h"

namespace shardscape::ui {

bool GanttCanvas::grabs(const QPointF& at, Qt::KeyboardModifiers held) {
  if (held & Qt::ShiftModifier) return false;
  const GanttLayout layout = ganttLayout();
  const bool label = at.x() < layout.plot().left();
  grabbed_at_ = at;
  grabbed_row_ = label ? layout.rowAt(at.y()) : -1;
  return !label || grabbed_row_ >= 0;
}

bool GanttCanvas::drag(const QPointF& at) {
  if (grabbed_row_ < 0) {
    markRange(grabbed_at_, at);
    return true;
  }
  const GanttLayout layout = ganttLayout();
  if (const int to = layout.rowAt(at.y()); to >= 0) moveRow(grabbed_row_, to);
  overlay_.moved_row = grabbed_row_;
  update();
  return true;
}

void GanttCanvas::drop() {
  overlay_.moved_row = -1;
  update();
}

// From the boxes: the rows that the drag meets. From the axis: all rows.
void GanttCanvas::markRange(const QPointF& from, const QPointF& to) {
  const GanttLayout layout = ganttLayout();
  const auto at = [&](const QPointF& point) {
    return layout.seconds(std::clamp(point.x(), layout.plot().left(), layout.plot().right()));
  };
  TimeRange range;
  range.from = std::clamp(std::min(at(from), at(to)), 0.0, length());
  range.to = std::clamp(std::max(at(from), at(to)), 0.0, length());
  const auto [first, end] = layout.rowsBetween(from.y(), from.y() < layout.plot().top() ? from.y() : to.y());
  for (int row = first; row < end; ++row) {
    const GanttRow& of = layout.rows()[static_cast<size_t>(row)];
    range.rows.push_back({steps_[of.step].member, of.stage});
  }
  if (range.to <= range.from || range.rows.empty()) return;
  setSelected({});
  overlay_.range = std::move(range);
  update();
  Q_EMIT rangeMarked();
}

void GanttCanvas::markShownRange() {
  if (steps_.empty()) return;
  const GanttLayout layout = ganttLayout();
  TimeRange range{std::max(0.0, view_.from), std::min(length(), view_.from + view_.seconds), {}};
  if (selected_.valid()) {
    const LaneItem& item = lanesOf(selected_).item(selected_);
    range = {item.begin, item.end, {}};
  }
  for (const GanttRow& row : layout.rows()) range.rows.push_back({steps_[row.step].member, row.stage});
  if (range.to <= range.from) return;
  setSelected({});
  overlay_.range = std::move(range);
  update();
  Q_EMIT rangeMarked();
}

void GanttCanvas::foldRow(int member, int stage, bool folded) {
  std::set<int>& rows = row_orders_[member].folded;
  if ((rows.count(stage) > 0) == folded) return;
  folded ? static_cast<void>(rows.insert(stage)) : static_cast<void>(rows.erase(stage));
  limitRows();
  keepInReach();
}

void GanttCanvas::foldAll(bool folded) {
  for (const GanttStep& step : steps_) {
    std::set<int>& rows = row_orders_[step.member].folded;
    rows.clear();
    for (int stage = 0; folded && stage < step.lanes->stages(); ++stage) rows.insert(stage);
  }
  limitRows();
  keepInReach();
}

void GanttCanvas::moveRow(int row, int to) {
  const GanttLayout layout = ganttLayout();
  const auto all = static_cast<int>(layout.rows().size());
  if (row == to || row < 0 || to < 0 || row >= all || to >= all) return;
  const GanttRow &moved = layout.rows()[static_cast<size_t>(row)],
                 &place = layout.rows()[static_cast<size_t>(to)];
  if (moved.step != place.step || steps_[moved.step].only >= 0) return;
  std::vector<int> order = steps_[moved.step].rows.all(steps_[moved.step].lanes->stages());
  const auto at = std::find(order.begin(), order.end(), moved.stage),
             target = std::find(order.begin(), order.end(), place.stage);
  at < target ? std::rotate(at, at + 1, target + 1) : std::rotate(target, at, at + 1);
  row_orders_[steps_[moved.step].member].stages = std::move(order);
  if (grabbed_row_ == row) grabbed_row_ = to;
  limitRows();
  keepInReach();
}

std::optional<double> GanttCanvas::timeUnderMouse() const {
  const GanttLayout layout = ganttLayout();
  if (!mouse() || mouse()->x() < layout.plot().left() || mouse()->x() > layout.plot().right()) return {};
  return layout.seconds(mouse()->x());
}

double GanttCanvas::stepSeconds() const {
  return steps_.empty() ? 0 : steps_.front().lanes->simulation().step_seconds;
}

void GanttCanvas::setBookmarks(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  if (seconds.size() != overlay_.bookmarks.size()) overlay_.bookmark = -1;
  overlay_.bookmarks = std::move(seconds);
  update();
}

void GanttCanvas::toggleBookmark() {
  if (steps_.empty()) return;
  constexpr double kReach = 5;  // pixels
  const double at = std::clamp(selected_.valid() ? lanesOf(selected_).item(selected_).begin
                                                 : timeUnderMouse().value_or(view_.from + view_.seconds / 2),
                               0.0, length());
  std::vector<double> all = overlay_.bookmarks;
  const double reach = kReach / ganttLayout().scale();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](double seconds) { return std::abs(seconds - at) <= reach; });
  it == all.end() ? all.push_back(at) : static_cast<void>(all.erase(it));
  setBookmarks(all);
  const auto set = std::find(overlay_.bookmarks.begin(), overlay_.bookmarks.end(), at);
  if (set != overlay_.bookmarks.end()) overlay_.bookmark = static_cast<int>(set - overlay_.bookmarks.begin());
  Q_EMIT bookmarksChanged();
}

void GanttCanvas::goToBookmark(int by) {
  const auto all = static_cast<int>(overlay_.bookmarks.size());
  if (all == 0 || steps_.empty()) return;
  const int from = overlay_.bookmark < 0 && by < 0 ? 0 : overlay_.bookmark;
  overlay_.bookmark = (from + by + all) % all;
  view_.from = overlay_.bookmarks[static_cast<size_t>(overlay_.bookmark)] - view_.seconds / 2;
  keepInReach();
}

}  // namespace shardscape::ui
