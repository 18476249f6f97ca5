#include "ui/plot/squarified.h"

#include <algorithm>
#include <numeric>

namespace shardscape::ui {
namespace {

// The worst aspect ratio of a row along a side. sum, most, least: of the areas in the row.
double worst_ratio(double sum, double most, double least, double side) {
  const double square = side * side, whole = sum * sum;
  return std::max(square * most / whole, whole / (square * least));
}

}  // namespace

std::vector<QRectF> squarified(const std::vector<double>& values, const QRectF& area) {
  std::vector<QRectF> out(values.size());
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  if (total <= 0 || area.isEmpty()) return out;
  const double scale = area.width() * area.height() / total;
  QRectF free = area;
  for (size_t first = 0; first < values.size();) {
    // The row grows while the aspect ratios of its rectangles improve.
    const double side = std::max(std::min(free.width(), free.height()), 1e-9);
    double sum = values[first] * scale;
    size_t end = first + 1;
    double ratio = worst_ratio(sum, sum, sum, side);
    for (; end < values.size(); ++end) {
      const double next = values[end] * scale;
      const double grown = worst_ratio(sum + next, values[first] * scale, next, side);
      if (grown > ratio) break;
      ratio = grown;
      sum += next;
    }
    const bool column = free.width() >= free.height();  // the row stands along the shorter side
    const double thick = end == values.size() ? (column ? free.width() : free.height()) : sum / side;
    double at = column ? free.top() : free.left();
    for (size_t i = first; i < end; ++i) {
      const double length = values[i] * scale / sum * side;
      out[i] = column ? QRectF(free.left(), at, thick, length) : QRectF(at, free.top(), length, thick);
      at += length;
    }
    column ? free.setLeft(free.left() + thick) : free.setTop(free.top() + thick);
    first = end;
  }
  return out;
}

}  // namespace shardscape::ui
