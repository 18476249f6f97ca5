// Mouse and keys of the timeline.
#include <QKeyEvent>
#include <algorithm>

#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/matching_item.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

bool onLabel(const GanttLayout& layout, const QPointF& at) {
  for (size_t step = 0; step < layout.steps().size(); ++step)
    if (layout.heading(step).contains(at)) return false;
  return at.x() < layout.plot().left() && at.y() >= layout.plot().top() && layout.rowAt(at.y()) >= 0;
}

}  // namespace

int GanttCanvas::opAt(const ItemRef& ref, const QPointF& point) const {
  const std::vector<PlacedOp> ops = opsShown(ref);
  if (ops.empty()) return -1;
  const double at = ganttLayout().seconds(point.x());
  const QRectF box = ganttLayout().rect(ref);
  const bool lower = point.y() >= box.top() + height_of_compute(ops, box.height());
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].concurrent == lower && at >= ops[i].begin && at < ops[i].end) return static_cast<int>(i);
  return -1;
}

ItemRef GanttCanvas::matchingItem(const ItemRef& ref, const GanttStep& of) const {
  ItemRef found = shardscape::ui::matchingItem(lanesOf(ref), ref, *of.lanes);
  found.member = of.member;
  return found;
}

// The tip of a box; in a comparison also the matching boxes of the other designs.
QString GanttCanvas::tipOf(const ItemRef& ref) const {
  QString tip = item_tip(lanesOf(ref), ref);
  if (steps_.size() < 2) return tip;
  tip = of_design(ref.member, tip);
  for (const GanttStep& step : steps_)
    if (step.member != ref.member)
      tip += u'\n' + of_design(step.member,
                               matchingItemText(lanesOf(ref), ref, *step.lanes, matchingItem(ref, step)));
  return tip;
}

QString GanttCanvas::tipAt(const QPointF& point) const {
  if (steps_.empty()) return {};
  const GanttLayout layout = ganttLayout();
  for (size_t i = 0; i < overlay_.bookmarks.size(); ++i)
    if (bookmark_flag(layout, overlay_.bookmarks[i]).contains(point))
      return tr("Bookmark %1 at %2\nN: next bookmark. B: set one, or remove it")
          .arg(i + 1)
          .arg(seconds_text(overlay_.bookmarks[i]));
  if (onLabel(layout, point)) return tr("Click: fold or unfold. Drag: move the row. Ctrl+click: all rows");
  const ItemRef ref = layout.at(point);
  if (!ref.valid()) return {};
  const QString tip = tipOf(ref);
  const int op = opAt(ref, point);
  if (op < 0) return tip;
  const PlacedOp of = opsShown(ref)[static_cast<size_t>(op)];
  QString text = placed_op_title(*stepOf(ref).report, of) + tr(", %1").arg(seconds_text(of.end - of.begin));
  if (of.layer >= 0) text += tr(", layer %1").arg(of.layer);
  return text + u'\n' + tip;
}

bool GanttCanvas::hover(const QPointF& at, bool has_tip) {
  const ItemRef hovered = ganttLayout().at(at);
  if (!(hovered == hovered_)) update();
  hovered_ = hovered;
  return TimeCanvas::hover(at, has_tip);
}

void GanttCanvas::leave() {
  hovered_ = {};
  TimeCanvas::leave();
}

void GanttCanvas::click(const QPointF& at, Qt::KeyboardModifiers held) {
  const GanttLayout layout = ganttLayout();
  for (size_t i = 0; i < overlay_.bookmarks.size(); ++i)
    if (bookmark_flag(layout, overlay_.bookmarks[i]).contains(at)) {
      overlay_.bookmark = static_cast<int>(i);
      return goToBookmark(0);
    }
  if (onLabel(layout, at)) {
    const GanttRow& row = layout.rows()[static_cast<size_t>(layout.rowAt(at.y()))];
    return held & Qt::ControlModifier ? foldAll(!row.folded)
                                      : foldRow(steps_[row.step].member, row.stage, !row.folded);
  }
  const ItemRef ref = layout.at(at);
  ref.valid() ? select(ref, opAt(ref, at)) : static_cast<void>(clear());
}

void GanttCanvas::doubleClick(const QPointF& at) {
  if (onLabel(ganttLayout(), at)) return;
  const ItemRef ref = ganttLayout().at(at);
  ref.valid() ? zoomTo(ref) : fit();
}

// Pans sideways along the step, and up and down along the rows.
void GanttCanvas::pan(const QPointF& pixels) {
  if (steps_.empty() || pixels.isNull()) return;
  view_.from += pixels.x() / ganttLayout().scale();
  view_.top += pixels.y();
  if (pixels.x() != 0) at_home_ = false;
  keepInReach();
}

// Moves along the stream, or along the ops of a box while an op is selected.
void GanttCanvas::step(int items) {
  const std::vector<LaneItem>& all = lanesOf(selected_).lane(selected_).items;
  if (op_ >= 0) {
    const auto ops = static_cast<int>(opsShown(selected_).size());
    if (op_ + items >= 0 && op_ + items < ops) return select(selected_, op_ + items);
  }
  const int next = std::clamp(selected_.item + items, 0, static_cast<int>(all.size()) - 1);
  select({selected_.stage, selected_.lane, next, selected_.member});
  reveal(selected_);
}

// Moves to the next shown stage, or to the next stream of the same stage.
void GanttCanvas::moveToRow(int by, bool rows) {
  const LaneItem& item = lanesOf(selected_).item(selected_);
  const double middle = (item.begin + item.end) / 2;
  const std::vector<StreamLane>& lanes = lanesOf(selected_).of(selected_.stage);
  int stage = selected_.stage, member = selected_.member;
  StreamKind stream = lanes[static_cast<size_t>(selected_.lane)].stream;
  if (rows) {
    const GanttLayout layout = ganttLayout();
    const int row = layout.rowOf(selected_) + by;
    if (row < 0 || row >= static_cast<int>(layout.rows().size())) return;
    stage = layout.rows()[static_cast<size_t>(row)].stage;
    member = steps_[layout.rows()[static_cast<size_t>(row)].step].member;
  } else {
    stream = lanes[static_cast<size_t>(
                       std::clamp(selected_.lane + by, 0, static_cast<int>(lanes.size()) - 1))]
                 .stream;
  }
  ItemRef to = steps_[at(member)].lanes->nearest(stage, stream, middle);
  if (!to.valid()) return;
  to.member = member;
  select(to);
  reveal(to);
}

// Moves to the matching box of the next design, or to the box that runs there at the same time.
void GanttCanvas::moveToDesign(int by) {
  const auto step = static_cast<int>(at(selected_.member)) + by;
  if (step < 0 || step >= static_cast<int>(steps_.size())) return;
  const GanttStep& of = steps_[static_cast<size_t>(step)];
  ItemRef to = matchingItem(selected_, of);
  if (!to.valid()) {
    const LaneItem& item = lanesOf(selected_).item(selected_);
    const int stage = Comparisons::sameStagePlace(selected_.stage, lanesOf(selected_).stages(),
                                                  of.lanes->stages());
    to = of.lanes->nearest(stage, lanesOf(selected_).lane(selected_).stream, (item.begin + item.end) / 2);
    to.member = of.member;
  }
  if (!to.valid()) return;
  select(to);
  reveal(to);
}

ItemRef GanttCanvas::first(double seconds) const {
  const std::vector<GanttRow> rows = ganttLayout().rows();
  return rows.empty() ? ItemRef()
                      : steps_.front().lanes->nearest(rows.front().stage, StreamKind::Compute, seconds);
}

// With a selected box, keys go from box to box. Otherwise they move the view.
bool GanttCanvas::go(Way way, Qt::KeyboardModifiers held) {
  const bool shift = held & Qt::ShiftModifier, free = !selected_.valid();
  const double page = ganttLayout().plot().height();
  const auto items = [&] { return static_cast<int>(lanesOf(selected_).items()); };
  if ((held & Qt::AltModifier) && (way == Way::Up || way == Way::Down)) {
    const int row = free ? -1 : ganttLayout().rowOf(selected_);
    if (row >= 0) moveRow(row, row + (way == Way::Up ? -1 : 1));
    return true;
  }
  switch (way) {
    case Way::Left: shift || free ? pan({-kPan, 0}) : step(-1); break;
    case Way::Right: shift || free ? pan({kPan, 0}) : step(1); break;
    case Way::Up: free ? pan({0, -kPan}) : moveToRow(-1, !shift); break;
    case Way::Down: free ? pan({0, kPan}) : moveToRow(1, !shift); break;
    case Way::PageUp: free ? pan({0, -page}) : moveToDesign(-1); break;
    case Way::PageDown: free ? pan({0, page}) : moveToDesign(1); break;
    case Way::First: free ? select(first(0)) : step(-items()); break;
    case Way::Last:
      if (!free) step(items());
      break;
  }
  return true;
}

bool GanttCanvas::activate() {
  selected_.valid() ? zoomTo(selected_) : select(first(view_.from));
  return true;
}

bool GanttCanvas::clear() {
  overlay_.range.reset();
  setSelected({});
  Q_EMIT cleared();
  return true;
}

bool GanttCanvas::otherKey(const QKeyEvent& event) {
  if (event.matches(QKeySequence::Find)) {
    Q_EMIT searchRequested();
    return true;
  }
  if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
  const bool shift = event.modifiers() & Qt::ShiftModifier;
  if (!shift && moveKey(event.key())) return true;
  switch (event.key()) {
    case Qt::Key_R: markShownRange(); return true;
    case Qt::Key_B: toggleBookmark(); return true;
    case Qt::Key_N: goToBookmark(shift ? -1 : 1); return true;
    case Qt::Key_C: {
      const GanttLayout layout = ganttLayout();
      const int at = selected_.valid() ? layout.rowOf(selected_) : layout.firstRow();
      if (at < 0 || at >= static_cast<int>(layout.rows().size())) return true;
      const GanttRow& row = layout.rows()[static_cast<size_t>(at)];
      shift || !selected_.valid() ? foldAll(!row.folded)
                                  : foldRow(steps_[row.step].member, row.stage, !row.folded);
      return true;
    }
    default: return false;
  }
}

}  // namespace shardscape::ui
