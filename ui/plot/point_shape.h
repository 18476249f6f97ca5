// The shapes and the colour ramp of the points of a chart.
#pragma once

#include <QColor>
#include <QPainterPath>

namespace shardscape::ui {

inline constexpr int kShapes = 5, kRampSteps = 16;

// A path of about the area of a circle of that radius, around the origin.
QPainterPath point_shape(int shape, double radius);

// Of a value between the lowest (0) and the highest (1), by the present theme: told apart by lightness alone,
// too.
QColor ramp_color(double share);

}  // namespace shardscape::ui
