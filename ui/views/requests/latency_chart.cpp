#include "ui/views/requests/latency_chart.h"

#include <QPainter>
#include <algorithm>

#include "serving/service_limits.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {

LatencyChart::LatencyChart(QWidget* parent)
    : Canvas(QStringLiteral("latency_chart"), tr("Distributions of TTFT and TPOT"), parent) {}

void LatencyChart::setRun(std::shared_ptr<const ServiceRun> run) {
  run_ = std::move(run);
  for (std::vector<double>& values : seconds_) values.clear();
  for (size_t i = 0; run_ && i < run_->simulation.requests.size(); ++i) {
    const RequestRecord& record = run_->simulation.requests[i];
    const int32_t output = run_->workload.requests[i].output;
    if (record.end != RequestEnd::Finished) continue;
    seconds_[Ttft].push_back(record.first_token - record.arrival);
    if (output > 1) seconds_[Tpot].push_back((record.last_token - record.first_token) / (output - 1));
  }
  for (std::vector<double>& values : seconds_) std::sort(values.begin(), values.end());
  setMessage(run_ ? tr("No request was answered.") : QString());
}

std::optional<double> LatencyChart::limit(Part part) const {
  if (!run_) return std::nullopt;
  const RequestLimits limits = request_limits(run_->spec);
  return part == Ttft ? limits.ttft : limits.tpot;
}

double LatencyChart::shareWithin(Part part, double seconds) const {
  const std::vector<double>& all = seconds_[part];
  if (all.empty()) return 0;
  const auto within = std::upper_bound(all.begin(), all.end(), seconds) - all.begin();
  return static_cast<double>(within) / static_cast<double>(all.size());
}

PlotPanel LatencyChart::panelIn(const QRectF& rect, Part part) const {
  const double half = rect.width() / 2;
  const std::vector<double>& all = seconds_[part];
  PlotPanel out;
  out.title = part == Ttft ? tr("Time to first token") : tr("Time per output token");
  out.plot = plot_in(QRectF(rect.left() + (part == Ttft ? 0 : half), rect.top(), half, rect.height()));
  ValueColumn x;
  x.label = part == Ttft ? tr("TTFT") : tr("TPOT");
  x.measure = Measure::Seconds;
  x.low = all.empty() ? 0 : all.front();
  x.high = all.empty() ? 1 : all.back();
  std::vector<double> also;
  if (const auto most = limit(part)) also.push_back(*most);
  out.x = scale_of(x, UnitSystem::Binary, also);
  out.y = linear_scale(0, 1, 0.01);
  return out;
}

void LatencyChart::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  painter.setFont(Theme::instance().uiFont(11));
  for (const Part part : {Ttft, Tpot}) {
    const std::vector<double>& all = seconds_[part];
    if (all.empty()) continue;
    PlotPanel panel = panelIn(rect, part);
    panel.title += tr(", % of the requests");
    paint_axes(painter, panel);
    painter.setRenderHint(QPainter::Antialiasing);
    if (const auto most = limit(part))
      paint_limit_x(
          painter, panel, *most,
          tr("%1 within %2").arg(percent_text(shareWithin(part, *most)), text_of(limit_text(*most))), ground);
    QPolygonF line{panel.at(all.front(), 0)};
    for (size_t i = 0; i < all.size(); ++i) {
      const QPointF next = panel.at(all[i], static_cast<double>(i + 1) / static_cast<double>(all.size()));
      // At most one point per half pixel; the last one always.
      if (i + 1 == all.size() || next.x() > line.last().x() + 0.5 || next.y() < line.last().y() - 0.5)
        line << next;
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(Theme::instance().colors().accent, 2));
    painter.drawPolyline(line);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
}

QString LatencyChart::tipAt(const QPointF& at) const {
  for (const Part part : {Ttft, Tpot}) {
    const PlotPanel shown = panel(part);
    if (seconds_[part].empty() || !shown.plot.contains(at)) continue;
    const double seconds = shown.valueAt(at.x());
    return tr("%1 of the requests have a %2 of at most %3")
        .arg(percent_text(shareWithin(part, seconds)), part == Ttft ? tr("TTFT") : tr("TPOT"),
             seconds_text(seconds));
  }
  return {};
}

}  // namespace shardscape::ui
