#include "performance/residual_grid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace shardscape {
namespace {

struct Place {
  size_t lower = 0;
  double share = 0;  // weight of the upper knot
};

Place place(const std::vector<double>& logs, double x) {
  if (logs.size() < 2 || x <= logs.front()) return {};
  if (x >= logs.back()) return {logs.size() - 2, 1};
  size_t i = 0;
  while (x >= logs[i + 1]) ++i;
  return {i, (x - logs[i]) / (logs[i + 1] - logs[i])};
}

struct Corners {
  std::array<size_t, 8> index{};
  std::array<double, 8> weight{};
};

Corners corners(const std::array<std::vector<double>, 3>& logs, const std::array<double, 3>& x) {
  std::array<Place, 3> at;
  for (size_t axis = 0; axis < 3; ++axis) at[axis] = place(logs[axis], x[axis]);
  Corners out;
  for (size_t c = 0; c < 8; ++c) {
    size_t index = 0;
    double weight = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      const bool upper = (c >> axis & 1) != 0;
      const size_t knot = std::min(at[axis].lower + (upper ? 1 : 0), logs[axis].size() - 1);
      index = index * logs[axis].size() + knot;
      weight *= upper ? at[axis].share : 1 - at[axis].share;
    }
    out.index[c] = index;
    out.weight[c] = weight;
  }
  return out;
}

}  // namespace

void ResidualGrid::prepare() {
  for (size_t axis = 0; axis < 3; ++axis) {
    logs_[axis].clear();
    for (double knot : knots[axis]) logs_[axis].push_back(std::log2(knot));
  }
}

double ResidualGrid::at(const std::array<double, 3>& log2_sizes) const {
  if (empty()) return 0;
  const Corners c = corners(logs_, log2_sizes);
  double sum = 0;
  for (size_t i = 0; i < 8; ++i) sum += c.weight[i] * values[c.index[i]];
  return sum;
}

// Regularised least squares by conjugate gradients. A few rounds of reweighting make the fit robust.
class GridFit {
 public:
  GridFit(ResidualGrid& grid, const std::vector<ResidualSample>& samples, double smoothness)
      : grid_(grid), samples_(samples), smoothness_(smoothness), weights_(samples.size(), 1.0) {
    grid.prepare();
    size_t count = 1;
    for (const auto& axis : grid.knots) count *= axis.size();
    grid.values.assign(count, 0);
    for (const ResidualSample& s : samples) corners_.push_back(corners(grid.logs_, s.log2_sizes));
  }

  std::vector<double> support() const {
    std::vector<double> out(grid_.values.size(), 0);
    for (const Corners& c : corners_) {
      for (size_t i = 0; i < 8; ++i) out[c.index[i]] += c.weight[i];
    }
    return out;
  }

  void run() {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
      solve();
      for (size_t i = 0; i < samples_.size(); ++i) {
        weights_[i] = std::min(1.0, kHuber / std::max(std::fabs(samples_[i].residual - value(i)), 1e-12));
      }
    }
  }

 private:
  static constexpr double kHuber = 0.05;  // beyond 5 %, the influence of a sample does not grow further
  static constexpr double kRidge = 1e-6;

  double value(size_t sample) const {
    double sum = 0;
    for (size_t c = 0; c < 8; ++c)
      sum += corners_[sample].weight[c] * grid_.values[corners_[sample].index[c]];
    return sum;
  }

  void apply(const std::vector<double>& x, std::vector<double>& out) const {
    for (size_t i = 0; i < x.size(); ++i) out[i] = kRidge * x[i];
    grid_.for_neighbours([&](size_t lower, size_t upper) {
      const double difference = smoothness_ * (x[upper] - x[lower]);
      out[upper] += difference;
      out[lower] -= difference;
    });
    for (size_t s = 0; s < corners_.size(); ++s) {
      double sum = 0;
      for (size_t c = 0; c < 8; ++c) sum += corners_[s].weight[c] * x[corners_[s].index[c]];
      sum *= weights_[s];
      for (size_t c = 0; c < 8; ++c) out[corners_[s].index[c]] += sum * corners_[s].weight[c];
    }
  }

  void solve() {
    std::vector<double>& x = grid_.values;
    std::vector<double> right(x.size(), 0), residual(x.size()), direction, product(x.size());
    for (size_t s = 0; s < corners_.size(); ++s) {
      for (size_t c = 0; c < 8; ++c)
        right[corners_[s].index[c]] += weights_[s] * corners_[s].weight[c] * samples_[s].residual;
    }
    apply(x, product);
    double norm = 0, start = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      residual[i] = right[i] - product[i];
      norm += residual[i] * residual[i];
      start += right[i] * right[i];
    }
    direction = residual;
    constexpr int kSteps = 400;
    for (int step = 0; step < kSteps && norm > 1e-10 * start; ++step) {
      apply(direction, product);
      double curvature = 0;
      for (size_t i = 0; i < x.size(); ++i) curvature += direction[i] * product[i];
      const double length = norm / curvature;
      double next = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] += length * direction[i];
        residual[i] -= length * product[i];
        next += residual[i] * residual[i];
      }
      for (size_t i = 0; i < x.size(); ++i) direction[i] = residual[i] + next / norm * direction[i];
      norm = next;
    }
  }

  ResidualGrid& grid_;
  const std::vector<ResidualSample>& samples_;
  double smoothness_;
  std::vector<Corners> corners_;
  std::vector<double> weights_;
};

std::vector<double> fit_residuals(ResidualGrid& grid, const std::vector<ResidualSample>& samples,
                                  double smoothness) {
  GridFit fit(grid, samples, smoothness);
  fit.run();
  return fit.support();
}

}  // namespace shardscape
