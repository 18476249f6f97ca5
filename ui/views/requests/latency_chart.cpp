#include "ui/views/requests/latency_chart.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "serving/service_limits.h"
#include "ui/plot/design_overlay.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// The share of ascending values that are at most `value`.
double share_within(const std::vector<double>& all, double value) {
  if (all.empty()) return 0;
  const auto within = std::upper_bound(all.begin(), all.end(), value) - all.begin();
  return static_cast<double>(within) / static_cast<double>(all.size());
}

}  // namespace

LatencyChart::LatencyChart(QWidget* parent)
    : PanelChart(QStringLiteral("latency_chart"), tr("Distributions of TTFT and TPOT"), parent) {}

void LatencyChart::setRun(std::shared_ptr<const ShownRun> run, std::vector<Other> others) {
  run_ = std::move(run);
  others_ = std::move(others);
  setMessage(run_ ? tr("No request was answered.") : QString());
}

std::optional<double> LatencyChart::limit(int part) const {
  if (!run_) return std::nullopt;
  const RequestLimits& limits = run_->run->spec.limits;
  return part == Ttft ? limits.ttft : limits.tpot;
}

double LatencyChart::shareWithin(int part, double seconds) const {
  return run_ ? share_within(run_->seconds[part], seconds) : 0;
}

PlotPanel LatencyChart::panelIn(const QRectF& rect, int part) const {
  const double half = rect.width() / 2;
  PlotPanel out;
  out.title = part == Ttft ? tr("Time to first token") : tr("Time per output token");
  out.plot = plot_in(QRectF(rect.left() + (part == Ttft ? 0 : half), rect.top(), half, rect.height()));
  ValueColumn x;
  x.label = part == Ttft ? tr("TTFT") : tr("TPOT");
  x.measure = Measure::Seconds;
  x.low = 0;
  x.high = 1;
  bool any = false;
  const auto cover = [&](const std::vector<double>& all) {
    if (all.empty()) return;
    x.low = any ? std::min(x.low, all.front()) : all.front();
    x.high = any ? std::max(x.high, all.back()) : all.back();
    any = true;
  };
  cover(run_->seconds[part]);
  for (const Other& other : others_) cover(other.run->seconds[part]);
  std::vector<double> also;
  if (const auto most = limit(part)) also.push_back(*most);
  out.x = scale_of(x, UnitSystem::Binary, also);
  out.y = linear_scale(0, 1, 0.01);
  return out;
}

// The share at every half pixel: as many points for a million requests as for a thousand.
void LatencyChart::paintLine(QPainter& painter, const PlotPanel& panel,
                             const std::vector<double>& all) const {
  if (all.empty()) return;
  QPolygonF line{panel.at(all.front(), 0)};
  const double end = panel.at(all.back(), 1).x();
  for (double x = line.front().x(); x < end; x += 0.5) {
    const double share = share_within(all, panel.valueAt(x));
    const QPointF next(x, panel.at(all.front(), share).y());
    if (next.y() == line.last().y() && line.size() > 2 && line[line.size() - 2].y() == next.y())
      line.last() = next;
    else
      line << next;
  }
  line << panel.at(all.back(), 1);
  painter.drawPolyline(line);
}

void LatencyChart::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  painter.setFont(Theme::instance().uiFont(11));
  for (int part = 0; part < panels(); ++part) {
    if (run_->seconds[part].empty()) continue;
    PlotPanel panel = panelIn(rect, part);
    panel.title += tr(", % of the requests");
    paint_axes(painter, panel);
    painter.setRenderHint(QPainter::Antialiasing);
    if (const auto most = limit(part))
      paint_limit_x(
          painter, panel, *most,
          tr("%1 within %2").arg(percent_text(shareWithin(part, *most)), text_of(limit_text(*most))), ground);
    painter.setBrush(Qt::NoBrush);
    for (const Other& other : others_) {
      painter.setPen(design_pen(other.member, 1.6));
      paintLine(painter, panel, other.run->seconds[part]);
    }
    painter.setPen(others_.empty() ? QPen(Theme::instance().colors().accent, 2) : design_pen(0, 2));
    paintLine(painter, panel, run_->seconds[part]);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  if (others_.empty()) return;
  const std::vector<int> members = members_of(others_, {0});
  const QRectF last = panelIn(rect, Tpot).plot;
  paint_design_legend(painter, {last.right() - design_legend_width(members.size()), rect.top() + 12},
                      members);
}

QString LatencyChart::tipIn(const PlotPanel& panel, int part, const QPointF& at) const {
  if (run_->seconds[part].empty()) return {};
  const double seconds = panel.valueAt(at.x());
  const auto words = [&](const std::vector<double>& all) {
    return tr("%1 of the requests have a %2 of at most %3")
        .arg(percent_text(share_within(all, seconds)), part == Ttft ? tr("TTFT") : tr("TPOT"),
             seconds_text(seconds));
  };
  const QString own = words(run_->seconds[part]);
  if (others_.empty()) return own;
  QStringList lines{of_design(0, own)};
  for (const Other& other : others_) lines << of_design(other.member, words(other.run->seconds[part]));
  return lines.join(u'\n');
}

}  // namespace shardscape::ui
