#include "ui/plot/design_overlay.h"

#include "ui/plot/axis_paint.h"
#include "ui/plot/point_shape.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kLegendLine = 14, kLegendEntry = 42;

}  // namespace

void paint_design_letter(QPainter& painter, const QRectF& box, const QString& letter, const QColor& color,
                         const QColor& ground, bool filled) {
  const QColor dark("#0F1E33");
  const QColor on_color = contrast(Qt::white, color) >= contrast(dark, color) ? QColor(Qt::white) : dark;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 1.4));
  painter.setBrush(filled ? color : ground);
  painter.drawRoundedRect(box, 3, 3);
  painter.setFont(Theme::instance().uiFont(10, QFont::DemiBold));
  painter.setPen(filled ? on_color : readable(color, ground));
  painter.drawText(box, Qt::AlignCenter, letter);
  painter.restore();
}

void paint_design_mark(QPainter& painter, const QPointF& at, int member, const QColor& ground) {
  const QRectF box(at - QPointF(7.5, 7.5), QSizeF(15, 15));
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ground);
  painter.drawRoundedRect(box.adjusted(-2.5, -2.5, 2.5, 2.5), 5, 5);
  painter.restore();
  paint_design_letter(painter, box, Comparisons::letter(member), Theme::instance().designColor(member),
                      ground);
}

void paint_present_mark(QPainter& painter, const QPointF& at, const QRectF& plot, const QString& name,
                        const QColor& ground) {
  painter.save();
  painter.setPen(QPen(Theme::instance().colors().text, 1.6));
  painter.setBrush(ground);
  painter.drawPath(point_shape(3, 4.6).translated(at));
  painter.setFont(Theme::instance().uiFont(11, QFont::DemiBold));
  const double width = QFontMetricsF(painter.font()).horizontalAdvance(name) + 4;
  const double left = at.x() + 8 + width > plot.right() ? at.x() - 8 - width : at.x() + 8;
  paint_veiled_text(painter, QRectF(left, at.y() - 8, width, 16), name, ground);
  painter.restore();
}

void paint_letter_at(QPainter& painter, const QPointF& baseline, int member, const QColor& ground) {
  painter.setPen(readable(Theme::instance().designColor(member), ground));
  painter.drawText(baseline, Comparisons::letter(member));
}

double design_legend_width(size_t members) { return kLegendEntry * static_cast<double>(members); }

void paint_design_legend(QPainter& painter, const QPointF& left_middle, const std::vector<int>& members,
                         DesignSign sign) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  const double drop = QFontMetricsF(painter.font()).capHeight() / 2;
  QPointF at = left_middle;
  for (const int member : members) {
    painter.setPen(design_pen(member, 2));
    switch (sign) {
      case DesignSign::Line: painter.drawLine(at, at + QPointF(kLegendLine, 0)); break;
      case DesignSign::Ring: painter.drawEllipse(at + QPointF(kLegendLine / 2, 0), 4, 4); break;
    }
    painter.setPen(Theme::instance().colors().secondary);
    painter.drawText(at + QPointF(kLegendLine + 5, drop), Comparisons::letter(member));
    at.rx() += kLegendEntry;
  }
  painter.restore();
}

QPen design_pen(int member, double width, bool dashed) {
  return QPen(Theme::instance().designColor(member), width, dashed ? Qt::DashLine : Qt::SolidLine);
}

QString of_design(int member, const QString& text) {
  return Comparisons::letter(member) + QStringLiteral(": ") + text;
}

}  // namespace shardscape::ui
