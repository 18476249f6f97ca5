#include "ui/views/timeline/gantt_overlay.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QColor pale(QColor color, double alpha) {
  color.setAlphaF(static_cast<float>(alpha));
  return color;
}

void paint_range(QPainter& painter, const GanttLayout& layout, const TimeRange& range, const QColor& ground) {
  const QRectF& plot = layout.plot();
  const QColor ink = Theme::instance().colors().accent;
  const double left = std::clamp(layout.x(range.from), plot.left(), plot.right()),
               right = std::clamp(layout.x(range.to), plot.left(), plot.right());
  if (right <= left) return;  // outside of the view
  painter.save();
  painter.setClipRect(plot, Qt::IntersectClip);
  for (int row = layout.firstRow(); row < layout.endRow(); ++row) {
    const GanttRow& of = layout.rows()[static_cast<size_t>(row)];
    if (!range.has(layout.steps()[of.step].member, of.stage)) continue;
    const QRectF rect = layout.rowRect(row);
    painter.fillRect(QRectF(left, rect.top(), right - left, rect.height()), pale(ink, 0.16));
  }
  painter.fillRect(QRectF(std::round(left), plot.top(), 1, plot.height()), ink);
  painter.fillRect(QRectF(std::round(right) - 1, plot.top(), 1, plot.height()), ink);
  painter.restore();
  // The length, on the axis.
  painter.setFont(Theme::instance().uiFont(11, QFont::DemiBold));
  const QString text = seconds_text(range.seconds());
  const double width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 12;
  const double middle = std::clamp((left + right) / 2, plot.left() + width / 2,
                                   std::max(plot.left() + width / 2, plot.right() - width / 2));
  painter.fillRect(QRectF(left, plot.top() - 3, right - left, 3), ink);
  const QRectF pill(middle - width / 2, plot.top() - 20, width, 16);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(ink, 1));
  painter.setBrush(ground);
  painter.drawRoundedRect(pill, 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(readable(ink, ground));
  painter.drawText(pill, Qt::AlignCenter, text);
}

void paint_arrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& ink,
                 const QColor& ground) {
  const double reach = std::clamp(std::abs(to.x() - from.x()) / 2, 12.0, 60.0);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(reach, 0), to - QPointF(reach, 0), to - QPointF(4, 0));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(ground, 4));
  painter.drawPath(path);
  painter.setPen(QPen(ink, 1.6));
  painter.drawPath(path);
  painter.setPen(QPen(ground, 1));
  painter.setBrush(ink);
  painter.drawPolygon(QPolygonF{to, to + QPointF(-8, -4.5), to + QPointF(-8, 4.5)});
}

void paint_flows(QPainter& painter, const GanttLayout& layout, const std::vector<Flow>& flows,
                 const QColor& ground) {
  painter.save();
  painter.setClipRect(layout.plot(), Qt::IntersectClip);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor ink = Theme::instance().colors().text;
  for (const Flow& flow : flows) {
    const QRectF from = layout.lane(flow.from), to = layout.lane(flow.to);
    if (from.isNull() || to.isNull()) continue;
    paint_arrow(painter, {layout.x(flow.left), from.center().y()}, {layout.x(flow.arrived), to.center().y()},
                ink, ground);
  }
  painter.restore();
}

void paint_bookmark(QPainter& painter, const GanttLayout& layout, double seconds, int number, bool current,
                    const QColor& ground) {
  const QRectF flag = bookmark_flag(layout, seconds);
  if (flag.isNull()) return;
  const QColor ink = Theme::instance().colors().note;
  painter.setPen(QPen(ink, 1, Qt::DashLine));
  const double x = std::round(flag.left()) + 0.5;
  painter.drawLine(QPointF(x, flag.bottom()), QPointF(x, layout.plot().bottom()));
  painter.setPen(QPen(ink, 1));
  painter.setBrush(current ? ink : ground);
  painter.drawRect(flag.adjusted(0.5, 0.5, -0.5, -0.5));
  painter.setFont(Theme::instance().uiFont(10, QFont::DemiBold));
  painter.setPen(current ? readable(ground, ink) : readable(ink, ground));
  painter.drawText(flag, Qt::AlignCenter, QString::number(number));
}

}  // namespace

QRectF bookmark_flag(const GanttLayout& layout, double seconds) {
  const double x = layout.x(seconds);
  if (x < layout.plot().left() - 1 || x > layout.plot().right()) return {};
  return {std::round(x), layout.plot().top() - 34, 16, 13};
}

void paint_overlay(QPainter& painter, const GanttLayout& layout, const GanttOverlay& overlay,
                   const QColor& ground) {
  painter.save();
  if (overlay.range) paint_range(painter, layout, *overlay.range, ground);
  paint_flows(painter, layout, overlay.flows, ground);
  for (size_t i = 0; i < overlay.bookmarks.size(); ++i)
    paint_bookmark(painter, layout, overlay.bookmarks[i], static_cast<int>(i) + 1,
                   static_cast<int>(i) == overlay.bookmark, ground);
  if (overlay.moved_row >= 0 && overlay.moved_row < static_cast<int>(layout.rows().size())) {
    const QRectF row = layout.rowRect(overlay.moved_row);
    painter.setPen(QPen(Theme::instance().colors().accent, 1.5));
    painter.setBrush(pale(Theme::instance().colors().accent, 0.08));
    painter.drawRect(row.adjusted(1, 0, -1, -1));
  }
  painter.restore();
}

}  // namespace shardscape::ui
