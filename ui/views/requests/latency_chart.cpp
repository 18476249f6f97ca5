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

struct PartText {
  const char *name, *title;
};
constexpr PartText kParts[] = {
    {"TTFT", QT_TRANSLATE_NOOP("LatencyChart", "Time to first token, % of the requests")},
    {"TPOT", QT_TRANSLATE_NOOP("LatencyChart", "Time per output token, % of the requests")},
    {"ITL", QT_TRANSLATE_NOOP("LatencyChart", "Inter-token latency, % of the tokens")},
    {"E2E", QT_TRANSLATE_NOOP("LatencyChart", "End to end, % of the requests")}};
static_assert(std::size(kParts) == kLatencyParts);

}  // namespace

LatencyChart::LatencyChart(QWidget* parent)
    : PanelChart(QStringLiteral("latency_chart"),
                 tr("Distributions of TTFT, TPOT, ITL and end-to-end latency"), parent) {}

void LatencyChart::setRun(std::shared_ptr<const ShownRun> run, std::vector<Other> others) {
  run_ = std::move(run);
  others_ = std::move(others);
  setMessage(run_ ? tr("No request was answered.") : QString());
}

std::optional<double> LatencyChart::limit(int part) const {
  if (!run_) return std::nullopt;
  const RequestLimits limits = request_limits(run_->run->spec);
  switch (static_cast<Part>(part)) {
    case Ttft: return limits.ttft;
    case Tpot: return limits.tpot;
    case Itl: return std::nullopt;
    case E2e: return limits.e2e;
  }
  return std::nullopt;
}

double LatencyChart::shareWithin(int part, double seconds) const {
  return run_ ? run_->latencies[part].shareWithin(seconds) : 0;
}

PlotPanel LatencyChart::panelIn(const QRectF& rect, int part) const {
  const double width = rect.width() / 2, height = rect.height() / 2;
  PlotPanel out;
  out.title = tr(kParts[part].title);
  out.plot = plot_in(
      QRectF(rect.left() + width * (part % 2), rect.top() + height * (part / 2), width, height));
  ValueColumn x;
  x.label = QString::fromLatin1(kParts[part].name);
  x.measure = Measure::Seconds;
  x.low = 0;
  x.high = 1;
  bool any = false;
  const auto cover = [&](const Latencies& of) {
    const std::vector<double>& all = of.seconds;
    if (all.empty()) return;
    x.low = any ? std::min(x.low, all.front()) : all.front();
    x.high = any ? std::max(x.high, all.back()) : all.back();
    any = true;
  };
  cover(run_->latencies[part]);
  for (const Other& other : others_) cover(other.run->latencies[part]);
  std::vector<double> also;
  if (const auto most = limit(part)) also.push_back(*most);
  out.x = scale_of(x, UnitSystem::Binary, also);
  out.y = linear_scale(0, 1, 0.01);
  return out;
}

// The share at every half pixel: as many points for a million requests as for a thousand.
void LatencyChart::paintLine(QPainter& painter, const PlotPanel& panel, const Latencies& of) const {
  const std::vector<double>& all = of.seconds;
  if (all.empty()) return;
  QPolygonF line{panel.at(all.front(), 0)};
  const double end = panel.at(all.back(), 1).x();
  for (double x = line.front().x(); x < end; x += 0.5) {
    const double share = of.shareWithin(panel.valueAt(x));
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
    if (run_->latencies[part].seconds.empty()) continue;
    const PlotPanel panel = panelIn(rect, part);
    paint_axes(painter, panel);
    painter.setRenderHint(QPainter::Antialiasing);
    if (const auto most = limit(part))
      paint_limit_x(
          painter, panel, *most,
          tr("%1 within %2").arg(percent_text(shareWithin(part, *most)), text_of(limit_text(*most))), ground);
    painter.setBrush(Qt::NoBrush);
    for (const Other& other : others_) {
      painter.setPen(design_pen(other.member, 1.6));
      paintLine(painter, panel, other.run->latencies[part]);
    }
    painter.setPen(others_.empty() ? QPen(Theme::instance().colors().accent, 2) : design_pen(0, 2));
    paintLine(painter, panel, run_->latencies[part]);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  if (others_.empty()) return;
  const std::vector<int> members = members_of(others_, {0});
  const QRectF last = panelIn(rect, Tpot).plot;
  paint_design_legend(painter, {last.right() - design_legend_width(members.size()), rect.top() + 12},
                      members);
}

QString LatencyChart::tipIn(const PlotPanel& panel, int part, const QPointF& at) const {
  if (run_->latencies[part].seconds.empty()) return {};
  const double seconds = panel.valueAt(at.x());
  const auto words = [&](const Latencies& of) {
    return (part == Itl ? tr("%1 of the tokens have an %2 of at most %3")
                        : tr("%1 of the requests have a %2 of at most %3"))
        .arg(percent_text(of.shareWithin(seconds)), QString::fromLatin1(kParts[part].name),
             seconds_text(seconds));
  };
  const QString own = words(run_->latencies[part]);
  if (others_.empty()) return own;
  QStringList lines{of_design(0, own)};
  for (const Other& other : others_) lines << of_design(other.member, words(other.run->latencies[part]));
  return lines.join(u'\n');
}

}  // namespace shardscape::ui
