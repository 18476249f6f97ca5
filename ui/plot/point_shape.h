// The shapes and the colour ramp of the points of a chart.
#pragma once

#include <QColor>
#include <QPainterPath>

namespace shardscape::ui {

inline constexpr int kShapes = 5, kRampSteps = 16;

// A path of about the area of a circle of that radius, around the origin.
QPainterPath point_shape(int shape, double radius);

// The colour of a share from 0 (lowest) to 1 (highest), in the current theme. Lightness alone distinguishes
// the colours.
QColor ramp_color(double share);

}  // namespace shardscape::ui
