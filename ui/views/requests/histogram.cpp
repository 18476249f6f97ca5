#include "ui/views/requests/histogram.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {

int Histogram::most() const { return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()); }

int Histogram::binAt(double value) const {
  const double bin = std::floor((value - low) / width);
  return bin >= 0 && bin < static_cast<double>(counts.size()) ? static_cast<int>(bin) : -1;
}

Histogram histogram(const std::vector<double>& values, int most, bool whole) {
  Histogram out;
  if (values.empty()) return out;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  out.low = *low;
  // The largest whole value lies inside of the last bin, not on its end.
  const double span = *high - *low + (whole ? 1 : 0);
  if (span > 0) out.width = span / most;
  if (whole) out.width = std::max(1.0, std::ceil(out.width));
  const auto bins = static_cast<size_t>(std::clamp(std::ceil(span / out.width), 1.0, double(most)));
  out.counts.assign(bins, 0);
  for (const double value : values)
    ++out.counts[std::min(bins - 1, static_cast<size_t>((value - out.low) / out.width))];
  return out;
}

}  // namespace shardscape::ui
