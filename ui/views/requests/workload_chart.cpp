#include "ui/views/requests/workload_chart.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kHeadroom = 1.06;
constexpr double kLeastLengths = 5;  // tokens: the shortest axis of lengths

// A bin of one length lies around its number.
double shift_of(const Histogram& lengths) { return lengths.width == 1 ? 0.5 : 0; }

QString number(double value) { return text_of(significant(value)); }

}  // namespace

WorkloadChart::WorkloadChart(QWidget* parent)
    : PanelChart(QStringLiteral("workload_chart"), tr("Arrivals and lengths of the requests"), parent) {}

void WorkloadChart::setRun(std::shared_ptr<const ShownRun> run) {
  run_ = std::move(run);
  update();
}

double WorkloadChart::figure(int part, size_t bin) const {
  const Histogram& of = counts(part);
  return part == Arrivals ? of.counts[bin] / of.width : of.counts[bin];
}

PlotPanel WorkloadChart::panelIn(const QRectF& rect, int part) const {
  const double half = rect.height() / 2, middle = rect.width() / 2;
  const QRectF areas[] = {QRectF(rect.left(), rect.top(), rect.width(), half),
                          QRectF(rect.left(), rect.top() + half, middle, half),
                          QRectF(rect.left() + middle, rect.top() + half, middle, half)};
  const QString titles[] = {tr("Arrivals, requests/s"), tr("Prompts, requests"), tr("Answers, requests")};
  const Histogram& of = counts(part);
  PlotPanel out;
  out.title = titles[part];
  out.plot = plot_in(areas[part]);
  const double end = of.begin(of.counts.size());
  const ValueScale unit = part == Arrivals ? seconds_scale(end) : ValueScale();
  if (part == Arrivals) {
    out.x = linear_scale(of.low, end, unit.divisor);
  } else {
    const double margin = std::max(0.0, (kLeastLengths - (end - of.low)) / 2);
    out.x = linear_scale(of.low - shift_of(of) - margin, end - shift_of(of) + margin);
    out.x.least_step = 1;
  }
  out.x.title = part == Arrivals ? tr("time, %1").arg(unit.unit) : tr("tokens");
  double most = 0;
  for (size_t bin = 0; bin < of.counts.size(); ++bin) most = std::max(most, figure(part, bin));
  out.y = linear_scale(0, std::max(most, 1e-9) * kHeadroom);
  return out;
}

void WorkloadChart::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
  const Colors& colors = Theme::instance().colors();
  const QColor inks[] = {colors.accent, colors.parameters, colors.gradients};
  painter.setFont(Theme::instance().uiFont(11));
  for (int part = 0; part < panels(); ++part) {
    const PlotPanel panel = panelIn(rect, part);
    paint_axes(painter, panel);
    const Histogram& of = counts(part);
    const double shift = part == Arrivals ? 0 : shift_of(of);
    for (size_t bin = 0; bin < of.counts.size(); ++bin) {
      const QPointF top = panel.at(of.begin(bin) - shift, figure(part, bin));
      const double right = panel.at(of.begin(bin + 1) - shift, 0).x(), gap = right - top.x() > 4 ? 1 : 0;
      painter.fillRect(QRectF(top, QPointF(right - gap, panel.plot.bottom())), inks[part]);
    }
  }
}

QString WorkloadChart::tipIn(const PlotPanel& panel, int part, const QPointF& at) const {
  const Histogram& of = counts(part);
  const int bin = of.binAt(panel.valueAt(at.x()) + (part == Arrivals ? 0 : shift_of(of)));
  if (bin < 0) return {};
  const auto i = static_cast<size_t>(bin);
  const QString requests = counted_text(of.counts[i], tr("request"), tr("requests"));
  if (part == Arrivals)
    return tr("%1 from %2 to %3\n%4 requests/s")
        .arg(requests, seconds_text(of.begin(i)), seconds_text(of.begin(i + 1)), number(figure(part, i)));
  const auto first = static_cast<Wide>(of.begin(i)), last = static_cast<Wide>(of.begin(i + 1)) - 1;
  return first == last ? tr("%1 of %2 tokens").arg(requests, grouped_text(first))
                       : tr("%1 of %2 to %3 tokens").arg(requests, grouped_text(first), grouped_text(last));
}

}  // namespace shardscape::ui
