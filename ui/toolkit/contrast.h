// Contrast by WCAG 2.1 (relative luminance), so that coloured text stays readable on any ground.
#pragma once

#include <QColor>

namespace shardscape::ui {

double contrast(const QColor& a, const QColor& b);  // 1 .. 21
// The ink itself if its contrast is at least 4.5:1, else the nearest darker or lighter shade with that
// contrast.
QColor readable(const QColor& ink, const QColor& ground);
// The blended colour of ink with this opacity (0 .. 1) on the ground.
QColor mixed(const QColor& ground, const QColor& ink, double opacity);

}  // namespace shardscape::ui
