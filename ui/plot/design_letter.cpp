#include "ui/plot/design_letter.h"

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

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

}  // namespace shardscape::ui
