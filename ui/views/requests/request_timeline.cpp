#include "ui/views/requests/request_timeline.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/plot/axis_paint.h"
#include "ui/plot/plot_panel.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 76, kTop = 24, kRight = 12, kBottom = 22;
constexpr double kSteps = 20, kUse = 46, kGap = 6;
constexpr double kThinnest = 7, kThickest = 18, kTicksApart = 70;
constexpr double kLeastBar = 1;  // pixels
constexpr double kOverview = 72, kOverviewGap = 8;

QColor span_color(RequestSpanKind kind) {
  const Colors& colors = Theme::instance().colors();
  switch (kind) {
    case RequestSpanKind::Queued: return colors.idle;
    case RequestSpanKind::Load: return colors.kv_cache;
    case RequestSpanKind::Chunk: return colors.parameters;
    case RequestSpanKind::Prompt: return mixed(colors.ground, colors.parameters, 0.35);
    case RequestSpanKind::TransferWait: return mixed(colors.ground, colors.communication, 0.35);
    case RequestSpanKind::Transfer: return colors.communication;
    case RequestSpanKind::Answer: return colors.gradients;
    case RequestSpanKind::Preempted: return colors.note;
  }
  return colors.idle;
}

}  // namespace

RequestTimeline::Areas RequestTimeline::areasIn(const QRectF& rect) const {
  Areas out;
  const double bottom = rect.bottom() - kBottom, rows = bottom - kUse - kSteps - 2 * kGap - rect.top() - kTop;
  const bool overflows = run_ && static_cast<double>(run_->order.size()) * kThinnest > rows;
  const double right = rect.right() - kRight - (overflows ? kOverview + kOverviewGap : 0);
  const double left = rect.left() + kLeft, width = std::max(1.0, right - left);
  out.use = QRectF(left, bottom - kUse, width, kUse);
  out.steps = QRectF(left, out.use.top() - kGap - kSteps, width, kSteps);
  const double top = rect.top() + kTop;
  out.rows = QRectF(left, top, width, std::max(1.0, out.steps.top() - kGap - top));
  if (overflows) out.overview = QRectF(right + kOverviewGap, top, kOverview, out.rows.height());
  return out;
}

double RequestTimeline::rowHeight(const Areas& areas) const {
  return std::clamp(
      areas.rows.height() / static_cast<double>(std::max<size_t>(1, run_ ? run_->order.size() : 0)),
      kThinnest, kThickest);
}

double RequestTimeline::place(const Areas& areas, double seconds) const {
  return areas.rows.left() + areas.rows.width() * (seconds - view_.from) / (view_.to - view_.from);
}

double RequestTimeline::secondsAt(const Areas& areas, double x) const {
  return view_.from + (x - areas.rows.left()) / areas.rows.width() * (view_.to - view_.from);
}

QRectF RequestTimeline::rowIn(const Areas& areas, int request) const {
  const RequestRecord& of = record(request);
  const double height = rowHeight(areas), left = place(areas, of.arrival);
  const double right = place(areas, std::max(of.arrival, of.last_token));
  return {left, areas.rows.top() + height * run_->row[static_cast<size_t>(request)] - view_.top,
          std::max(kLeastBar, right - left), height};
}

QRectF RequestTimeline::rowOf(int request) const { return rowIn(areasIn(QRectF(rect())), request); }

QRectF RequestTimeline::plotArea() const {
  const Areas areas = areasIn(QRectF(rect()));
  return {areas.rows.topLeft(), areas.use.bottomRight()};
}

void RequestTimeline::paintRow(QPainter& painter, const Areas& areas, int request) const {
  const Colors& colors = Theme::instance().colors();
  const QRectF row = rowIn(areas, request);
  if (request == selected_ || request == hovered_)
    painter.fillRect(QRectF(areas.rows.left(), row.top(), areas.rows.width(), row.height()),
                     request == selected_ ? colors.accent_soft : colors.line);
  if (record(request).end != RequestEnd::Finished)
    return painter.fillRect(QRectF(row.left(), row.top() + 1, 3, row.height() - 2), colors.bad);
  for (const RequestSpan& span : run_->spans.of(static_cast<size_t>(request))) {
    if (span.end < view_.from || span.begin > view_.to) continue;
    const double left = std::max(areas.rows.left(), place(areas, span.begin));
    const double right = std::min(areas.rows.right(), place(areas, span.end));
    painter.fillRect(QRectF(left, row.top() + 1, std::max(kLeastBar, right - left), row.height() - 2),
                     span_color(span.kind));
  }
}

void RequestTimeline::paintRows(QPainter& painter, const Areas& areas) const {
  painter.save();
  painter.setClipRect(areas.rows);
  const double height = rowHeight(areas);
  const auto first = static_cast<size_t>(std::max(0.0, std::floor(view_.top / height)));
  for (size_t i = first; i < run_->order.size(); ++i) {
    if (static_cast<double>(i) * height - view_.top > areas.rows.height()) break;
    paintRow(painter, areas, run_->order[i]);
  }
  painter.restore();
}

// A line per row, from arrival to last token over the whole run, and a frame around the visible part.
void RequestTimeline::paintOverview(QPainter& painter, const Areas& areas, const QColor& ground) const {
  const QRectF& area = areas.overview;
  if (area.isEmpty()) return;
  const Colors& colors = Theme::instance().colors();
  painter.fillRect(area, mixed(ground, colors.line, 0.5));
  const auto rows = static_cast<double>(run_->overview.size());
  const double second = area.width() / length();
  for (size_t row = 0; row < run_->overview.size(); ++row) {
    const OverviewRow& of = run_->overview[row];
    const double top = area.top() + area.height() * static_cast<double>(row) / rows;
    const double height = std::max(1.0, area.height() / rows);
    const auto bar = [&](double from, double to, const QColor& ink) {
      painter.fillRect(
          QRectF(area.left() + from * second, top, std::max(kLeastBar, (to - from) * second), height), ink);
    };
    bar(of.arrival, of.scheduled, span_color(RequestSpanKind::Queued));
    bar(of.scheduled, of.last_token, span_color(RequestSpanKind::Answer));
    if (of.refused) bar(of.arrival, of.arrival, colors.bad);
  }
  const double all = rowHeight(areas) * static_cast<double>(run_->order.size());
  const QRectF frame(area.left() + view_.from * second, area.top() + area.height() * view_.top / all,
                     (view_.to - view_.from) * second, area.height() * areas.rows.height() / all);
  painter.setPen(QPen(colors.accent, 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(frame.intersected(area).adjusted(0.5, 0.5, -0.5, -0.5));
}

QString RequestTimeline::rowsText(const Areas& areas) const {
  const auto all = static_cast<int>(run_->order.size());
  const int first = static_cast<int>(view_.top / rowHeight(areas));
  const int last = std::min(all, static_cast<int>((view_.top + areas.rows.height()) / rowHeight(areas)));
  return first == 0 && last == all ? tr("requests")
                                   : tr("requests\n%1–%2\nof %3")
                                         .arg(grouped_text(first + 1), grouped_text(last), grouped_text(all));
}

void RequestTimeline::paintUse(QPainter& painter, const Areas& areas) const {
  const Colors& colors = Theme::instance().colors();
  const auto blocks = static_cast<double>(run_->run->simulation.usable_blocks);
  const auto sequences = static_cast<double>(std::max<int64_t>(1, most_sequences(run_->run->spec.engine)));
  const double second = areas.steps.width() / (view_.to - view_.from);  // pixels
  QPolygonF running;
  for (double x = areas.steps.left(); x < areas.steps.right(); ++x) {
    const StepTotals of = steps().between(secondsAt(areas, x), secondsAt(areas, x + 1));
    const double height = areas.steps.height();
    const double prompts = height * std::min(1.0, of.prompts * second);
    const double decode = std::min(height - prompts, height * of.decode * second);
    painter.fillRect(QRectF(x, areas.steps.bottom() - prompts, 1, prompts), colors.parameters);
    painter.fillRect(QRectF(x, areas.steps.bottom() - prompts - decode, 1, decode), colors.gradients);
    const double used = blocks > 0 ? areas.use.height() * of.blocks / blocks : 0;
    painter.fillRect(QRectF(x, areas.use.bottom() - used, 1, used), colors.kv_cache);
    running << QPointF(x + 0.5, areas.use.bottom() - areas.use.height() * of.running / sequences);
  }
  painter.setPen(QPen(colors.text, 1.2));
  painter.drawPolyline(running);
}

// The selected step: a frame in the row of steps, and a line through the rows of requests.
void RequestTimeline::paintStep(QPainter& painter, const Areas& areas) const {
  const StepRecord* step = selectedStep();
  if (!step) return;
  const double left = place(areas, step->begin), right = place(areas, step->begin + step->seconds);
  if (right < areas.steps.left() || left > areas.steps.right()) return;
  painter.save();
  painter.setClipRect(QRectF(areas.rows.topLeft(), areas.use.bottomRight()).adjusted(-2, 0, 2, 0));
  QColor wash = Theme::instance().colors().accent;
  wash.setAlphaF(0.18F);
  painter.fillRect(QRectF(left, areas.rows.top(), std::max(kLeastBar, right - left),
                          areas.use.bottom() - areas.rows.top()),
                   wash);
  painter.setPen(QPen(Theme::instance().colors().accent, 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(
      QRectF(left, areas.steps.top() - 1, std::max(2.0, right - left), areas.steps.height() + 1));
  painter.restore();
}

void RequestTimeline::paintLabels(QPainter& painter, const QRectF& rect, const Areas& areas) const {
  const Colors& colors = Theme::instance().colors();
  painter.setPen(colors.secondary);
  const auto label = [&](const QRectF& next_to, const QString& text) {
    painter.drawText(QRectF(rect.left() + 4, next_to.top(), kLeft - 12, next_to.height()),
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextWordWrap, text);
  };
  label(QRectF(areas.rows.topLeft(), QSizeF(1, 54)), rowsText(areas));
  label(areas.steps, run_->run->spec.replicas > 1 ? tr("engine %1").arg(replica() + 1) : tr("steps"));
  label(areas.use, tr("cache, sequences"));
  paint_legend(painter, legend(), rect.right() - kRight, rect.top() + 12);
}

// Of the kinds of spans that the run has.
std::vector<LegendEntry> RequestTimeline::legend() const {
  const Colors& colors = Theme::instance().colors();
  const RequestSimulation& simulation = run_->run->simulation;
  const auto any = [&](auto&& has) {
    return std::any_of(simulation.requests.begin(), simulation.requests.end(), has);
  };
  std::vector<LegendEntry> out{{tr("queued"), span_color(RequestSpanKind::Queued)}};
  if (any([](const RequestRecord& record) { return record.load_end > 0; }))
    out.push_back({tr("loads the cache"), span_color(RequestSpanKind::Load)});
  out.push_back({tr("chunk"), span_color(RequestSpanKind::Chunk)});
  if (any([](const RequestRecord& record) { return record.prefill_replica >= 0; })) {
    out.push_back({tr("transfer wait"), span_color(RequestSpanKind::TransferWait)});
    out.push_back({tr("KV transfer"), span_color(RequestSpanKind::Transfer)});
  }
  out.push_back({tr("answer"), span_color(RequestSpanKind::Answer)});
  if (!simulation.preemptions.empty())
    out.push_back({tr("preempted"), span_color(RequestSpanKind::Preempted)});
  out.push_back({tr("cache"), colors.kv_cache});
  out.push_back({tr("sequences"), colors.text});
  return out;
}

void RequestTimeline::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!ready()) return;
  const Colors& colors = Theme::instance().colors();
  const Areas areas = areasIn(rect);
  painter.setFont(Theme::instance().uiFont(11));
  const ValueScale unit = seconds_scale(view_.to - view_.from);
  const QRectF all(areas.rows.topLeft(), areas.use.bottomRight());
  paint_x_axis(painter, linear_scale(view_.from, view_.to, unit.divisor), all, kTicksApart);
  painter.setPen(colors.secondary);
  painter.drawText(QRectF(rect.left() + 4, all.bottom() + 4, kLeft - 12, 15), Qt::AlignRight, unit.unit);
  paintRows(painter, areas);
  paintOverview(painter, areas, ground);
  for (const QRectF& area : {areas.steps, areas.use})
    painter.fillRect(QRectF(area.left(), area.bottom(), area.width(), 1), colors.line);
  paintUse(painter, areas);
  paintStep(painter, areas);
  paintLabels(painter, rect, areas);
}

QString RequestTimeline::tipOfStep(const StepRecord& step) const {
  QStringList parts{tr("Step of %1").arg(seconds_text(step.seconds))};
  if (step.prefill_tokens > 0)
    parts << counted_text(step.prefill_tokens, tr("prompt token"), tr("prompt tokens"));
  if (step.decode_sequences > 0)
    parts << tr("%1 decode").arg(counted_text(step.decode_sequences, tr("sequence"), tr("sequences")));
  QString out = parts.join(QStringLiteral(" · "));
  out += u'\n' + tr("%1 of %2 sequences run")
                     .arg(grouped_text(step.running), grouped_text(most_sequences(run_->run->spec.engine)));
  if (const int64_t blocks = run_->run->simulation.usable_blocks; blocks > 0)
    out += tr(", %1 of the cache is in use")
               .arg(percent_text(static_cast<double>(step.blocks) / static_cast<double>(blocks)));
  return out;
}

}  // namespace shardscape::ui
