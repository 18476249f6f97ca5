// Seconds of a matrix product (GEMM) from the way GPUs compute it, before and after the correction by
// measurements.
//
// The output is cut into tiles. A processor (SM) computes one tile at a time. Several tile shapes are tried
// and the fastest counts, as libraries choose. With P processors, T tiles take ceil(T/P) waves (wave
// quantization: NVIDIA, "Matrix Multiplication Background User's Guide", section "Wave Quantization").
// Persistent and stream-K kernels (Osama et al., PPoPP 2023, arXiv 2301.03598) cut the work finer and
// approach T/P. If tiles are fewer than processors, the depth may be split over several processors, and the
// partial sums are added afterwards.
#pragma once

#include "performance/calibration.h"
#include "performance/op_time.h"

namespace shardscape {

// Without the correction. A batched GEMM is one kernel: the tiles of all its products fill waves together.
double modelled_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& constants,
                               const MatmulShape& shape);
// With the measured correction. Never faster than peak and bandwidth allow.
double calibrated_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& constants,
                                 const MatmulShape& shape);
// The experts of an inference step: one kernel for several GEMMs with few rows each. `batch` is the number of
// experts that tokens reach.
//
// A kernel that is bound by memory takes launch + bytes / (share of the bandwidth). The correction of dense
// GEMMs does not apply to it: for the small weights of one expert the correction stands for launch and
// latency, which occur once and not for every expert. A kernel that is bound by computation takes the time of
// calibrated_matmul_seconds. Between the two, the correction counts by compute / memory time.
struct GroupedMatmuls {
  // Layers of experts that are bound by memory take about 20 us + weights / (0.9 of the bandwidth), routing
  // and activation included, over vLLM, SGLang and TensorRT-LLM, Hopper and Blackwell (fit to 863 measured
  // times per output token, docs/accuracy-serving.md). Two GEMMs of 7 us and three small kernels add up to
  // this.
  double launch_us = 7;
  double memory_share = 0.9;
};
inline constexpr GroupedMatmuls kGroupedMatmuls;
// Experts with 4-bit weights that no tensor core of the accelerator multiplies: the kernel converts the
// weights to the 16-bit type of the activations (Marlin: Frantar et al., arXiv 2408.11743), and reaches at
// most this share of the 16-bit peak.
struct DequantizingMatmuls {
  // Fit to the median time to first token of gpt-oss-120b on one H200 with 4 users (vLLM 0.22 with Marlin,
  // 7,200 prompt tokens: 340 ms). Judged on gpt-oss on H100 and with TensorRT-LLM, and on int4 experts
  // (docs/accuracy-serving.md).
  double peak_share = 0.23;
};
inline constexpr DequantizingMatmuls kDequantizingMatmuls;
// Whether the experts of the shape run in this kernel.
bool dequantizes(const Accelerator& accelerator, const MatmulShape& shape);
double grouped_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& constants,
                              const MatmulShape& shape);
// Position of a shape in the correction grid, as base-2 logarithms: rows of all products together, columns,
// depth.
std::array<double, 3> matmul_grid_position(const MatmulShape& shape);

}  // namespace shardscape
