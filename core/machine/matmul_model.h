// Time of matrix products from how GPUs compute them, before what was measured corrects it.
//
// The output is cut into tiles, one per processor at a time; of several tile shapes the fastest is taken, as libraries do. With
// P processors, T tiles take ceil(T/P) waves (wave quantisation: NVIDIA, "Matrix Multiplication Background User's Guide", section
// "Wave Quantization"); kernels that cut the work finer (persistent, stream-K: Osama et al., PPoPP 2023, arXiv 2301.03598) come closer to
// T/P. Where tiles are fewer than processors the depth may be split over several, whose sums are added up afterwards.
#pragma once

#include "machine/calibration.h"
#include "machine/op_time.h"

namespace shardscape {

// Without the correction; batch products count as one kernel: their tiles fill waves together.
double modelled_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& constants, const MatmulShape& shape);
// The same with the correction that was measured, never faster than peak and bandwidth allow.
double calibrated_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& constants, const MatmulShape& shape);
// Where the correction of a shape stands in the grid: rows of all products together, columns, depth.
std::array<double, 3> matmul_place(const MatmulShape& shape);

}  // namespace shardscape
