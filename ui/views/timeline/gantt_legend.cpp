#include "ui/views/timeline/gantt_legend.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/plot/bar_paint.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("GanttLegend", text); }

}  // namespace

void paint_gantt_legend(QPainter& painter, const QRectF& rect, const GanttSteps& steps,
                        const QColor& ground) {
  const Theme& theme = Theme::instance();
  std::vector<BarSeries> entries;
  const auto any = [&](const auto& of) {
    return std::any_of(steps.begin(), steps.end(), [&](const GanttStep& step) { return of(*step.lanes); });
  };
  const auto has = [&](Pass pass) { return any([&](const Lanes& lanes) { return lanes.has(pass); }); };
  const auto has_stream = [&](StreamKind stream) {
    return any([&](const Lanes& lanes) {
      for (int s = 0; s < lanes.stages(); ++s)
        for (const StreamLane& lane : lanes.of(s))
          if (lane.stream == stream) return true;
      return false;
    });
  };
  if (has(Pass::Forward)) entries.push_back({tr("forward"), theme.spanColor(SpanKind::Forward)});
  if (has(Pass::Backward)) entries.push_back({tr("backward"), theme.spanColor(SpanKind::Backward)});
  if (any([](const Lanes& lanes) { return lanes.has_recompute(); }))
    entries.push_back({tr("recompute"), theme.spanColor(SpanKind::Recompute), BarFill::Dotted});
  if (has(Pass::WeightGradient))
    entries.push_back({tr("weight grad (w)"), theme.spanColor(SpanKind::BackwardWeight)});
  if (has(Pass::Optimizer)) entries.push_back({tr("optimizer"), theme.spanColor(SpanKind::Optimizer)});
  if (has_stream(StreamKind::DataComm))
    entries.push_back({tr("sync"), theme.spanColor(SpanKind::Collective)});
  if (has_stream(StreamKind::PipelineComm))
    entries.push_back({tr("messages"), theme.spanColor(SpanKind::Send)});
  if (has_stream(StreamKind::Host)) entries.push_back({tr("host"), theme.spanColor(SpanKind::Store)});
  painter.setFont(theme.uiFont(11));
  const QFontMetricsF metrics(painter.font());
  double x = rect.left();
  for (const BarSeries& entry : entries) {
    const double advance = metrics.horizontalAdvance(entry.label);
    if (x + 14 + advance > rect.right()) return;
    fill_bar(painter, QRectF(x, rect.center().y() - 4.5, 9, 9), entry, ground);
    painter.setPen(theme.colors().secondary);
    painter.drawText(QPointF(x + 13, rect.center().y() + metrics.capHeight() / 2), entry.label);
    x += 13 + advance + 14;
  }
}

}  // namespace shardscape::ui
