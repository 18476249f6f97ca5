#include "ui/views/requests/request_timeline.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/plot/axis_paint.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/requests/plot_panel.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 76, kTop = 24, kRight = 12, kBottom = 22;
constexpr double kSteps = 20, kUse = 46, kGap = 6;
constexpr double kThinnest = 7, kThickest = 18, kTicksApart = 70;
constexpr double kLeastBar = 1;  // pixels

}  // namespace

// Shares of the column's time, and the most that its steps used.
struct RequestTimeline::Column {
  double prompts = 0, decode = 0;
  int32_t blocks = 0, running = 0;
};

RequestTimeline::Areas RequestTimeline::areasIn(const QRectF& rect) {
  Areas out;
  const double left = rect.left() + kLeft, width = std::max(1.0, rect.width() - kLeft - kRight);
  const double bottom = rect.bottom() - kBottom;
  out.use = QRectF(left, bottom - kUse, width, kUse);
  out.steps = QRectF(left, out.use.top() - kGap - kSteps, width, kSteps);
  const double top = rect.top() + kTop;
  out.rows = QRectF(left, top, width, std::max(1.0, out.steps.top() - kGap - top));
  return out;
}

double RequestTimeline::rowHeight(const Areas& areas) const {
  return std::clamp(areas.rows.height() / static_cast<double>(std::max<size_t>(1, order_.size())), kThinnest,
                    kThickest);
}

double RequestTimeline::place(const Areas& areas, double seconds) const {
  return areas.rows.left() + areas.rows.width() * (seconds - view_.from) / (view_.to - view_.from);
}

double RequestTimeline::secondsAt(const Areas& areas, double x) const {
  return view_.from + (x - areas.rows.left()) / areas.rows.width() * (view_.to - view_.from);
}

QRectF RequestTimeline::rowIn(const Areas& areas, int request) const {
  const RequestRecord& record = run_->simulation.requests[static_cast<size_t>(request)];
  const double height = rowHeight(areas), left = place(areas, record.arrival);
  const double right = place(areas, std::max(record.arrival, record.last_token));
  return {left, areas.rows.top() + height * row_[static_cast<size_t>(request)] - view_.top,
          std::max(kLeastBar, right - left), height};
}

QRectF RequestTimeline::rowOf(int request) const { return rowIn(areasIn(QRectF(rect())), request); }

std::vector<RequestTimeline::Column> RequestTimeline::columns(const Areas& areas) const {
  std::vector<Column> out(static_cast<size_t>(std::ceil(areas.steps.width())));
  const auto replica = static_cast<size_t>(this->replica());
  if (replica >= steps_.size()) return out;
  const std::vector<const StepRecord*>& all = steps_[replica];
  auto at = std::lower_bound(all.begin(), all.end(), view_.from, [](const StepRecord* step, double seconds) {
    return step->begin + step->seconds < seconds;
  });
  for (; at != all.end() && (*at)->begin < view_.to; ++at) {
    const StepRecord& step = **at;
    const double left = place(areas, step.begin) - areas.steps.left();
    const double right = place(areas, step.begin + step.seconds) - areas.steps.left();
    const auto first = static_cast<size_t>(std::max(0.0, std::floor(left)));
    for (size_t i = first; i < out.size() && static_cast<double>(i) < right; ++i) {
      const auto x = static_cast<double>(i);
      const double share = std::min(right, x + 1) - std::max(left, x);
      (step.prefill_tokens > 0 ? out[i].prompts : out[i].decode) += share;
      out[i].blocks = std::max(out[i].blocks, step.blocks);
      out[i].running = std::max(out[i].running, step.running);
    }
  }
  return out;
}

void RequestTimeline::paintRow(QPainter& painter, const Areas& areas, int request) const {
  const Colors& colors = Theme::instance().colors();
  const RequestRecord& record = run_->simulation.requests[static_cast<size_t>(request)];
  const QRectF row = rowIn(areas, request);
  if (request == selected_ || request == hovered_)
    painter.fillRect(QRectF(areas.rows.left(), row.top(), areas.rows.width(), row.height()),
                     request == selected_ ? colors.accent_soft : colors.line);
  if (record.end != RequestEnd::Finished)
    return painter.fillRect(QRectF(row.left(), row.top() + 1, 3, row.height() - 2), colors.bad);
  const struct {
    double begin, end;
    QColor ink;
  } parts[] = {{record.arrival, record.scheduled, colors.idle},
               {record.scheduled, record.first_token, colors.parameters},
               {record.first_token, record.last_token, colors.gradients}};
  for (const auto& part : parts) {
    if (part.end <= part.begin) continue;
    const double left = std::max(areas.rows.left(), place(areas, part.begin));
    const double right = std::min(areas.rows.right(), place(areas, part.end));
    if (right < areas.rows.left() || left > areas.rows.right()) continue;
    painter.fillRect(QRectF(left, row.top() + 1, std::max(kLeastBar, right - left), row.height() - 2),
                     part.ink);
  }
}

void RequestTimeline::paintRows(QPainter& painter, const Areas& areas) const {
  painter.save();
  painter.setClipRect(areas.rows);
  const double height = rowHeight(areas);
  const auto first = static_cast<size_t>(std::max(0.0, std::floor(view_.top / height)));
  for (size_t i = first; i < order_.size(); ++i) {
    if (static_cast<double>(i) * height - view_.top > areas.rows.height()) break;
    paintRow(painter, areas, order_[i]);
  }
  painter.restore();
}

void RequestTimeline::paintUse(QPainter& painter, const Areas& areas) const {
  const Colors& colors = Theme::instance().colors();
  const std::vector<Column> all = columns(areas);
  const auto blocks = static_cast<double>(run_->simulation.usable_blocks);
  const auto sequences = static_cast<double>(std::max<int64_t>(1, most_sequences(run_->spec.engine)));
  QPolygonF running;
  for (size_t i = 0; i < all.size(); ++i) {
    const Column& column = all[i];
    const double x = areas.steps.left() + static_cast<double>(i), height = areas.steps.height();
    const double prompts = height * std::min(1.0, column.prompts);
    const double decode = std::min(height - prompts, height * column.decode);
    painter.fillRect(QRectF(x, areas.steps.bottom() - prompts, 1, prompts), colors.parameters);
    painter.fillRect(QRectF(x, areas.steps.bottom() - prompts - decode, 1, decode), colors.gradients);
    const double used = blocks > 0 ? areas.use.height() * column.blocks / blocks : 0;
    painter.fillRect(QRectF(x, areas.use.bottom() - used, 1, used), colors.kv_cache);
    running << QPointF(x + 0.5, areas.use.bottom() - areas.use.height() * column.running / sequences);
  }
  painter.setPen(QPen(colors.text, 1.2));
  painter.drawPolyline(running);
}

void RequestTimeline::paintLabels(QPainter& painter, const QRectF& rect, const Areas& areas) const {
  const Colors& colors = Theme::instance().colors();
  painter.setPen(colors.secondary);
  const auto label = [&](const QRectF& next_to, const QString& text) {
    painter.drawText(QRectF(rect.left() + 4, next_to.top(), kLeft - 12, next_to.height()),
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextWordWrap, text);
  };
  label(QRectF(areas.rows.topLeft(), QSizeF(1, 18)), tr("requests"));
  label(areas.steps, tr("steps"));
  label(areas.use, tr("cache, sequences"));
  const auto replicas = run_->spec.replicas;
  if (replicas > 1)
    painter.drawText(QRectF(rect.left() + 4, rect.top() + 4, 160, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("engine %1 of %2").arg(replica() + 1).arg(replicas));
  paint_legend(painter,
               {{tr("queued"), colors.idle},
                {tr("prompt"), colors.parameters},
                {tr("answer"), colors.gradients},
                {tr("cache"), colors.kv_cache},
                {tr("sequences"), colors.text}},
               areas.rows.right(), rect.top() + 12);
}

void RequestTimeline::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
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
  for (const QRectF& area : {areas.steps, areas.use})
    painter.fillRect(QRectF(area.left(), area.bottom(), area.width(), 1), colors.line);
  paintUse(painter, areas);
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
                     .arg(grouped_text(step.running), grouped_text(most_sequences(run_->spec.engine)));
  if (const int64_t blocks = run_->simulation.usable_blocks; blocks > 0)
    out += tr(", %1 of the cache is in use")
               .arg(percent_text(static_cast<double>(step.blocks) / static_cast<double>(blocks)));
  return out;
}

}  // namespace shardscape::ui
