// A smooth correction over three sizes: what was measured over what the model says, in logarithms.
#pragma once

#include <array>
#include <vector>

namespace shardscape {

// Values at the knots of a grid; between them linear in the logarithms of the sizes, outside as at the edge.
struct ResidualGrid {
  std::array<std::vector<double>, 3> knots;  // sizes, ascending; empty: no correction
  std::vector<double> values;                // natural logarithms; the last axis runs fastest

  bool empty() const { return values.empty(); }
  double at(const std::array<double, 3>& log2_sizes) const;
  // Called once after knots are set: at() wants their logarithms.
  void prepare();

 private:
  std::array<std::vector<double>, 3> logs_;
  friend class GridFit;
};

// One measurement: where, and by which factor (natural logarithm) it takes longer than the model.
struct ResidualSample {
  std::array<double, 3> log2_sizes;
  double residual = 0;
};

// Values that come close to the samples and change little from knot to knot (first differences, weighed by smoothness): knots far
// from any sample take the values of their neighbours. Samples far off count by their distance, not its square (Huber, Annals of
// Mathematical Statistics 35(1), 1964), as single measurements are often disturbed. Returns how many samples each knot rests on.
std::vector<double> fit_residuals(ResidualGrid& grid, const std::vector<ResidualSample>& samples, double smoothness);

}  // namespace shardscape
