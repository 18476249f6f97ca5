// The letter of a design on a square of its colour, as views mark what is of one of several designs.
#pragma once

#include <QPainter>
#include <QString>

namespace shardscape::ui {

// filled: else in outline on the ground.
void paint_design_letter(QPainter& painter, const QRectF& box, const QString& letter, const QColor& color,
                         const QColor& ground, bool filled = true);

}  // namespace shardscape::ui
