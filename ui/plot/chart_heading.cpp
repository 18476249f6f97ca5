#include "ui/plot/chart_heading.h"

#include "ui/plot/bar_paint.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kSwatch = 10, kSwatchGap = 5, kEntryGap = 12, kLine = 20, kTitleLine = 26;
constexpr double kLimitLine = 19;  // length of the sample line: three dashes
constexpr double kUnitGap = 18;    // from the unit to the legend, as from the numbers to the bars

QFont legend_font() { return Theme::instance().uiFont(12); }

}  // namespace

ChartHeading::ChartHeading(QCustomPlot* plot) : QCPLayoutElement(plot) {
  setAutoMargins(QCP::msNone);
  setMargins({});
}

// The legend starts above the plot's left edge. The unit is above the axis numbers, in the last line of the
// legend.
double ChartHeading::legendLeft() const { return axes_ ? axes_->left() - mRect.left() + 10 : 50; }

ChartHeading::Flow ChartHeading::flow(double width) const {
  Flow flow;
  const QFontMetricsF metrics(legend_font());
  const double left = legendLeft();
  double x = left, y = (title_shown_ ? kTitleLine : 0) + kLine / 2;
  for (const BarSeries& entry : data_->legend) {
    const double advance = kSwatch + kSwatchGap + metrics.horizontalAdvance(entry.label);
    if (x > left && x + advance > width) {
      x = left;
      y += kLine;
    }
    flow.entries.push_back({{x, y}, &entry});
    x += advance + kEntryGap;
  }
  if (data_->limit) {
    flow.limit = data_->limitShown() ? data_->limit->label
                                     : QObject::tr("%1 is above this axis").arg(data_->limit->label);
    if (x > left && x + kLimitLine + kSwatchGap + metrics.horizontalAdvance(flow.limit) > width) {
      x = left;
      y += kLine;
    }
    flow.limit_place = {x, y};
  }
  flow.height = y + kLine / 2;
  return flow;
}

QSize ChartHeading::minimumOuterSizeHint() const {
  if (!data_ || !mParentPlot) return {50, static_cast<int>(kLine)};
  const QMargins margins = mParentPlot->plotLayout()->margins();
  return {
      50,
      static_cast<int>(flow(mParentPlot->viewport().width() - margins.left() - margins.right()).height) + 4};
}

QSize ChartHeading::maximumOuterSizeHint() const {
  return {QWIDGETSIZE_MAX, minimumOuterSizeHint().height()};
}

void ChartHeading::draw(QCPPainter* painter) {
  if (!data_) return;
  const Colors& colors = Theme::instance().colors();
  const QPointF origin = mRect.topLeft();
  if (title_shown_) {
    painter->setFont(Theme::instance().uiFont(14, QFont::DemiBold));
    painter->setPen(colors.text);
    painter->drawText(QRectF(origin, QSizeF(mRect.width(), kTitleLine - 6)), Qt::AlignLeft | Qt::AlignVCenter,
                      data_->title);
  }
  painter->setFont(legend_font());
  const Flow legend = flow(mRect.width());
  for (const Entry& entry : legend.entries) {
    const QPointF place = origin + entry.place;
    fill_bar(*painter, QRectF(place.x(), place.y() - kSwatch / 2, kSwatch, kSwatch), *entry.series, ground_);
    painter->setPen(colors.secondary);
    painter->drawText(QRectF(place.x() + kSwatch + kSwatchGap, place.y() - kLine / 2, mRect.width(), kLine),
                      Qt::AlignLeft | Qt::AlignVCenter, entry.series->label);
  }
  if (!legend.limit.isEmpty()) {
    const QPointF place = origin + legend.limit_place;
    painter->setPen(limit_pen());
    painter->drawLine(QLineF(place, place + QPointF(kLimitLine, 0)));
    painter->setPen(readable(colors.bad, ground_));
    painter->drawText(
        QRectF(place.x() + kLimitLine + kSwatchGap, place.y() - kLine / 2, mRect.width(), kLine),
        Qt::AlignLeft | Qt::AlignVCenter, legend.limit);
  }
  painter->setFont(Theme::instance().uiFont(11));
  painter->setPen(colors.secondary);
  if (legend.entries.empty()) return;  // nothing to measure
  const QRectF unit(origin.x(), origin.y() + legend.height - kLine, legendLeft() - kUnitGap, kLine);
  painter->drawText(unit, Qt::AlignRight | Qt::AlignVCenter, data_->unit);
}

}  // namespace shardscape::ui
