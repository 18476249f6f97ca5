// Spearman's rank correlation: how well predictions order configurations.
#pragma once

#include <optional>
#include <span>

namespace shardscape {

// Correlation of the ranks, -1 to 1; equal values share the mean of their ranks. Empty if all values of one
// side are equal, or if there are fewer than two. Both have the same number of values.
std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace shardscape
