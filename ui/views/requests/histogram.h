// Counts of values in bins of equal width. No widgets.
#pragma once

#include <vector>

namespace shardscape::ui {

struct Histogram {
  double low = 0, width = 1;  // of the first bin
  std::vector<int> counts;
  double begin(size_t bin) const { return low + width * static_cast<double>(bin); }
  int most() const;
  int binAt(double value) const;  // -1: none
};

// At most `most` bins; one bin if all values are equal. whole: values are whole numbers, and so are the
// widths.
Histogram histogram(const std::vector<double>& values, int most, bool whole);

}  // namespace shardscape::ui
