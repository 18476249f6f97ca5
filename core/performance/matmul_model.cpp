#include "performance/matmul_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardscape {
namespace {

constexpr double kMinimalDepth = 256;  // libraries do not split the depth into shorter parts
// Partial sums stay in the cache, which is this much faster than memory.
constexpr double kPartialSumShare = 3;
constexpr int kMostSplits = 16;
constexpr double kProcessorsUnknown = 128;

// Bytes of an element with its part of the scale.
double matmul_element_bytes(DType type) {
  switch (type) {
    case DType::FP8: return 1;
    case DType::FP8Block: return 33.0 / 32;
    case DType::MXFP8: return 33.0 / 32;
    case DType::NVFP4: return 0.5625;
    case DType::Int8: return 1;
    case DType::FP8Block2D: return 1 + 4.0 / (128 * 128);
    case DType::FP8BlockE8M0: return 1 + 1.0 / (128 * 128);
    case DType::MXFP4: return 0.5 + 1.0 / 32;
    case DType::Int4G32: return 0.5 + 2.0 / 32;
    case DType::Int4G128: return 0.5 + 2.0 / 128;
    case DType::FP8Entry: return 584.0 / 512;
    case DType::E5M6: return 1.5 + 4.0 / 128;
    case DType::Int8Block: return 1 + 4.0 / 256;
    case DType::NF4: return 0.5 + 4.0 / 64;
    case DType::NF4Double: return 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
    case DType::BF16:
    case DType::FP16:
    case DType::FP32:
    case DType::Int64:
    case DType::Int32:
    case DType::Bool: return dtype_bytes(type);
  }
  return dtype_bytes(type);
}

double bytes_of(const MatmulShape& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double weights = matmul_element_bytes(s.stored.value_or(s.compute));
  return static_cast<double>(s.batch) * (matmul_element_bytes(s.compute) * m * k + weights * k * n +
                                         matmul_element_bytes(s.output) * (s.accumulates ? 2 : 1) * m * n);
}

double flops_of(const MatmulShape& s) {
  return 2 * static_cast<double>(s.batch) * static_cast<double>(s.m) * static_cast<double>(s.n) *
         static_cast<double>(s.k);
}

}  // namespace

std::array<double, 3> matmul_grid_position(const MatmulShape& s) {
  return {std::log2(static_cast<double>(s.m) * static_cast<double>(s.batch)),
          std::log2(static_cast<double>(s.n)), std::log2(static_cast<double>(s.k))};
}

namespace {

double compute_seconds(const Accelerator& accelerator, const MatmulCalibration& c, const MatmulShape& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k),
             batch = static_cast<double>(s.batch);
  const double processors = accelerator.processors > 0 ? static_cast<double>(accelerator.processors)
                                                       : kProcessorsUnknown;
  const double rate = peak_flops(accelerator, s.compute) / processors,
               bandwidth = accelerator.memory_gbps * 1e9;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : c.tiles) {
    const double tiles = batch * std::ceil(m / rows) * std::ceil(n / columns) / processors;
    // Seconds of a tile per step of depth, including the overhead on the operands that the tile reads.
    const double cost = 2 * rows * columns / rate * (1 + c.tile_overhead * (1 / rows + 1 / columns));
    for (int split = 1; split <= kMostSplits; split *= 2) {
      const double depth = std::ceil(k / split);
      if (split > 1 && depth < kMinimalDepth) break;
      const double waves = c.wave * std::ceil(tiles * split) + (1 - c.wave) * std::max(tiles * split, 1.0);
      double seconds = waves * (depth + c.k_overhead) * cost;
      if (split > 1)
        seconds += c.split_us * 1e-6 + split * batch * m * n * 8 / (bandwidth * kPartialSumShare);
      best = std::min(best, seconds);
      if (tiles * split >= 1) break;  // all processors are busy: a split gains nothing
    }
  }
  return best;
}

double memory_seconds(const Accelerator& accelerator, double share, const MatmulShape& s) {
  return bytes_of(s) / (accelerator.memory_gbps * 1e9 * share);
}

double joined_seconds(const MatmulCalibration& c, double compute, double memory) {
  const double larger = std::max(compute, memory), smaller = std::min(compute, memory);
  return c.launch_us * 1e-6 + larger * std::pow(1 + std::pow(smaller / larger, c.sharpness), 1 / c.sharpness);
}

double log_residual(const MatmulCalibration& c, const MatmulShape& s) {
  return c.residual.empty() ? 0 : c.residual.at(matmul_grid_position(s));
}

// Peak and bandwidth allow no less.
double least_seconds(const Accelerator& accelerator, const MatmulShape& s) {
  return std::max(flops_of(s) / peak_flops(accelerator, s.compute), memory_seconds(accelerator, 1, s));
}

}  // namespace

double modelled_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& c,
                               const MatmulShape& s) {
  return joined_seconds(c, compute_seconds(accelerator, c, s),
                        memory_seconds(accelerator, c.memory_share, s));
}

double calibrated_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& c,
                                 const MatmulShape& s) {
  return std::max(modelled_matmul_seconds(accelerator, c, s) * c.scale * std::exp(log_residual(c, s)),
                  least_seconds(accelerator, s));
}

bool dequantizes(const Accelerator& accelerator, const MatmulShape& s) {
  if (s.compute != DType::BF16 && s.compute != DType::FP16) return false;
  const DType stored = s.stored.value_or(s.compute);
  return stored == DType::Int4G32 || stored == DType::Int4G128 ||
         (stored == DType::MXFP4 && accelerator.fp4_tflops <= 0);
}

double grouped_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& c,
                              const MatmulShape& s) {
  const double compute = compute_seconds(accelerator, c, s),
               memory = memory_seconds(accelerator, c.memory_share, s);
  double least = kGroupedMatmuls.launch_us * 1e-6 +
                 memory_seconds(accelerator, kGroupedMatmuls.memory_share, s);
  if (dequantizes(accelerator, s))
    least = std::max(least,
                     flops_of(s) / (kDequantizingMatmuls.peak_share * peak_flops(accelerator, s.compute)));
  if (compute >= memory) return std::max(least, calibrated_matmul_seconds(accelerator, c, s));
  return std::max(
      {least, least_seconds(accelerator, s),
       joined_seconds(c, compute, compute) * c.scale * std::exp(log_residual(c, s) * compute / memory)});
}

}  // namespace shardscape
