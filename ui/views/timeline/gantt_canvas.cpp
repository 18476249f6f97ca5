#include "ui/views/timeline/gantt_canvas.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "timing/pass_times.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/gantt_legend.h"
#include "ui/views/timeline/matching_item.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

constexpr double kMargin = 0.012;       // share of the step, left and right of it
constexpr double kLeastSeconds = 2e-7;  // the smallest visible range
constexpr int kOpsOfAFrame = 1;         // the most actions whose ops are computed per frame

}  // namespace

GanttCanvas::GanttCanvas(QWidget* parent)
    : TimeCanvas(QStringLiteral("gantt"), tr("Timeline of the step: stages, streams and microbatches"),
                 parent) {}

void GanttCanvas::setEstimate(std::shared_ptr<const Estimate> estimate, std::shared_ptr<const Lanes> lanes) {
  const bool same_shape = !steps_.empty() && lanes && steps_.front().lanes->stages() == lanes->stages();
  const double before = length();
  steps_.clear();
  details_.clear();
  selected_ = hovered_ = {};
  matching_.clear();
  op_ = -1;
  overlay_.range.reset();
  overlay_.flows.clear();
  items_out_ = {};
  ops_out_ = {};
  peak_.reset();
  if (!lanes) return update();
  steps_.push_back({0, name_, estimate->report, lanes, -1});
  steps_.insert(steps_.end(), others_.begin(), others_.end());
  limitRows();
  for (const GanttStep& step : steps_) details_.emplace_back().setStep(step.report, step.lanes);
  if (!same_shape || at_home_ || before <= 0) {
    fit();
  } else {  // keep the visible range in the new step
    view_.from *= length() / before;
    view_.seconds *= length() / before;
    keepInReach();
  }
  if (const MemoryTimeline* memory = estimate->report->memory.get()) {
    StepOps ops(estimate->report, estimate->simulation);
    peak_ = peak_seconds(memory->stages[static_cast<size_t>(memory->peak_stage)], ops);
    if (peak_) {
      peak_label_ = lanes->stages() > 1 ? tr("peak memory, stage %1").arg(memory->peak_stage)
                                        : tr("peak memory");
    }
  }
  update();
}

void GanttCanvas::setComparedDesigns(const QString& name, std::vector<GanttStep> others) {
  name_ = name;
  others_ = std::move(others);
  if (steps_.empty()) return;
  if (selected_.member > 0) setSelected({});
  hovered_ = {};
  steps_.resize(1);
  details_.resize(1);
  steps_.front().name = name_;
  for (const GanttStep& step : others_) {
    steps_.push_back(step);
    details_.emplace_back().setStep(step.report, step.lanes);
  }
  limitRows();
  findMatchingItems();
  at_home_ ? fit() : keepInReach();
}

void GanttCanvas::setOnly(int stage) {
  if (stage == only_) return;
  only_ = stage;
  limitRows();
  keepInReach();
}

void GanttCanvas::limitRows() {
  for (GanttStep& step : steps_)
    step.only = only_ < 0 ? -1
                          : Comparisons::sameStagePlace(only_, steps_.front().lanes->stages(),
                                                        step.lanes->stages());
  for (GanttStep& step : steps_) step.rows = row_orders_[step.member];
}

size_t GanttCanvas::at(int member) const {
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].member == member) return i;
  return 0;
}

void GanttCanvas::setCritical(bool on) {
  critical_ = on;
  update();
}

void GanttCanvas::setHighlight(std::function<bool(const ItemRef&)> items,
                               std::function<bool(int, int, int, int)> ops) {
  items_out_ = std::move(items);
  ops_out_ = std::move(ops);
  update();
}

void GanttCanvas::setSelected(const ItemRef& ref, int op) {
  selected_ = ref;
  op_ = op;
  if (ref.valid()) overlay_.range.reset();
  overlay_.flows = ref.valid() && !steps_.empty() ? flows_of(lanesOf(ref), ref) : std::vector<Flow>();
  findMatchingItems();
  describe();
  update();
}

void GanttCanvas::select(const ItemRef& ref, int op) {
  if (!ref.valid()) return;
  setSelected(ref, op);
  ref.member == 0 ? Q_EMIT itemSelected(ref.stage, lanesOf(ref).span_index(ref), op)
                  : Q_EMIT
                    comparedItemSelected();
}

void GanttCanvas::findMatchingItems() {
  matching_.clear();
  if (steps_.empty() || !selected_.valid()) return;
  for (const GanttStep& step : steps_)
    if (step.member != selected_.member &&
        !chunksHoldOtherLayers(lanesOf(selected_), lanesOf(selected_).item(selected_), *step.lanes))
      if (const ItemRef same = matchingItem(selected_, step); same.valid()) matching_.push_back(same);
}

void GanttCanvas::describe() {
  setAccessibleDescription(steps_.empty() || !selected_.valid() ? QString() : tipOf(selected_));
}

void GanttCanvas::fit() {
  if (steps_.empty()) return;
  const double step = length();
  view_ = {-kMargin * step, step * (1 + 2 * kMargin), 0};
  at_home_ = true;
  update();
}

void GanttCanvas::keepInReach() {
  if (steps_.empty()) return;
  const double step = length();
  view_.seconds = std::clamp(view_.seconds, std::min(kLeastSeconds, step), step * (1 + 2 * kMargin));
  const double margin = std::max(kMargin * step, 0.02 * view_.seconds);
  view_.from = std::clamp(view_.from, -margin, std::max(-margin, step + margin - view_.seconds));
  view_.top = ganttLayout().view().top;
  update();
}

void GanttCanvas::zoomAt(double factor, const QPointF& point) {
  if (steps_.empty()) return;
  const GanttLayout layout = ganttLayout();
  const double at = layout.seconds(std::clamp(point.x(), layout.plot().left(), layout.plot().right()));
  const double before = view_.seconds;
  view_.seconds = std::clamp(view_.seconds / factor, kLeastSeconds, length() * (1 + 2 * kMargin));
  view_.from = at - (at - view_.from) * view_.seconds / before;
  at_home_ = false;
  keepInReach();
}

void GanttCanvas::zoomBy(double factor) {
  if (steps_.empty()) return;
  const GanttLayout layout = ganttLayout();
  double x = layout.plot().center().x();
  if (selected_.valid()) {
    const double middle = layout.rect(selected_).center().x();
    if (middle > layout.plot().left() && middle < layout.plot().right()) x = middle;
  }
  zoomAt(factor, QPointF(x, 0));
}

void GanttCanvas::zoomTo(const ItemRef& ref) {
  if (steps_.empty() || !ref.valid()) return;
  const LaneItem& item = lanesOf(ref).item(ref);
  const double width = std::max(item.end - item.begin, kLeastSeconds);
  view_.seconds = width * 1.5;
  view_.from = item.begin - width * 0.25;
  at_home_ = false;
  reveal(ref);
}

void GanttCanvas::reveal(const ItemRef& ref) {
  if (steps_.empty() || !ref.valid()) return;
  const LaneItem& item = lanesOf(ref).item(ref);
  const double width = item.end - item.begin;
  if (item.begin < view_.from || item.end > view_.from + view_.seconds) {
    view_.from = width > view_.seconds ? item.begin - 0.05 * view_.seconds
                                       : (item.begin + item.end - view_.seconds) / 2;
    at_home_ = false;
  }
  if (ref.lane > 0) foldRow(ref.member, ref.stage, false);
  const GanttLayout layout = ganttLayout();
  if (const int at = layout.rowOf(ref); at >= 0) {
    const QRectF row = layout.rowRect(at).adjusted(0, steps_.size() > 1 ? -GanttLayout::kHeading : 0, 0, 0);
    if (row.top() < layout.plot().top()) view_.top -= layout.plot().top() - row.top();
    if (row.bottom() > layout.plot().bottom()) view_.top += row.bottom() - layout.plot().bottom();
  }
  keepInReach();
}

std::vector<PlacedOp> GanttCanvas::opsShown(const ItemRef& ref) const {
  if (steps_.empty() || !ref.valid() || !OpDetail::has_ops(lanesOf(ref).item(ref))) return {};
  const QRectF rect = ganttLayout().rect(ref);
  if (rect.width() < kLeastForOps || rect.height() < 12) return {};
  return details_[at(ref.member)].placed(ref);
}

GanttMarks GanttCanvas::marks() const {
  GanttMarks marks;
  marks.selected = selected_;
  marks.matching = matching_;
  marks.hovered = hovered_;
  marks.selected_op = op_;
  marks.focused = hasFocus();
  marks.critical = critical_;
  marks.item_highlighted = items_out_;
  marks.op_highlighted = ops_out_;
  marks.peak = peak_;
  marks.peak_label = peak_label_;
  marks.ground = Theme::instance().colors().ground;
  return marks;
}

void GanttCanvas::paintWindow(QPainter& painter, const QRect&) {
  const GanttLayout layout = ganttLayout();
  int made = 0;
  detail_wanted_ = false;
  const OpsOf ops = [&](const ItemRef& ref, double from, double to) {
    OpDetail& detail = details_[at(ref.member)];
    if (!detail.known(ref) && made++ >= kOpsOfAFrame) {
      detail_wanted_ = true;
      return std::vector<PlacedOp>();
    }
    return detail.placed(ref, from, to);
  };
  shown_ = paint_gantt(painter, layout, marks(), ops, texts_);
  paint_gantt_legend(painter, QRectF(layout.plot().left(), 0, layout.plot().width(), 14), shown_,
                     Theme::instance().colors().ground);
  paint_overlay(painter, layout, overlay_, Theme::instance().colors().ground);
  paintThumb(painter, layout);
  if (detail_wanted_) QMetaObject::invokeMethod(this, qOverload<>(&QWidget::update), Qt::QueuedConnection);
}

QRectF GanttCanvas::focusFrame() const {
  return selected_.valid() ? QRectF() : ganttLayout().plot().adjusted(-0.5, -0.5, 0.5, -0.5);
}

// A scroll bar for the rows.
void GanttCanvas::paintThumb(QPainter& painter, const GanttLayout& layout) const {
  const double shown = layout.plot().height();
  if (layout.height() <= shown + 1) return;
  const double length = std::max(24.0, shown * shown / layout.height());
  const double top = layout.plot().top() + (shown - length) * layout.view().top / (layout.height() - shown);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(mixed(Theme::instance().colors().ground, Theme::instance().colors().secondary, 0.4));
  painter.drawRoundedRect(QRectF(width() - 6, top, 4, length), 2, 2);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void GanttCanvas::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (steps_.empty()) return;
  const GanttLayout layout(rect, steps_, view_);
  GanttMarks of = marks();
  of.ground = ground;
  of.hovered = {};
  const Roles shown = paint_gantt(
      painter, layout, of,
      [this](const ItemRef& ref, double from, double to) {
        return details_[at(ref.member)].placed(ref, from, to);
      },
      texts_);
  paint_gantt_legend(painter, QRectF(layout.plot().left(), rect.top(), layout.plot().width(), 14), shown,
                     ground);
  paint_overlay(painter, layout, overlay_, ground);
}

void GanttCanvas::resizeEvent(QResizeEvent*) { keepInReach(); }

}  // namespace shardscape::ui
