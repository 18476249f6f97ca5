#include "ui/timeline/gantt_legend.h"

#include <QCoreApplication>

#include "ui/charts/bar_paint.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("GanttLegend", text); }

}  // namespace

void paint_gantt_legend(QPainter& painter, const QRectF& rect, const Lanes& lanes, const QColor& ground) {
  const Theme& theme = Theme::instance();
  std::vector<BarSeries> entries;
  if (lanes.has(Pass::Forward)) entries.push_back({tr("forward"), theme.spanColor(SpanKind::Forward)});
  if (lanes.has(Pass::Backward)) entries.push_back({tr("backward"), theme.spanColor(SpanKind::Backward)});
  if (lanes.has_recompute()) entries.push_back({tr("computed again"), theme.spanColor(SpanKind::Recompute), BarFill::Dotted});
  if (lanes.has(Pass::WeightGradient)) entries.push_back({tr("weights (w)"), theme.spanColor(SpanKind::BackwardWeight)});
  if (lanes.has(Pass::Optimizer)) entries.push_back({tr("optimizer"), theme.spanColor(SpanKind::Optimizer)});
  bool sync = false, messages = false, host = false;
  for (int s = 0; s < lanes.stages(); ++s)
    for (const StreamLane& lane : lanes.of(s)) {
      sync = sync || lane.stream == StreamKind::DataComm;
      messages = messages || lane.stream == StreamKind::PipelineComm;
      host = host || lane.stream == StreamKind::Host;
    }
  if (sync) entries.push_back({tr("sync"), theme.spanColor(SpanKind::Collective)});
  if (messages) entries.push_back({tr("messages"), theme.spanColor(SpanKind::Send)});
  if (host) entries.push_back({tr("host"), theme.spanColor(SpanKind::Store)});
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
