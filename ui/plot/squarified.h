// The layout of a treemap: rectangles in proportion to values, as close to squares as a greedy order allows.
// Source: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000.
#pragma once

#include <QRectF>
#include <vector>

namespace shardscape::ui {

// values: positive, descending. The rectangles fill the area without overlap, in the order of the values.
std::vector<QRectF> squarified(const std::vector<double>& values, const QRectF& area);

}  // namespace shardscape::ui
