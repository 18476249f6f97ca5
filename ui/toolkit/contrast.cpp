#include "ui/toolkit/contrast.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {
namespace {

double linear(double channel) {
  return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color) {
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

double contrast(const QColor& a, const QColor& b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

QColor mixed(const QColor& ground, const QColor& ink, double opacity) {
  const auto blend = [opacity](double from, double to) { return from + (to - from) * opacity; };
  return QColor::fromRgbF(static_cast<float>(blend(ground.redF(), ink.redF())),
                          static_cast<float>(blend(ground.greenF(), ink.greenF())),
                          static_cast<float>(blend(ground.blueF(), ink.blueF())));
}

QColor readable(const QColor& ink, const QColor& ground) {
  const QColor end = luminance(ground) > 0.18 ? QColor(Qt::black) : QColor(Qt::white);
  for (double step = 0; step < 1; step += 0.04) {
    const QColor candidate = mixed(ink, end, step);
    if (contrast(candidate, ground) >= 4.5) return candidate;
  }
  return end;
}

}  // namespace shardscape::ui
