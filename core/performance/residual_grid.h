// A smooth correction over three sizes: logarithms of measured / modelled time on a grid.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace shardscape {

// Values at the knots of a grid. Interpolation between knots is linear in the logarithms of the sizes.
// Outside the grid, the value at the edge holds.
struct ResidualGrid {
  std::array<std::vector<double>, 3> knots;  // sizes, ascending; empty: no correction
  std::vector<double> values;                // natural logarithms; the last axis varies fastest

  bool empty() const { return values.empty(); }
  double at(const std::array<double, 3>& log2_sizes) const;
  // Must be called after a change of knots: it caches their logarithms for at().
  void prepare();
  // Calls visit(lower, upper) with the indices of each two knots that are neighbours on an axis, axis by
  // axis.
  template <typename Visit>
  void for_neighbours(const Visit& visit) const {
    size_t stride = values.size();
    for (const std::vector<double>& axis : knots) {
      const size_t block = stride;
      stride /= axis.size();
      for (size_t begin = 0; begin < values.size(); begin += block)
        for (size_t i = begin; i < begin + block - stride; ++i) visit(i, i + stride);
    }
  }

 private:
  std::array<std::vector<double>, 3> logs_;
  friend class GridFit;
};

// One measurement: its sizes, and the natural logarithm of measured / modelled time.
struct ResidualSample {
  std::array<double, 3> log2_sizes;
  double residual = 0;
};

// Fits values that are close to the samples and smooth from knot to knot: first differences are weighted by
// smoothness, so knots far from any sample take the values of their neighbours. Distant samples count by
// their distance instead of its square (Huber, Annals of Mathematical Statistics 35(1), 1964), because single
// measurements are often disturbed. Returns the number of samples that support each knot.
std::vector<double> fit_residuals(ResidualGrid& grid, const std::vector<ResidualSample>& samples,
                                  double smoothness);

}  // namespace shardscape
