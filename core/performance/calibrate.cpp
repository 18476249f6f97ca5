#include "performance/calibrate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "performance/attention_model.h"
#include "performance/matmul_model.h"
#include "performance/memory_model.h"

namespace shardscape {
namespace {

constexpr double kSmoothness = 0.05;

struct Spread {
  double median = 0, p90 = 0, mean = 0;
};

Spread spread(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  double sum = 0;
  for (double e : errors) sum += e;
  const auto at = [&](double share) {
    return errors[static_cast<size_t>(share * static_cast<double>(errors.size() - 1))];
  };
  return {at(0.5), at(0.9), sum / static_cast<double>(errors.size())};
}

double percent_off(double seconds, double us) { return std::fabs(seconds * 1e6 / us - 1) * 100; }

// Half of the rows, by a hash: independent of the order and of regular patterns of the sizes.
bool in_first_half(size_t row) { return (row * 0x9E3779B97F4A7C15ULL >> 63) == 0; }

// Powers of two that cover the range; at most one lies beyond each end.
std::vector<double> octaves(double least, double most) {
  std::vector<double> out;
  for (double knot = std::exp2(std::floor(std::log2(least))); out.empty() || out.back() < most; knot *= 2)
    out.push_back(knot);
  return out;
}

// Sets the knots to octaves that cover the samples.
void choose_knots(ResidualGrid& grid, const std::vector<ResidualSample>& samples,
                  const std::array<double, 3>& floors) {
  for (size_t axis = 0; axis < 3; ++axis) {
    double least = 1e30, most = 0;
    for (const ResidualSample& s : samples) {
      const double size = std::exp2(s.log2_sizes[axis]);
      least = std::min(least, size);
      most = std::max(most, size);
    }
    grid.knots[axis] = octaves(std::max(std::min(least, most), floors[axis]),
                               std::max(most * 0.999, floors[axis]));
  }
}

// One kind of op: its model, and the position of a row in the correction grid.
template <typename Row, typename Constants>
struct FittedKind {
  std::function<double(const Constants&, const Row&)> modelled, calibrated;
  std::function<std::array<double, 3>(const Row&)> place;
  std::array<double, 3> floors;  // no knots below these sizes
  // Modelled seconds at the sizes of a knot.
  std::function<double(const Constants&, const std::array<double, 3>&)> at_knot;
};

// Enforces that a larger problem takes no less time. Where noise contradicts this, adjacent knots move
// towards each other; the knot with fewer samples moves further.
template <typename Row, typename Constants>
void make_monotonic(const FittedKind<Row, Constants>& kind, Constants& constants,
                    const std::vector<double>& support) {
  ResidualGrid& grid = constants.residual;
  std::vector<double> model(grid.values.size());
  const size_t ny = grid.knots[1].size(), nz = grid.knots[2].size();
  for (size_t i = 0; i < model.size(); ++i) {
    model[i] = std::log(kind.at_knot(
        constants, {grid.knots[0][i / nz / ny], grid.knots[1][i / nz % ny], grid.knots[2][i % nz]}));
  }
  constexpr int kSweeps = 30;
  constexpr double kUnseen = 0.01;  // weight of a knot without samples, in samples
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    grid.for_neighbours([&](size_t lower, size_t upper) {
      const double drop = grid.values[lower] + model[lower] - grid.values[upper] - model[upper];
      if (drop <= 0) return;
      const double small = support[lower] + kUnseen, large = support[upper] + kUnseen;
      grid.values[lower] -= drop * large / (small + large);
      grid.values[upper] += drop * small / (small + large);
    });
  }
}

template <typename Row, typename Constants>
void fit(const FittedKind<Row, Constants>& kind, Constants& constants, const std::vector<const Row*>& rows) {
  constants.residual = {};
  constants.scale = 1;
  std::vector<ResidualSample> samples;
  samples.reserve(rows.size());
  for (const Row* row : rows)
    samples.push_back({kind.place(*row), std::log(row->us * 1e-6 / kind.modelled(constants, *row))});
  choose_knots(constants.residual, samples, kind.floors);
  make_monotonic(kind, constants, fit_residuals(constants.residual, samples, kSmoothness));
}

template <typename Row, typename Constants>
std::vector<double> errors_of(const FittedKind<Row, Constants>& kind, const Constants& constants,
                              const std::vector<const Row*>& rows) {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const Row* row : rows) out.push_back(percent_off(kind.calibrated(constants, *row), row->us));
  return out;
}

template <typename Row>
struct Halves {
  std::vector<const Row*> fitted, held;
};

template <typename Row>
Halves<Row> halves_of(const std::vector<const Row*>& rows) {
  Halves<Row> out;
  for (size_t i = 0; i < rows.size(); ++i) (in_first_half(i) ? out.fitted : out.held).push_back(rows[i]);
  return out;
}

template <typename Row, typename Constants>
CalibrationError finish(const std::string& what, const FittedKind<Row, Constants>& kind, Constants& constants,
                        const std::vector<const Row*>& rows) {
  CalibrationError out;
  out.what = what;
  out.rows = static_cast<int64_t>(rows.size());
  constexpr size_t kRowsToHoldOut = 20;
  if (rows.size() >= kRowsToHoldOut) {
    const Halves<Row> halves = halves_of(rows);
    fit(kind, constants, halves.fitted);
    const Spread held = spread(errors_of(kind, constants, halves.held));
    out.held_out = {static_cast<int64_t>(halves.held.size()), held.median, held.p90};
  }
  fit(kind, constants, rows);
  const Spread all = spread(errors_of(kind, constants, rows));
  out.median_percent = all.median;
  out.p90_percent = all.p90;
  constants.held_out = out.held_out;
  return out;
}

// Matrix products.

std::vector<std::pair<double, double>> tiles_both_ways(
    std::initializer_list<std::pair<double, double>> tiles) {
  std::vector<std::pair<double, double>> out;
  for (const auto& [rows, columns] : tiles) {
    out.emplace_back(rows, columns);
    if (rows != columns) out.emplace_back(columns, rows);
  }
  return out;
}

// The values that the search tries for each constant. Tile sets are those of libraries for Ampere, Hopper and
// Blackwell.
const std::vector<std::function<void(MatmulCalibration&)>>& trials() {
  static const std::vector<std::function<void(MatmulCalibration&)>> list = [] {
    std::vector<std::function<void(MatmulCalibration&)>> out;
    const auto few = tiles_both_ways({{256, 128}, {128, 128}, {128, 64}, {64, 64}});
    const auto some = tiles_both_ways(
        {{256, 128}, {128, 128}, {128, 64}, {256, 64}, {64, 64}, {128, 32}, {64, 32}});
    const auto many = tiles_both_ways({{128, 16},
                                       {128, 32},
                                       {128, 64},
                                       {128, 96},
                                       {128, 128},
                                       {128, 160},
                                       {128, 192},
                                       {128, 224},
                                       {128, 256},
                                       {64, 64}});
    auto pairs = many;
    for (const auto& tile : tiles_both_ways({{256, 256}, {256, 192}, {64, 32}, {256, 64}}))
      pairs.push_back(tile);
    for (const auto& tiles : {few, some, many, pairs})
      out.emplace_back([tiles](MatmulCalibration& c) { c.tiles = tiles; });
    const auto add = [&](double MatmulCalibration::*member, std::initializer_list<double> values) {
      for (double v : values) out.emplace_back([member, v](MatmulCalibration& c) { c.*member = v; });
    };
    add(&MatmulCalibration::wave, {0, 0.25, 0.5, 0.65, 0.8, 1});
    add(&MatmulCalibration::tile_overhead, {0, 2, 4, 8, 16, 32});
    add(&MatmulCalibration::k_overhead, {0, 64, 128, 192, 256, 384});
    add(&MatmulCalibration::sharpness, {1.5, 2, 3, 4, 8});
    add(&MatmulCalibration::memory_share, {0.6, 0.75, 0.9, 1.0});
    add(&MatmulCalibration::launch_us, {1, 2, 3, 4, 6});
    add(&MatmulCalibration::split_us, {0.5, 1, 2, 4});
    return out;
  }();
  return list;
}

// Mean error on the held-out half. Large products count twice, because they take most of a step's time.
double score(const FittedKind<MeasuredMatmul, MatmulCalibration>& kind, MatmulCalibration constants,
             const Halves<MeasuredMatmul>& halves) {
  fit(kind, constants, halves.fitted);
  std::vector<double> large;
  for (const MeasuredMatmul* row : halves.held) {
    if (std::min({row->shape.m, row->shape.n, row->shape.k}) >= 256)
      large.push_back(percent_off(kind.calibrated(constants, *row), row->us));
  }
  return spread(errors_of(kind, constants, halves.held)).mean + spread(large).mean;
}

void search(const FittedKind<MeasuredMatmul, MatmulCalibration>& kind, MatmulCalibration& constants,
            const std::vector<const MeasuredMatmul*>& rows) {
  const Halves<MeasuredMatmul> halves = halves_of(rows);
  double best = score(kind, constants, halves);
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& trial : trials()) {
      MatmulCalibration next = constants;
      trial(next);
      const double value = score(kind, next, halves);
      if (value < best - 1e-3) {
        best = value;
        constants = next;
      }
    }
  }
}

void calibrate_matmul(const Accelerator& accelerator, const MeasuredOps& ops, const std::string& source,
                      CalibrationResult& out) {
  std::map<DType, std::vector<const MeasuredMatmul*>> by_type;
  for (const MeasuredMatmul& row : ops.matmul) by_type[row.shape.compute].push_back(&row);
  FittedKind<MeasuredMatmul, MatmulCalibration> kind;
  kind.modelled = [&](const MatmulCalibration& c, const MeasuredMatmul& row) {
    return modelled_matmul_seconds(accelerator, c, row.shape);
  };
  kind.calibrated = [&](const MatmulCalibration& c, const MeasuredMatmul& row) {
    return calibrated_matmul_seconds(accelerator, c, row.shape);
  };
  kind.place = [](const MeasuredMatmul& row) { return matmul_grid_position(row.shape); };
  kind.floors = {8, 32, 32};
  for (const auto& [type, rows] : by_type) {
    kind.at_knot = [&, type = type](const MatmulCalibration& c, const std::array<double, 3>& sizes) {
      MatmulShape shape{1, std::llround(sizes[0]), std::llround(sizes[1]), std::llround(sizes[2])};
      shape.compute = type;
      return modelled_matmul_seconds(accelerator, c, shape);
    };
    MatmulCalibration constants = *kernels_of(accelerator).matmul[static_cast<size_t>(type)];
    constants.dtype = type;
    constants.source = source;
    if (rows.size() >= kRowsForConstants) search(kind, constants, rows);
    out.errors.push_back(finish("matmul " + std::string(dtype_name(type)), kind, constants, rows));
    out.calibration.matmul.push_back(std::move(constants));
  }
}

// Attention.

void calibrate_attention(const Accelerator& accelerator, const MeasuredOps& ops, const std::string& source,
                         CalibrationResult& out) {
  std::map<std::tuple<DType, AttentionPass, bool>, std::vector<const MeasuredAttention*>> groups;
  for (const MeasuredAttention& row : ops.attention)
    groups[{row.shape.compute, attention_pass(row.shape), row.shape.causal}].push_back(&row);
  FittedKind<MeasuredAttention, AttentionCalibration> kind;
  kind.modelled = [&](const AttentionCalibration& c, const MeasuredAttention& row) {
    return modelled_attention_seconds(accelerator, c, row.shape);
  };
  kind.calibrated = [&](const AttentionCalibration& c, const MeasuredAttention& row) {
    return calibrated_attention_seconds(accelerator, c, row.shape);
  };
  kind.place = [](const MeasuredAttention& row) { return attention_grid_position(row.shape); };
  kind.floors = {64, 1, 32};
  for (const auto& [key, rows] : groups) {
    const auto& [type, pass, causal] = key;
    AttentionCalibration constants = kernels_of(accelerator).of(pass, causal);
    constants.dtype = type;
    constants.pass = pass;
    constants.causal = causal;
    constants.source = source;
    kind.at_knot = [&, type = type, pass = pass, causal = causal](const AttentionCalibration& c,
                                                                  const std::array<double, 3>& sizes) {
      AttentionShape shape;
      shape.keys = std::llround(sizes[0]);
      shape.queries = pass == AttentionPass::Decode ? 1 : shape.keys;
      shape.heads = shape.kv_heads = std::llround(sizes[1]);
      shape.head_dim = shape.value_dim = std::llround(sizes[2]);
      shape.compute = type;
      shape.backward = pass == AttentionPass::Backward;
      shape.causal = causal;
      return modelled_attention_seconds(accelerator, c, shape);
    };
    constexpr std::array kPassNames{" forward", " backward", " decode"};
    const std::string what = std::string("attention") + kPassNames[static_cast<size_t>(pass)] +
                             (causal ? " causal " : " full ");
    out.errors.push_back(finish(what + std::string(dtype_name(type)), kind, constants, rows));
    out.calibration.attention.push_back(std::move(constants));
  }
}

// Memory-bound kernels.

std::vector<double> memory_errors(const Accelerator& accelerator, const MemoryCalibration& c,
                                  const std::vector<const MeasuredMemory*>& rows) {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const MeasuredMemory* row : rows)
    out.push_back(percent_off(calibrated_memory_seconds(accelerator, c, row->bytes), row->us));
  return out;
}

MemoryCalibration fit_memory(const Accelerator& accelerator, const std::vector<const MeasuredMemory*>& rows,
                             const std::string& source) {
  MemoryCalibration best;
  double least = 1e300;
  const auto consider = [&](MemoryCalibration c) {
    std::vector<double> errors = memory_errors(accelerator, c, rows);
    // Most candidates are far worse: their errors need no sorting. The tolerance covers sums of another
    // order.
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    if (sum > (1 + 1e-9) * least * static_cast<double>(errors.size())) return;
    const double value = spread(std::move(errors)).mean;
    if (value < least) {
      least = value;
      best = c;
    }
  };
  // An exhaustive search: constants are few and steps are coarse.
  for (double launch = 1; launch <= 5; launch += 0.25) {
    for (double share = 0.5; share <= 1.0001; share += 0.02) {
      MemoryCalibration c;
      c.launch_us = launch;
      c.share = std::min(share, 1.0);
      consider(c);
    }
  }
  const MemoryCalibration plain = best;
  for (double cache = 8; cache <= 128; cache *= std::sqrt(2)) {
    for (double gain = 1.1; gain <= 2.6; gain *= 1.1) {
      for (double share = std::max(plain.share - 0.12, 0.3); share <= std::min(plain.share + 0.12, 1.0);
           share += 0.02) {
        for (double launch = std::max(plain.launch_us - 0.5, 1.0); launch <= plain.launch_us + 0.5;
             launch += 0.25) {
          MemoryCalibration c;
          c.launch_us = launch;
          c.share = share;
          c.cache_mb = cache;
          c.cache_share = share * gain;
          consider(c);
        }
      }
    }
  }
  best.source = source;
  return best;
}

void calibrate_memory(const Accelerator& accelerator, const MeasuredOps& ops, const std::string& source,
                      CalibrationResult& out) {
  if (ops.memory.empty()) return;
  std::vector<const MeasuredMemory*> rows;
  for (const MeasuredMemory& row : ops.memory) rows.push_back(&row);
  CalibrationError error{"memory", static_cast<int64_t>(rows.size()), 0, 0, {}};
  const Halves<MeasuredMemory> halves = halves_of(rows);
  if (rows.size() >= 20) {
    const Spread held = spread(
        memory_errors(accelerator, fit_memory(accelerator, halves.fitted, source), halves.held));
    error.held_out = {static_cast<int64_t>(halves.held.size()), held.median, held.p90};
  }
  MemoryCalibration memory = fit_memory(accelerator, rows, source);
  memory.held_out = error.held_out;
  const Spread all = spread(memory_errors(accelerator, memory, rows));
  error.median_percent = all.median;
  error.p90_percent = all.p90;
  out.calibration.memory = memory;
  out.errors.push_back(error);
}

void take_collectives(const MeasuredOps& ops, const std::string& source, CalibrationResult& out) {
  if (!ops.collectives.empty()) out.calibration.source = source;
  std::map<std::tuple<std::string, int64_t, int64_t>, std::map<double, std::vector<double>>> curves;
  for (const MeasuredCollective& c : ops.collectives)
    curves[{c.op, c.ranks, c.per_domain}][c.bytes].push_back(c.us);
  for (const auto& [key, points] : curves) {
    CollectiveCurve curve{std::get<0>(key), std::get<1>(key), std::get<2>(key), {}, {}};
    for (const auto& [bytes, times] : points) {
      curve.bytes.push_back(bytes);
      curve.us.push_back(spread(times).median);
    }
    out.calibration.collectives.push_back(std::move(curve));
  }
}

}  // namespace

CalibrationResult calibrate(const Accelerator& accelerator, const MeasuredOps& ops,
                            const std::string& source) {
  CalibrationResult out;
  out.calibration.accelerator = accelerator.id;
  calibrate_matmul(accelerator, ops, source, out);
  calibrate_attention(accelerator, ops, source, out);
  calibrate_memory(accelerator, ops, source, out);
  take_collectives(ops, source, out);
  return out;
}

}  // namespace shardscape
