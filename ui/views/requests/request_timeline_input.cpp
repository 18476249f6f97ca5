// The run of the timeline of requests, its mouse and its keys.
#include <QKeyEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/toolkit/value_scale.h"
#include "ui/views/requests/request_inspection.h"
#include "ui/views/requests/request_timeline.h"

namespace shardscape::ui {
namespace {

constexpr double kClick = 0.95;      // of a step: in a pipeline, the previous one has ended there
constexpr double kLeastSpan = 1e-5;  // of the run

}  // namespace

RequestTimeline::RequestTimeline(QWidget* parent)
    : TimeCanvas(QStringLiteral("request_timeline"), tr("Requests over time, engine steps and cache"),
                 parent) {}

void RequestTimeline::setRun(std::shared_ptr<const ShownRun> run) {
  const size_t before = run_ ? run_->order.size() : 0;
  run_ = std::move(run);
  hovered_ = -1;
  step_.reset();
  setMessage(run_ ? tr("No request was answered.") : QString());
  if (!run_ || run_->order.size() != before || replica() >= static_cast<int>(run_->steps.size()))
    setSelected(-1);
  at_home_ ? fit() : keepInReach();
}

RequestWait RequestTimeline::waitOf(int request) const { return run_->waits.of(record(request)); }

double RequestTimeline::length() const { return run_->run->simulation.seconds; }

int RequestTimeline::replica() const { return selected_ < 0 ? 0 : record(selected_).replica; }

const StepRecord* RequestTimeline::selectedStep() const { return step_ ? &steps().step(*step_) : nullptr; }

std::optional<size_t> RequestTimeline::selectedStepIndex() const {
  if (!step_) return std::nullopt;
  return static_cast<size_t>(selectedStep() - run_->run->simulation.steps.data());
}

void RequestTimeline::selectStep(std::optional<size_t> at) {
  step_ = at && *at < steps().size() ? at : std::nullopt;
  if (const StepRecord* step = selectedStep()) {
    setAccessibleDescription(tipOfStep(*step));
    revealTime(step->begin, step->begin + step->seconds);
  }
  update();
  Q_EMIT stepSelected();
}

void RequestTimeline::selectStepOfRequest() {
  if (!ready() || steps().size() == 0) return;
  if (selected_ >= 0)
    for (const RequestSpan& span : run_->spans.of(static_cast<size_t>(selected_)))
      if (span.step >= 0)
        return selectStep(steps().find(run_->run->simulation.steps[static_cast<size_t>(span.step)]));
  selectStep(std::min(steps().endingAfter((view_.from + view_.to) / 2), steps().size() - 1));
}

void RequestTimeline::fit() {
  at_home_ = true;
  view_ = {0, run_ ? std::max(length(), 1e-9) : 1, 0};
  update();
}

// The view stays inside of the run and of the rows.
void RequestTimeline::keepInReach() {
  if (!run_) return;
  const double whole = std::max(length(), 1e-9);
  const double span = std::clamp(view_.to - view_.from, whole * kLeastSpan, whole);
  view_.from = std::clamp(view_.from, 0.0, whole - span);
  view_.to = view_.from + span;
  const Areas areas = areasIn(QRectF(rect()));
  const double rows = rowHeight(areas) * static_cast<double>(run_->order.size());
  view_.top = std::clamp(view_.top, 0.0, std::max(0.0, rows - areas.rows.height()));
  update();
}

void RequestTimeline::resizeEvent(QResizeEvent* event) {
  Canvas::resizeEvent(event);
  keepInReach();
}

// The steps of another request can be those of another replica.
void RequestTimeline::setSelected(int request) {
  const bool known = run_ && request < static_cast<int>(run_->order.size());
  selected_ = known ? request : -1;
  step_.reset();
  setAccessibleDescription(selected_ >= 0 ? request_line(*run_->run, waitOf(selected_), selected_)
                                          : QString());
  update();
}

void RequestTimeline::select(int request) {
  setSelected(request);
  if (selected_ >= 0) reveal(selected_);
  Q_EMIT requestSelected(selected_);
}

// Moves the view along the run if the range is outside.
void RequestTimeline::revealTime(double from, double to) {
  if (to < view_.from || from > view_.to) {
    const double span = view_.to - view_.from;
    view_.from = from - span / 10;
    view_.to = view_.from + span;
  }
  keepInReach();
}

// Scrolls to the row, and along the run if the request is outside of the view.
void RequestTimeline::reveal(int request) {
  const Areas areas = areasIn(QRectF(rect()));
  const QRectF row = rowIn(areas, request);
  if (row.top() < areas.rows.top()) view_.top -= areas.rows.top() - row.top();
  if (row.bottom() > areas.rows.bottom()) view_.top += row.bottom() - areas.rows.bottom();
  const RequestRecord& of = record(request);
  revealTime(of.arrival, std::max(of.arrival, of.last_token));
}

int RequestTimeline::requestAt(const QPointF& at) const {
  if (!ready()) return -1;
  const Areas areas = areasIn(QRectF(rect()));
  if (!areas.rows.contains(at)) return -1;
  const double row = std::floor((at.y() - areas.rows.top() + view_.top) / rowHeight(areas));
  return row >= 0 && row < static_cast<double>(run_->order.size()) ? run_->order[static_cast<size_t>(row)]
                                                                   : -1;
}

std::optional<size_t> RequestTimeline::stepIndexAt(double seconds) const {
  const size_t at = steps().endingAfter(seconds);
  if (at == steps().size() || steps().step(at).begin > seconds) return std::nullopt;
  return at;
}

const StepRecord* RequestTimeline::stepAt(const QPointF& at) const {
  if (!ready()) return nullptr;
  const Areas areas = areasIn(QRectF(rect()));
  if (!QRectF(areas.steps.topLeft(), areas.use.bottomRight()).contains(at)) return nullptr;
  const std::optional<size_t> step = stepIndexAt(secondsAt(areas, at.x()));
  return step ? &steps().step(*step) : nullptr;
}

QPointF RequestTimeline::placeOfStep(const StepRecord& step) const {
  const Areas areas = areasIn(QRectF(rect()));
  return {place(areas, step.begin + kClick * step.seconds), areas.steps.center().y()};
}

QString RequestTimeline::tipAt(const QPointF& at) const {
  if (overview().contains(at)) return tr("All requests: click or drag to move the view");
  if (const int request = requestAt(at); request >= 0)
    return request_line(*run_->run, waitOf(request), request);
  const StepRecord* step = stepAt(at);
  return step ? tipOfStep(*step) + u'\n' + tr("Double click: open this step") : QString();
}

QRectF RequestTimeline::overview() const { return areasIn(QRectF(rect())).overview; }

void RequestTimeline::moveTo(const QPointF& at) {
  const Areas areas = areasIn(QRectF(rect()));
  const double span = view_.to - view_.from, rows = static_cast<double>(run_->order.size());
  view_.from = (at.x() - areas.overview.left()) / areas.overview.width() * length() - span / 2;
  view_.to = view_.from + span;
  view_.top = (at.y() - areas.overview.top()) / areas.overview.height() * rows * rowHeight(areas) -
              areas.rows.height() / 2;
  at_home_ = false;
  keepInReach();
}

bool RequestTimeline::grabs(const QPointF& at, Qt::KeyboardModifiers) { return overview().contains(at); }

bool RequestTimeline::drag(const QPointF& at) {
  moveTo(at);
  return true;
}

bool RequestTimeline::hover(const QPointF& at, bool has_tip) {
  const int request = requestAt(at);
  if (request != hovered_) update();
  hovered_ = request;
  return TimeCanvas::hover(at, has_tip) || overview().contains(at);
}

void RequestTimeline::leave() {
  hovered_ = -1;
  TimeCanvas::leave();
}

void RequestTimeline::click(const QPointF& at, Qt::KeyboardModifiers) {
  if (overview().contains(at)) return moveTo(at);
  if (stepAt(at)) return selectStep(stepIndexAt(secondsAt(areasIn(QRectF(rect())), at.x())));
  setSelected(requestAt(at));
  Q_EMIT requestSelected(selected_);
}

void RequestTimeline::doubleClick(const QPointF& at) {
  if (overview().contains(at)) return moveTo(at);
  if (stepAt(at)) {
    click(at, {});
    Q_EMIT stepRequested();
    return;
  }
  const int request = requestAt(at);
  request >= 0 ? zoomTo(request) : fit();
}

void RequestTimeline::zoomTo(int request) {
  const RequestRecord& of = record(request);
  const double span = std::max(of.last_token - of.arrival, length() * kLeastSpan), margin = span / 10;
  view_.from = of.arrival - margin;
  view_.to = of.arrival + span + margin;
  at_home_ = false;
  reveal(request);
}

void RequestTimeline::pan(const QPointF& pixels) {
  const double seconds = pixels.x() / areasIn(QRectF(rect())).rows.width() * (view_.to - view_.from);
  view_.from += seconds;
  view_.to += seconds;
  view_.top += pixels.y();
  at_home_ = at_home_ && pixels.isNull();
  keepInReach();
}

double RequestTimeline::firstArrival() const {
  const auto row = static_cast<size_t>(view_.top / rowHeight(areasIn(QRectF(rect()))));
  return record(run_->order[std::min(row, run_->order.size() - 1)]).arrival;
}

// Rows that are scrolled into view bring their time along: a zoomed view follows the requests.
void RequestTimeline::wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at) {
  const double before = firstArrival();
  TimeCanvas::wheel(notches, held, at);
  if (held & (Qt::ControlModifier | Qt::ShiftModifier)) return;
  const double later = firstArrival() - before;
  view_.from += later;
  view_.to += later;
  keepInReach();
}

void RequestTimeline::zoomAt(double factor, const QPointF& at) {
  const double middle = secondsAt(areasIn(QRectF(rect())), at.x());
  view_.from = middle - (middle - view_.from) / factor;
  view_.to = middle + (view_.to - middle) / factor;
  at_home_ = false;
  keepInReach();
}

void RequestTimeline::zoomBy(double factor) {
  if (!ready()) return;
  const QRectF rows = areasIn(QRectF(rect())).rows;
  const QRectF row = selected_ >= 0 ? rowOf(selected_).intersected(rows) : QRectF();
  zoomAt(factor, row.isEmpty() ? rows.center() : row.center());
}

void RequestTimeline::step(int rows) {
  const int last = static_cast<int>(run_->order.size()) - 1;
  const int row = selected_ < 0 ? static_cast<int>(view_.top / rowHeight(areasIn(QRectF(rect()))))
                                : run_->row[static_cast<size_t>(selected_)] + rows;
  select(run_->order[static_cast<size_t>(std::clamp(row, 0, last))]);
}

bool RequestTimeline::go(Way way, Qt::KeyboardModifiers) {
  const Areas areas = areasIn(QRectF(rect()));
  const int page = std::max(1, static_cast<int>(areas.rows.height() / rowHeight(areas)));
  switch (way) {
    case Way::Left: step_ ? selectStep(*step_ > 0 ? *step_ - 1 : 0) : pan({-kPan, 0}); break;
    case Way::Right: step_ ? selectStep(std::min(*step_ + 1, steps().size() - 1)) : pan({kPan, 0}); break;
    case Way::Up: step(-1); break;
    case Way::Down: step(1); break;
    case Way::PageUp: step(-page); break;
    case Way::PageDown: step(page); break;
    case Way::First: select(run_->order.front()); break;
    case Way::Last: select(run_->order.back()); break;
  }
  return true;
}

bool RequestTimeline::activate() {
  if (step_)
    Q_EMIT stepRequested();
  else
    selected_ >= 0 ? zoomTo(selected_) : step(0);
  return true;
}

bool RequestTimeline::clear() {
  step_ ? selectStep(std::nullopt) : select(-1);
  return true;
}

bool RequestTimeline::otherKey(const QKeyEvent& event) {
  if (event.key() == Qt::Key_T && event.modifiers() == Qt::NoModifier) {
    selectStepOfRequest();
    return true;
  }
  return TimeCanvas::otherKey(event);
}

}  // namespace shardscape::ui
