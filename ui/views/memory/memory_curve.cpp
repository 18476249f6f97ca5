#include "ui/views/memory/memory_curve.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "timing/pass_times.h"
#include "ui/plot/axis_paint.h"
#include "ui/plot/bar_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 48, kRight = 4, kBottom = 18, kHeading = 22, kUnit = 16;
constexpr double kWhen = 5;  // height of the strip that shows when the selected ops run

constexpr double kNamePlaces[] = {
    0.85, 0.65, 0.45, 0.25, 0.95,
    0.75, 0.55, 0.35, 0.1};  // tried places of a name along its line, as shares of the length

int64_t most_of(const std::vector<MemoryPoint>& points) {
  int64_t most = 0;
  for (const MemoryPoint& point : points) most = std::max(most, point.bytes);
  return most;
}

}  // namespace

std::vector<MemoryPoint> memory_points(const Estimate& estimate, int stage) {
  std::vector<MemoryPoint> out;
  std::optional<PassTimes> when;
  std::optional<StepOps> ops;
  if (estimate.simulation) {
    when.emplace(estimate.simulation->stages[static_cast<size_t>(stage)]);
    ops.emplace(estimate.report, estimate.simulation);
  }
  const std::vector<ActionMemory> actions = stage_timeline(*estimate.report, stage);
  int64_t most = 0;
  for (const ActionMemory& action : actions) most = std::max(most, total(action.peak));
  const int64_t outside_tensors = estimate.report->memory->stages[static_cast<size_t>(stage)].in_use -
                                  most;  // memory that the allocator has not handed out
  double now = 0;
  const auto add = [&](double seconds, const CategoryBytes& bytes, int span) {
    now = std::max(now, seconds);
    out.push_back({now, total(bytes) + outside_tensors, span});
  };
  if (!actions.empty()) add(0, actions.front().begin, -1);
  int index = 0;
  for (const ActionMemory& action : actions) {
    PassInterval duration{now, now, -1};
    const bool pass = is_pass(action.action.kind);
    if (const PassInterval* of = when ? when->of(action.action) : nullptr) duration = *of;
    if (!when) duration = {static_cast<double>(index), static_cast<double>(index + (pass ? 1 : 0)), -1};
    if (pass) ++index;
    add(duration.begin, action.begin, duration.span);
    const bool has_seconds = ops && duration.span >= 0;
    if (pass)
      add(has_seconds ? peak_seconds_of(stage, action.action, action.at, duration, *ops)
                      : (duration.begin + duration.end) / 2,
          action.peak, duration.span);
    add(duration.end, action.end, duration.span);
  }
  if (estimate.simulation && !out.empty())
    out.push_back({std::max(now, estimate.simulation->step_seconds), out.back().bytes, -1});
  return out;
}

MemoryCurve::MemoryCurve(SelectionState* state, QWidget* parent)
    : Canvas(QStringLiteral("memory_curve"), tr("Memory of the selected stage over one step"), parent),
      state_(state),
      session_(state->session()) {
  connect(state_, &SelectionState::selectionChanged, this, &MemoryCurve::followSelection);
}

void MemoryCurve::setEstimate(std::shared_ptr<const Estimate> estimate, int stage) {
  estimate_ = std::move(estimate);
  stage_ = stage;
  points_.clear();
  peak_.reset();
  marked_.reset();
  when_.clear();
  if (!estimate_) return;
  points_ = memory_points(*estimate_, stage);
  fixed_ = total(memory().fixed);
  // The peak: the first point with the highest value, as in the report.
  int64_t most = -1;
  for (size_t i = 0; i < points_.size(); ++i)
    if (points_[i].bytes > most) {
      most = points_[i].bytes;
      peak_ = i;
    }
  setAccessibleDescription(peakText());
  followSelection(nullptr);
  update();
}

void MemoryCurve::setComparedDesigns(std::vector<ComparedMemory> others) {
  others_ = std::move(others);
  setAccessibleDescription(marked_ ? text(points_[*marked_]) + comparedText(points_[*marked_].seconds)
                                   : peakText());
  update();
}

QPointF MemoryCurve::place(const MemoryPoint& point) const {
  const QRectF plot = this->plot(QRectF(rect()));
  return {plot.left() + plot.width() * point.seconds / span(),
          plot.bottom() - plot.height() * static_cast<double>(point.bytes) / top()};
}

QString MemoryCurve::title() const { return tr("Stage %1 over one step").arg(stage_); }

QString MemoryCurve::peakText() const {
  if (!estimate_ || !peak_) return {};
  const MemoryPoint& at = points_[*peak_];
  const QString bytes = rank_bytes_text(at.bytes, session_->units());
  const QString moment = text_of(memory().peak_text);
  if (!estimate_->simulation) return tr("peak %1: %2").arg(bytes, moment);
  return tr("peak %1 at %2: %3").arg(bytes, QString::fromStdString(format_seconds(at.seconds)), moment);
}

QRectF MemoryCurve::plot(const QRectF& rect) const {
  return rect.adjusted(kLeft, kHeading + kUnit, -kRight, -kBottom);
}

double MemoryCurve::top() const {
  double most = peak_ ? static_cast<double>(points_[*peak_].bytes) : 1;
  for (const ComparedMemory& other : others_)
    most = std::max(most, static_cast<double>(most_of(other.points)));
  const auto capacity = static_cast<double>(estimate_->report->memory->capacity);
  if (capacity > 0 && capacity < 3 * most) most = std::max(most, capacity);
  return most * 1.06;
}

double MemoryCurve::span() const {
  double last = points_.empty() ? 1 : std::max(points_.back().seconds, 1e-12);
  for (const ComparedMemory& other : others_) last = std::max(last, other.points.back().seconds);
  return last;
}

// One point for each pixel: the highest value in the pixel.
QPolygonF MemoryCurve::line(const std::vector<MemoryPoint>& points, const QRectF& plot) const {
  const double highest = top(), seconds = span();
  const auto x = [&](double at) { return plot.left() + plot.width() * at / seconds; };
  QPolygonF line;
  size_t i = 0;
  double level = static_cast<double>(points.front().bytes);
  const double end = x(points.back().seconds);
  for (double px = plot.left(); px <= end + 0.5; px += 1) {
    double most = level;
    for (; i < points.size() && x(points[i].seconds) <= px; ++i) {
      level = static_cast<double>(points[i].bytes);
      most = std::max(most, level);
    }
    line << QPointF(px, plot.bottom() - plot.height() * most / highest);
  }
  return line;
}

// Lines of the compared designs, with names at free places.
void MemoryCurve::paintComparedDesigns(QPainter& painter, const QRectF& plot, const QColor& ground,
                                       const QRectF& taken) const {
  const QFontMetricsF metrics(painter.font());
  std::vector<QPolygonF> lines;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  for (const ComparedMemory& other : others_) {
    lines.push_back(line(other.points, plot));
    painter.setPen(QPen(ground, 3.6));
    painter.drawPolyline(lines.back());
    painter.setPen(design_pen(other.member, 1.8));
    painter.drawPolyline(lines.back());
    if (const QPointF end = lines.back().back(); end.x() < plot.right() - 4)
      painter.drawLine(end - QPointF(0, 5), end + QPointF(0, 5));  // marks the end of the step
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  std::vector<QRectF> names{taken};
  for (size_t i = 0; i < others_.size(); ++i) {
    const ComparedMemory& other = others_[i];
    QString text = tr("%1, stage %2: peak %3")
                       .arg(Comparisons::letter(other.member))
                       .arg(other.stage)
                       .arg(rank_bytes_text(most_of(other.points), session_->units()));
    if (other.capacity > 0 && other.capacity != estimate_->report->memory->capacity)
      text += tr(" of %1").arg(capacity_text(other.capacity, session_->units()));
    const QSizeF size(metrics.horizontalAdvance(text) + 6, metrics.height());
    for (const double share : kNamePlaces) {
      const QPointF& at = lines[i][static_cast<qsizetype>(share * static_cast<double>(lines[i].size() - 1))];
      const double left = std::clamp(at.x() - size.width() / 2, plot.left(),
                                     std::max(plot.left(), plot.right() - size.width()));
      const QRectF above(QPointF(left, at.y() - 4 - size.height()), size),
          below(QPointF(left, at.y() + 4), size);
      const auto free = [&](const QRectF& box) {
        return plot.contains(box) && std::none_of(names.begin(), names.end(),
                                                  [&](const QRectF& name) { return name.intersects(box); });
      };
      if (!free(above) && !free(below)) continue;
      const QRectF box = free(above) ? above : below;
      names.push_back(box);
      painter.setPen(readable(Theme::instance().designColor(other.member), ground));
      paint_veiled_text(painter, box, text, ground);
      break;
    }
  }
}

// The title, the name of the capacity, and the legend of designs.
void MemoryCurve::paintHeading(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const double highest = top();
  painter.setFont(Theme::instance().uiFont(14, QFont::DemiBold));
  painter.setPen(colors.text);
  painter.drawText(QRectF(rect.left(), rect.top(), rect.width(), kHeading), Qt::AlignLeft | Qt::AlignVCenter,
                   title());
  const QFont small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(small);
  painter.setFont(small);
  painter.setPen(colors.secondary);
  // The name is in the heading, because next to its line it would cover the curve.
  double free = rect.right() - kRight;
  const auto capacity = static_cast<double>(estimate_->report->memory->capacity);
  if (capacity > 0 && capacity <= highest) {
    const QString name = tr("%1 capacity")
                             .arg(capacity_text(estimate_->report->memory->capacity, session_->units()));
    const double right = rect.right() - kRight, left = right - metrics.horizontalAdvance(name),
                 middle = rect.top() + kHeading / 2;
    painter.setPen(readable(colors.bad, ground));
    painter.drawText(QRectF(left, rect.top(), right - left + 1, kHeading), Qt::AlignLeft | Qt::AlignVCenter,
                     name);
    painter.setPen(limit_pen());
    painter.drawLine(QPointF(left - 25, middle), QPointF(left - 6, middle));
    painter.setPen(colors.secondary);
    free = left - 45;
  }
  const double least = rect.left() +
                       QFontMetricsF(Theme::instance().uiFont(14, QFont::DemiBold))
                           .horizontalAdvance(title()) +
                       20;
  if (others_.empty()) {
    const QString hint = estimate_->report->memory->stages.size() > 1 ? tr("click a bar to change the stage")
                                                                      : QString();
    if (free - metrics.horizontalAdvance(hint) > least)
      painter.drawText(QRectF(rect.left(), rect.top(), free - rect.left(), kHeading),
                       Qt::AlignRight | Qt::AlignVCenter, hint);
  } else {  // a legend, because some lines have no room for their name
    const std::vector<int> members = members_of(others_, {0});
    const double left = std::max(least, free - design_legend_width(members.size()));
    paint_design_legend(painter, QPointF(left, rect.top() + kHeading / 2), members);
  }
}

void MemoryCurve::paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  const Colors& colors = Theme::instance().colors();
  const ValueScale scale = rank_memory_scale(top(), session_->units());
  painter.drawText(QRectF(rect.left(), plot.top() - kUnit, kLeft - 8, 12), Qt::AlignRight | Qt::AlignVCenter,
                   scale.unit);
  paint_y_axis(painter, linear_scale(0, top(), scale.divisor), plot, kLeft);
  painter.setPen(colors.secondary);
  painter.drawText(QRectF(plot.left(), plot.bottom() + 3, 60, 14), Qt::AlignLeft | Qt::AlignVCenter,
                   QStringLiteral("0"));
  const QString last = estimate_->simulation ? QString::fromStdString(format_seconds(span()))
                                             : tr("%1 actions").arg(static_cast<int>(span()));
  painter.drawText(QRectF(plot.left(), plot.bottom() + 3, plot.width(), 14),
                   Qt::AlignRight | Qt::AlignVCenter, last);
}

void MemoryCurve::paintCurve(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const auto x = [&](double seconds) { return plot.left() + plot.width() * seconds / span(); };
  const auto y = [&](double bytes) { return plot.bottom() - plot.height() * bytes / top(); };
  const double highest = top();
  const auto capacity = static_cast<double>(estimate_->report->memory->capacity);
  // In a comparison the curve has the present design's colour (Theme::designColor).
  const QColor own = others_.empty() ? colors.activations : Theme::instance().designColor(0);
  const QPolygonF line = this->line(points_, plot);
  const double base = y(static_cast<double>(fixed_));
  QPolygonF area = line;
  const double end = line.back().x();
  area << QPointF(end, base) << QPointF(plot.left(), base);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(mixed(ground, own, others_.empty() ? 0.28 : 0.16));
  painter.drawPolygon(area);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QRectF fixed(plot.left(), base, end - plot.left(), plot.bottom() - base);
  const QColor tint = mixed(ground, colors.runtime, 0.6);
  painter.fillRect(fixed, tint);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(own, others_.empty() ? 1.4 : 1.8));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setFont(Theme::instance().uiFont(11));
  const bool has_limit = capacity > 0 && capacity <= highest;
  // The line of the capacity must not cross the text: it takes the larger part.
  QRectF room = fixed;
  if (has_limit && y(capacity) > fixed.top() && y(capacity) < fixed.bottom())
    y(capacity) < fixed.center().y() ? room.setTop(y(capacity)) : room.setBottom(y(capacity));
  if (room.height() >= 14) {
    painter.setPen(readable(colors.text, tint));
    painter.drawText(room.adjusted(6, 0, -6, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("static: %1").arg(rank_bytes_text(fixed_, session_->units())));
  }
  if (has_limit) {
    painter.setPen(limit_pen());
    painter.drawLine(QPointF(plot.left(), y(capacity)), QPointF(plot.right(), y(capacity)));
  }
  // Below the curve: the times at which the selected ops run.
  if (!when_.empty()) {
    painter.fillRect(QRectF(plot.left(), plot.bottom() - kWhen, end - plot.left(), kWhen), ground);
    for (const auto& [first, last] : when_)
      painter.fillRect(
          QRectF(x(first), plot.bottom() - kWhen + 1, std::max(1.0, x(last) - x(first)), kWhen - 1),
          colors.accent);
  }
}

// Dots at the selected action and the peak. One has a text: the action, or else the peak.
void MemoryCurve::paintSpots(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const auto x = [&](double seconds) { return plot.left() + plot.width() * seconds / span(); };
  const auto y = [&](double bytes) { return plot.bottom() - plot.height() * bytes / top(); };
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  const auto spot = [&](size_t point, const QColor& ink) {
    const QPointF at(x(points_[point].seconds), y(static_cast<double>(points_[point].bytes)));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(ground, 1.5));
    painter.setBrush(ink);
    painter.drawEllipse(at, 4.5, 4.5);
    painter.setRenderHint(QPainter::Antialiasing, false);
    return at;
  };
  if (marked_)
    painter.fillRect(QRectF(std::round(x(points_[*marked_].seconds)), plot.top(), 1, plot.height()),
                     readable(colors.accent, ground));
  if (peak_) {
    QPointF at = spot(*peak_, marked_ ? colors.secondary : colors.accent);
    if (marked_) at = spot(*marked_, colors.accent);
    const QString own = marked_ ? text(points_[*marked_]).replace(u'\n', QStringLiteral(": ")) : peakText();
    const QString words = others_.empty() ? own : of_design(0, own);
    const QString text = metrics.elidedText(words, Qt::ElideRight, plot.width());
    const double width = metrics.horizontalAdvance(text);
    const double left = std::clamp(at.x() + 8, plot.left(), std::max(plot.left(), plot.right() - width));
    const double above = std::max(at.y() - 8, plot.top() - 3);
    const QRectF words_at(left - 3, above - metrics.ascent(), width + 6, metrics.height());
    paintComparedDesigns(painter, plot, ground, words_at);
    painter.setPen(colors.text);
    paint_veiled_text(painter, words_at, text, ground);
  }
}

void MemoryCurve::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!estimate_ || points_.empty()) return;
  const QRectF plot = this->plot(rect);
  painter.save();
  paintHeading(painter, rect, ground);
  paintAxes(painter, rect, plot);
  paintCurve(painter, plot, ground);
  paintSpots(painter, plot, ground);
  painter.restore();
}

const MemoryPoint* MemoryCurve::at(const QPointF& point) const {
  if (!estimate_ || points_.empty()) return nullptr;
  const QRectF plot = this->plot(QRectF(rect()));
  if (!plot.contains(point)) return nullptr;
  const double seconds = (point.x() - plot.left()) / plot.width() * span();
  const auto after = std::partition_point(points_.begin(), points_.end(),
                                          [&](const MemoryPoint& p) { return p.seconds <= seconds; });
  return after == points_.begin() ? &points_.front() : &*(after - 1);
}

QString MemoryCurve::tipAt(const QPointF& point) const {
  const MemoryPoint* of = at(point);
  if (!of) return {};
  if (others_.empty()) return text(*of);
  const QRectF plot = this->plot(QRectF(rect()));
  const double seconds = (point.x() - plot.left()) / plot.width() * span();
  return of_design(0, seconds > points_.back().seconds ? tr("its step is over") : text(*of)) +
         comparedText(seconds);
}

QString MemoryCurve::comparedText(double seconds) const {
  QString out;
  for (const ComparedMemory& other : others_) {
    const auto after = std::partition_point(other.points.begin(), other.points.end(),
                                            [&](const MemoryPoint& p) { return p.seconds <= seconds; });
    const bool over = after == other.points.end() && seconds > other.points.back().seconds;
    const MemoryPoint& then = after == other.points.begin() ? other.points.front() : *(after - 1);
    out += u'\n' + tr("%1, stage %2: %3")
                       .arg(Comparisons::letter(other.member))
                       .arg(other.stage)
                       .arg(over ? tr("its step is over") : rank_bytes_text(then.bytes, session_->units()));
  }
  return out;
}

QString MemoryCurve::text(const MemoryPoint& of) const {
  QString text = rank_bytes_text(of.bytes, session_->units());
  if (!estimate_->simulation) return text;
  text += tr(" at %1").arg(QString::fromStdString(format_seconds(of.seconds)));
  if (of.span < 0) return text;
  const Span& span = estimate_->simulation->stages[static_cast<size_t>(stage_)]
                         .spans[static_cast<size_t>(of.span)];
  return text + tr("\n%1 of microbatch %2").arg(text_of(span_kind_label(span.kind))).arg(span.microbatch);
}

QRectF MemoryCurve::focusFrame() const { return plot(QRectF(rect())).adjusted(-0.5, -0.5, 0.5, 0.5); }

size_t MemoryCurve::peakOfAction(size_t point) const {
  size_t first = point, end = point + 1;
  while (first > 0 && points_[first - 1].span == points_[point].span) --first;
  while (end < points_.size() && points_[end].span == points_[point].span) ++end;
  for (size_t i = first; i < end; ++i)
    if (points_[i].bytes > points_[point].bytes) point = i;
  return point;
}

bool MemoryCurve::ofThisReport() const { return estimate_->report == session_->report(); }

void MemoryCurve::mark(std::optional<size_t> point) {
  marked_ = point;
  setAccessibleDescription(marked_ ? text(points_[*marked_]) + comparedText(points_[*marked_].seconds)
                                   : peakText());
  update();
}

// Selects the action, as the timeline does. While a new step is simulated, the point belongs to the earlier
// step and is only marked.
void MemoryCurve::selectPoint(size_t point) {
  when_.clear();
  mark(peakOfAction(point));
  if (!ofThisReport()) return;
  Selection selection;
  selection.kind = SelectionKind::Span;
  selection.stage = stage_;
  selection.span = points_[point].span;
  state_->selectInAllViews(selection, this);
}

// Marks a selected action as a point. For any other selection, marks the times at which it runs.
void MemoryCurve::followSelection(const QObject* by) {
  if (by == this || !estimate_ || !estimate_->simulation || !ofThisReport()) return;
  const ResolvedSelection& resolved = state_->resolvedSelection();
  const Selection& selection = resolved.selection();
  when_.clear();
  const auto& spans = estimate_->simulation->stages[static_cast<size_t>(stage_)].spans;
  const Span* span_of = selection.kind == SelectionKind::Span && selection.stage == stage_ &&
                                selection.span >= 0 && selection.span < static_cast<int>(spans.size())
                            ? &spans[static_cast<size_t>(selection.span)]
                            : nullptr;
  if (!span_of || span_of->stream != StreamKind::Compute || span_of->microbatch < 0) {
    for (int i = 0; i < static_cast<int>(spans.size()) && resolved.on(stage_); ++i) {
      if (!resolved.span(stage_, i)) continue;
      const Span& span = spans[static_cast<size_t>(i)];
      if (when_.empty() || span.begin > when_.back().second)
        when_.emplace_back(span.begin, span.end);
      else
        when_.back().second = std::max(when_.back().second, span.end);
    }
    return mark(std::nullopt);
  }
  const double middle = (span_of->begin + span_of->end) / 2;
  const auto after = std::partition_point(points_.begin(), points_.end(),
                                          [&](const MemoryPoint& p) { return p.seconds <= middle; });
  if (after == points_.begin()) return mark(std::nullopt);
  mark(peakOfAction(static_cast<size_t>(after - points_.begin()) - 1));
}

bool MemoryCurve::hover(const QPointF& position, bool) {
  const MemoryPoint* of = at(position);
  return of && of->span >= 0;
}

void MemoryCurve::click(const QPointF& position, Qt::KeyboardModifiers) {
  if (const MemoryPoint* of = at(position); of && of->span >= 0)
    selectPoint(static_cast<size_t>(of - points_.data()));
}

void MemoryCurve::selectNext(std::ptrdiff_t from, int by, int not_span) {
  for (std::ptrdiff_t i = from; i >= 0 && i < static_cast<std::ptrdiff_t>(points_.size()); i += by)
    if (const int span = points_[static_cast<size_t>(i)].span; span >= 0 && span != not_span)
      return selectPoint(static_cast<size_t>(i));
}

bool MemoryCurve::go(Way way, Qt::KeyboardModifiers) {
  if (!estimate_->simulation) return false;
  const auto here = static_cast<std::ptrdiff_t>(marked_.value_or(peak_.value_or(0)));
  const int span = marked_ ? points_[*marked_].span : -1;
  switch (way) {
    case Way::Left: selectNext(here, -1, span); return true;
    case Way::Right: selectNext(here, 1, span); return true;
    case Way::First: selectNext(0, 1, -1); return true;
    case Way::Last: selectNext(static_cast<std::ptrdiff_t>(points_.size()) - 1, -1, -1); return true;
    case Way::Up:
    case Way::Down:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

// Shows the action in the timeline, as a link of the inspector does.
bool MemoryCurve::activate() {
  if (!estimate_->simulation) return false;
  if (!marked_) {
    selectNext(static_cast<std::ptrdiff_t>(peak_.value_or(0)), 1, -1);
  } else if (ofThisReport()) {
    const Selection selection = state_->selection();
    state_->selectInAllViews({}, this);
    state_->selectInAllViews(selection, nullptr);
  }
  return true;
}

bool MemoryCurve::clear() {
  if (!estimate_->simulation) return false;
  state_->selectInAllViews({}, this);
  mark(std::nullopt);
  return true;
}

bool MemoryCurve::otherKey(const QKeyEvent& event) {
  if (event.key() != Qt::Key_M || !estimate_->simulation) return false;
  if (peak_ && points_[*peak_].span >= 0) selectPoint(*peak_);
  return true;
}

}  // namespace shardscape::ui
