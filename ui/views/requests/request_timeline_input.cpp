// The run of the timeline of requests, its mouse and its keys.
#include <QKeyEvent>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/toolkit/value_scale.h"
#include "ui/views/requests/request_inspection.h"
#include "ui/views/requests/request_timeline.h"

namespace shardscape::ui {
namespace {

constexpr double kPan = 60, kZoom = 1.4, kWheelLine = 48;
constexpr double kLeastSpan = 1e-5;  // of the run

}  // namespace

RequestTimeline::RequestTimeline(QWidget* parent)
    : Canvas(QStringLiteral("request_timeline"), tr("Requests over time, engine steps and cache"), parent) {}

void RequestTimeline::setRun(std::shared_ptr<const ServiceRun> run) {
  const size_t before = order_.size();
  run_ = std::move(run);
  order_.clear();
  steps_.clear();
  waits_.reset();
  hovered_ = -1;
  if (run_) {
    const RequestSimulation& simulation = run_->simulation;
    waits_ = std::make_shared<const RequestWaits>(request_waits(*run_));
    order_.resize(simulation.requests.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return simulation.requests[static_cast<size_t>(a)].arrival <
             simulation.requests[static_cast<size_t>(b)].arrival;
    });
    row_.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) row_[static_cast<size_t>(order_[i])] = static_cast<int>(i);
    steps_.resize(static_cast<size_t>(run_->spec.replicas));
    for (const StepRecord& step : simulation.steps)
      steps_[static_cast<size_t>(step.replica)].push_back(&step);
  }
  setMessage(run_ ? tr("No request was answered.") : QString());
  if (order_.size() != before) setSelected(-1);
  at_home_ ? fit() : keepInReach();
}

RequestWait RequestTimeline::waitOf(int request) const {
  return waits_->of(run_->simulation.requests[static_cast<size_t>(request)]);
}

double RequestTimeline::length() const { return run_->simulation.seconds; }

int RequestTimeline::replica() const {
  return selected_ < 0 ? 0 : run_->simulation.requests[static_cast<size_t>(selected_)].replica;
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
  const double rows = rowHeight(areas) * static_cast<double>(order_.size());
  view_.top = std::clamp(view_.top, 0.0, std::max(0.0, rows - areas.rows.height()));
  update();
}

void RequestTimeline::resizeEvent(QResizeEvent* event) {
  Canvas::resizeEvent(event);
  keepInReach();
}

void RequestTimeline::setSelected(int request) {
  selected_ = request < static_cast<int>(order_.size()) ? request : -1;
  setAccessibleDescription(selected_ >= 0 ? request_line(*run_, waitOf(selected_), selected_) : QString());
  update();
}

void RequestTimeline::select(int request) {
  setSelected(request);
  if (selected_ >= 0) reveal(selected_);
  Q_EMIT requestSelected(selected_);
}

// Scrolls to the row, and along the run if the request is outside of the view.
void RequestTimeline::reveal(int request) {
  const Areas areas = areasIn(QRectF(rect()));
  const QRectF row = rowIn(areas, request);
  if (row.top() < areas.rows.top()) view_.top -= areas.rows.top() - row.top();
  if (row.bottom() > areas.rows.bottom()) view_.top += row.bottom() - areas.rows.bottom();
  if (row.right() < areas.rows.left() || row.left() > areas.rows.right()) {
    const double span = view_.to - view_.from;
    view_.from = run_->simulation.requests[static_cast<size_t>(request)].arrival - span / 10;
    view_.to = view_.from + span;
  }
  keepInReach();
}

int RequestTimeline::requestAt(const QPointF& at) const {
  if (!ready()) return -1;
  const Areas areas = areasIn(QRectF(rect()));
  if (!areas.rows.contains(at)) return -1;
  const double row = std::floor((at.y() - areas.rows.top() + view_.top) / rowHeight(areas));
  return row >= 0 && row < static_cast<double>(order_.size()) ? order_[static_cast<size_t>(row)] : -1;
}

const StepRecord* RequestTimeline::stepAt(const QPointF& at) const {
  if (!ready()) return nullptr;
  const Areas areas = areasIn(QRectF(rect()));
  const QRectF engine(areas.steps.topLeft(), areas.use.bottomRight());
  const auto k = static_cast<size_t>(replica());
  if (!engine.contains(at) || k >= steps_.size()) return nullptr;
  const double seconds = secondsAt(areas, at.x());
  const auto after = std::upper_bound(steps_[k].begin(), steps_[k].end(), seconds,
                                      [](double time, const StepRecord* step) { return time < step->begin; });
  if (after == steps_[k].begin()) return nullptr;
  const StepRecord* step = *std::prev(after);
  return seconds < step->begin + step->seconds ? step : nullptr;
}

QString RequestTimeline::tipAt(const QPointF& at) const {
  if (const int request = requestAt(at); request >= 0) return request_line(*run_, waitOf(request), request);
  const StepRecord* step = stepAt(at);
  return step ? tipOfStep(*step) : QString();
}

bool RequestTimeline::hover(const QPointF& at, bool) {
  const int request = requestAt(at);
  if (request != hovered_) update();
  hovered_ = request;
  return hovered_ >= 0;
}

void RequestTimeline::click(const QPointF& at, Qt::KeyboardModifiers) {
  setSelected(requestAt(at));
  Q_EMIT requestSelected(selected_);
}

void RequestTimeline::doubleClick(const QPointF& at) {
  const int request = requestAt(at);
  request >= 0 ? zoomTo(request) : fit();
}

void RequestTimeline::zoomTo(int request) {
  const RequestRecord& record = run_->simulation.requests[static_cast<size_t>(request)];
  const double span = std::max(record.last_token - record.arrival, length() * kLeastSpan), margin = span / 10;
  view_.from = record.arrival - margin;
  view_.to = record.arrival + span + margin;
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

void RequestTimeline::wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at) {
  if (held & Qt::ControlModifier) return Canvas::wheel(notches, held, at);
  if (held & Qt::ShiftModifier) return pan({-(notches.y() != 0 ? notches.y() : notches.x()) * kWheelLine, 0});
  pan({-notches.x() * kWheelLine, -notches.y() * kWheelLine});
}

void RequestTimeline::step(int rows) {
  const int last = static_cast<int>(order_.size()) - 1;
  const int row = selected_ < 0 ? static_cast<int>(view_.top / rowHeight(areasIn(QRectF(rect()))))
                                : row_[static_cast<size_t>(selected_)] + rows;
  select(order_[static_cast<size_t>(std::clamp(row, 0, last))]);
}

bool RequestTimeline::go(Way way, Qt::KeyboardModifiers) {
  const Areas areas = areasIn(QRectF(rect()));
  const int page = std::max(1, static_cast<int>(areas.rows.height() / rowHeight(areas)));
  switch (way) {
    case Way::Left: pan({-kPan, 0}); break;
    case Way::Right: pan({kPan, 0}); break;
    case Way::Up: step(-1); break;
    case Way::Down: step(1); break;
    case Way::PageUp: step(-page); break;
    case Way::PageDown: step(page); break;
    case Way::First: select(order_.front()); break;
    case Way::Last: select(order_.back()); break;
  }
  return true;
}

bool RequestTimeline::activate() {
  selected_ >= 0 ? zoomTo(selected_) : step(0);
  return true;
}

bool RequestTimeline::clear() {
  select(-1);
  return true;
}

bool RequestTimeline::otherKey(const QKeyEvent& event) {
  if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
  switch (event.key()) {
    case Qt::Key_W: zoomBy(kZoom); return true;
    case Qt::Key_S: zoomBy(1 / kZoom); return true;
    case Qt::Key_A: pan({-kPan, 0}); return true;
    case Qt::Key_D: pan({kPan, 0}); return true;
    default: return false;
  }
}

}  // namespace shardscape::ui
