#include "ui/views/requests/rate_chart.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "serving/service_limits.h"
#include "ui/plot/axis_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/plot/point_shape.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kRadius = 3.2, kReach = 24;

struct Band {
  const char* name;
  double Distribution::*value;
  double shade;  // of the ramp
};
constexpr Band kBands[] = {
    {"p50", &Distribution::p50, 0.3}, {"p90", &Distribution::p90, 0.6}, {"p99", &Distribution::p99, 1}};

QString tick_text(double rate) { return text_of(significant(rate)); }

}  // namespace

RateChart::RateChart(QWidget* parent)
    : PanelChart(QStringLiteral("rate_chart"), tr("Latency against the rate of arrivals"), parent) {}

void RateChart::setSweep(std::shared_ptr<const RateSweep> sweep) {
  sweep_ = std::move(sweep);
  setSelected(-1);
}

void RateChart::setOthers(std::vector<Other> others) {
  others_ = std::move(others);
  std::erase_if(others_, [](const Other& other) { return !other.sweep || other.sweep->points.empty(); });
  update();
}

void RateChart::setSelected(int at) {
  selected_ = at < points() ? at : -1;
  setAccessibleDescription(selected_ >= 0 ? summary(selected_) : QString());
  update();
}

void RateChart::select(int at) {
  setSelected(at);
  Q_EMIT pointSelected(selected_);
}

const Distribution& RateChart::of(int part, const RatePoint& point) {
  const ServiceResults& r = point.results;
  return part == Ttft ? r.ttft : part == Tpot ? r.tpot : r.e2e;
}

std::optional<double> RateChart::limit(int part) const {
  const RequestLimits limits = request_limits(sweep_->spec);
  return part == Ttft ? limits.ttft : part == Tpot ? limits.tpot : limits.e2e;
}

QString RateChart::nameOf(int part) {
  return part == Ttft ? tr("TTFT") : part == Tpot ? tr("TPOT") : tr("End to end");
}

PlotPanel RateChart::panelIn(const QRectF& rect, int part) const {
  const double height = rect.height() / panels();
  PlotPanel out;
  out.plot = plot_in(QRectF(rect.left(), rect.top() + height * part, rect.width(), height));
  ValueColumn y;
  y.label = nameOf(part);
  y.measure = Measure::Seconds;
  y.low = std::numeric_limits<double>::max();
  y.high = 0;
  double rate = 0;
  const auto cover = [&](const RatePoint& point, double Distribution::*value) {
    y.low = std::min(y.low, of(part, point).*value);
    y.high = std::max(y.high, of(part, point).*value);
    rate = std::max(rate, point.rate);
  };
  for (const RatePoint& point : sweep_->points)
    for (const Band& band : kBands) cover(point, band.value);
  for (const Other& other : others_)
    for (const RatePoint& point : other.sweep->points) cover(point, &Distribution::p99);
  std::vector<double> also;
  if (const auto most = limit(part)) also.push_back(*most);
  out.y = scale_of(y, UnitSystem::Binary, also);
  out.title = out.y.title;
  out.x = linear_scale(0, rate * 1.03);
  if (part == panels() - 1) out.x.title = tr("requests/s");
  return out;
}

QPointF RateChart::place(int part, int at) const {
  return panel(part).at(point(at).rate, of(part, point(at)).p99);
}

void RateChart::paintKnee(QPainter& painter, const PlotPanel& panel, const QColor& ground) const {
  if (!sweep_->knee) return;
  const Colors& colors = Theme::instance().colors();
  const double rate = point(static_cast<int>(*sweep_->knee)).rate,
               x = std::round(panel.at(rate, 0).x()) + 0.5;
  painter.setPen(QPen(colors.good, 1.4, Qt::DashLine));
  painter.drawLine(QPointF(x, panel.plot.top()), QPointF(x, panel.plot.bottom()));
  const QString text = tr("%1/s within the limits").arg(tick_text(rate));
  const double width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 6;
  const double left = std::max(panel.plot.left(), x - 4 - width);
  painter.setPen(colors.text);
  paint_veiled_text(painter, QRectF(left, panel.plot.bottom() - 18, width, 15), text, ground);
}

void RateChart::paintLine(QPainter& painter, const PlotPanel& panel, const RateSweep& sweep, int part,
                          double Distribution::*value) const {
  QPolygonF line;
  for (const RatePoint& point : sweep.points) line << panel.at(point.rate, of(part, point).*value);
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setBrush(painter.pen().color());
  for (const QPointF& at : line) painter.drawEllipse(at, kRadius - 1, kRadius - 1);
}

// The area between the 50th and the 99th percentile.
void RateChart::paintBand(QPainter& painter, const PlotPanel& panel, int part) const {
  QPolygonF area;
  for (int i = 0; i < points(); ++i) area << panel.at(point(i).rate, of(part, point(i)).p50);
  for (int i = points(); i-- > 0;) area << panel.at(point(i).rate, of(part, point(i)).p99);
  QColor wash = ramp_color(1);
  wash.setAlphaF(0.1F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(wash);
  painter.drawPolygon(area);
}

void RateChart::paintPart(QPainter& painter, const PlotPanel& panel, int part, const QColor& ground) const {
  paint_axes(painter, panel);
  painter.setRenderHint(QPainter::Antialiasing);
  if (const auto most = limit(part))
    paint_limit_y(painter, panel, *most, tr("limit %1").arg(text_of(limit_text(*most))), ground);
  paintBand(painter, panel, part);
  for (const Other& other : others_) {
    painter.setPen(design_pen(other.member, 1.4));
    paintLine(painter, panel, *other.sweep, part, &Distribution::p99);
  }
  for (const Band& band : kBands) {
    painter.setPen(QPen(ramp_color(band.shade), 1.8));
    paintLine(painter, panel, *sweep_, part, band.value);
  }
  paintKnee(painter, panel, ground);
  if (selected_ >= 0) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(Theme::instance().colors().accent, 2.2));
    for (const Band& band : kBands)
      painter.drawEllipse(panel.at(point(selected_).rate, of(part, point(selected_)).*band.value),
                          kRadius + 2, kRadius + 2);
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void RateChart::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  painter.setFont(Theme::instance().uiFont(11));
  for (int part = 0; part < panels(); ++part) paintPart(painter, panelIn(rect, part), part, ground);
  std::vector<LegendEntry> legend;
  for (const Band& band : kBands) legend.push_back({QString::fromLatin1(band.name), ramp_color(band.shade)});
  const double right = panelIn(rect, Ttft).plot.right(), middle = rect.top() + 12;
  paint_legend(painter, legend, right, middle);
  if (others_.empty()) return;
  // p50, p90 and p99 are those of the present design. The letters stand before them.
  const std::vector<int> members = members_of(others_);
  constexpr double kBandsWidth = 160;
  paint_design_legend(painter, {right - kBandsWidth - design_legend_width(members.size()), middle}, members);
}

int RateChart::pointAt(const QPointF& at) const {
  for (int part = 0; part < panels(); ++part) {
    const PlotPanel shown = panel(part);
    if (!shown.shows(at)) continue;
    int best = -1;
    double nearest = kReach;
    for (int i = 0; i < points(); ++i) {
      const double away = std::fabs(place(part, i).x() - at.x());
      if (away >= nearest) continue;
      nearest = away;
      best = i;
    }
    return best;
  }
  return -1;
}

QString RateChart::summary(int at) const {
  const RatePoint& p = point(at);
  const QString limits = !promised_level(sweep_->spec).any() ? QString()
                         : p.keeps_limits                    ? tr(", within the limits")
                                                             : tr(", over the limits");
  return tr("%1 requests/s, %2 answered/s: p99 TTFT %3, p99 TPOT %4%5")
      .arg(tick_text(p.rate), tick_text(p.results.requests_per_second), seconds_text(p.results.ttft.p99),
           seconds_text(p.results.tpot.p99), limits);
}

QString RateChart::tipIn(const PlotPanel&, int, const QPointF& at) const {
  const int i = pointAt(at);
  if (i < 0) return {};
  QStringList lines{summary(i)};
  for (int part = 0; part < panels(); ++part) {
    const Distribution& shown = of(part, point(i));
    lines << tr("%1: %2 in half of the requests, %3 in 90 %, %4 in 99 %")
                 .arg(nameOf(part), seconds_text(shown.p50), seconds_text(shown.p90),
                      seconds_text(shown.p99));
  }
  lines << tr("Double click: requests at this rate");
  return lines.join(u'\n');
}

void RateChart::click(const QPointF& at, Qt::KeyboardModifiers) { select(pointAt(at)); }

void RateChart::doubleClick(const QPointF& at) {
  if (const int i = pointAt(at); i >= 0) Q_EMIT rateRequested(point(i).rate);
}

bool RateChart::go(Way way, Qt::KeyboardModifiers) {
  const int last = points() - 1;
  switch (way) {
    case Way::Left: select(selected_ < 0 ? last : std::max(0, selected_ - 1)); return true;
    case Way::Right: select(std::min(last, selected_ + 1)); return true;
    case Way::First: select(0); return true;
    case Way::Last: select(last); return true;
    case Way::Up:
    case Way::Down:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool RateChart::activate() {
  if (selected_ >= 0) Q_EMIT rateRequested(point(selected_).rate);
  return true;
}

bool RateChart::clear() {
  select(-1);
  return true;
}

}  // namespace shardscape::ui
