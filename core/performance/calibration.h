// Calibrations: measurements of an accelerator's kernels, condensed to constants and correction grids. Data:
// resources/calibration/, and the folder of the same name in the user's data folder. The user's files are
// read last. Each of their sections replaces the same section of the accelerator (matmul and attention: of
// the same dtype).
//
// Format (JSON; 0..1 is a range):
//   {"format": 1,
//    "accelerator": id in the catalogue,
//    "basis": id of the accelerator whose sections replace missing ones; times scale with peak and bandwidth,
//    "note": text,
//    "source": text, of the collectives,
//    "matmul": [one entry per dtype:
//      {"dtype": "bfloat16", "source": text, "held_out": {"rows", "median_percent", "p90_percent"},
//       "tiles": [[m, n], ...], "wave": 0..1, "tile_overhead": elements, "k_overhead": elements,
//       "launch_us", "split_us", "memory_share": 0..1, "sharpness": > 1, "scale": factor on time,
//       "m": [...], "n": [...], "k": [...], "log_residual": [...]}],
//    "attention": [one entry per dtype, pass and mask, and a second forward entry with "training": true for
//      the kernels of training, which save tensors for the backward:
//      {"dtype", "pass": "forward", "backward" or "decode" (a few queries over cached keys),
//       "causal": bool, "training": bool, "source", "held_out", "launch_us", "scale",
//       "keys": [...], "parallel": [...], "head_dim": [...], "log_residual": [...]}],
//    "memory": {"source", "held_out", "launch_us", "share": 0..1, "cache_mb", "cache_share",
//      "routing_share": 0..1, "routing_source"},
//    "host": {"source", "launch_us"},
//    "training_factor": [{"dtype", "factor", "source"}],
//    "training_products": [{"dtype", "sustained": 0..1, "accumulate": 0..2, "experts": factor, "source"}],
//    "attention_kernels": [{"kernel": name in kernel profiles, "factor", "source"}],
//    "collectives": [{"op", "ranks", "per_domain", "in_network": bool, "bytes": [...], "us": [...]}]}
//
// - log_residual: natural logarithms of measured / modelled time at the knots (residual_grid.h), the last
//   axis fastest. Without it, only "scale" corrects the model.
//
// Isolated loops bound the speed of training from above. Two sections correct times in training:
// - "training_products": consecutive matrix products, as in training. "sustained" is the share
//   of the peak under the power limit, for any shape; slower products stay unchanged. "accumulate" is the
//   share of the traffic of accumulated sums (weight gradients) that is not hidden. "experts" is the factor
//   by which the GEMMs of a rank's experts take longer than the same GEMMs alone.
// - "training_factor" (at least 1) lengthens all kernels of one precision, one number per accelerator.
// In both sections, bfloat16 stands for all precisions without an entry, except float32: a unit that computes
// twice as fast has the same power.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "hardware/accelerator.h"
#include "model/axis.h"
#include "performance/residual_grid.h"

namespace shardscape {

// Errors on rows that were not part of a fit, in percent of the measured time.
struct HeldOut {
  int64_t rows = 0;
  double median_percent = 0, p90_percent = 0;
};

// Constants of the matrix-product model (matmul_model.h), and its correction grid over m, n, k.
struct MatmulCalibration {
  std::string from;  // id of the measured accelerator; empty: not measured
  DType dtype = DType::BF16;
  std::string source;
  HeldOut held_out;
  // Tiles (rows, columns) of the output that one processor computes at a time.
  std::vector<std::pair<double, double>> tiles;
  double wave = 0;            // share of time that is quantized to whole waves of tiles; the rest fills gaps
  double tile_overhead = 0;   // a tile's operands cost this many additional rows and columns
  double k_overhead = 128;    // filling and draining a tile costs this additional depth
  double launch_us = 3;       // time of the shortest kernel
  double split_us = 1;        // additional time if the depth is split over processors
  double memory_share = 0.9;  // reachable share of the peak bandwidth
  // Exponent of the norm that joins compute and memory time. A larger exponent means better overlap.
  double sharpness = 4;
  double scale = 1;
  ResidualGrid residual;
};

enum class AttentionPass : uint8_t { Forward, Backward, Decode };

// Constants of the attention model (attention_model.h), and its correction grid over keys, batch times heads
// (KV heads for Decode), and head dimension.
struct AttentionCalibration {
  std::string from;  // id of the measured accelerator; empty: not measured
  DType dtype = DType::BF16;
  AttentionPass pass = AttentionPass::Forward;
  bool causal = true;
  bool training = false;  // a forward kernel of training
  std::string source;
  HeldOut held_out;
  double launch_us = 4;
  double scale = 1;
  ResidualGrid residual;
};

// Seconds are launch + bytes / (share of the peak bandwidth). Bytes that fit into the cache move at
// cache_share, which may exceed 1. In training, kernels that move tokens to and from the slots of experts run
// at routing_share.
struct MemoryCalibration {
  std::string from;  // id of the measured accelerator; empty: not measured
  std::string source;
  HeldOut held_out;
  double launch_us = 2;
  double share = 0.88;
  double cache_mb = 0, cache_share = 0;  // 0: the cache was not measured
  double routing_share = 0;              // 0: not measured; `share` applies
  std::string routing_source;
};

struct CollectiveCurve {
  std::string op;  // "all_reduce": CollectiveKind in lower case
  int64_t ranks = 0, per_domain = 0;
  std::vector<double> bytes, us;
};

// unaligned_share: the share of the peak that GEMMs reach if rows of a matrix do not begin at multiples of 4
// bytes, before `factor`. Asynchronous copies to shared memory move 4, 8 or 16 aligned bytes (PTX ISA,
// cp.async), so these kernels copy single elements through registers. 0: not known, and such GEMMs are as
// fast as all others.
struct TrainingFactor {
  DType dtype = DType::BF16;
  double factor = 1;
  std::string source;
  double unaligned_share = 0;
};

struct TrainingMatmuls {
  DType dtype = DType::BF16;
  double sustained = 1, accumulate = 0, experts = 1;
  std::string source;
};

// The factor by which an older fused attention kernel takes longer than the measured kernels.
struct KernelFactor {
  std::string kernel;
  double factor = 1;
  std::string source;
};

struct Calibration {
  std::string accelerator, basis, note;
  std::string source;  // source of the collectives; other sections have their own
  std::vector<MatmulCalibration> matmul;
  std::vector<AttentionCalibration> attention;
  std::optional<MemoryCalibration> memory;
  std::string host_source;
  double host_launch_us = 0;  // host time to launch a kernel; 0: not known
  std::vector<TrainingFactor> training;
  std::vector<TrainingMatmuls> training_products;
  std::vector<KernelFactor> attention_kernels;
  std::vector<CollectiveCurve> collectives;
};

// A complete calibration. Sections that the accelerator's files lack come from the first of: their basis, the
// device of the same architecture family with the most tables, generic constants.
struct Kernels {
  Calibration data;
  std::array<const MatmulCalibration*, kDTypeCount> matmul{};             // [DType], never null
  std::array<std::array<const AttentionCalibration*, 2>, 3> attention{};  // [pass][causal], never null
  std::array<const AttentionCalibration*, 2> training_forward{};          // [causal]; null: use `attention`
  const AttentionCalibration& of(AttentionPass pass, bool causal, bool training = false) const {
    const AttentionCalibration* own = training && pass == AttentionPass::Forward
                                          ? training_forward[causal ? 1 : 0]
                                          : nullptr;
    return own ? *own : *attention[static_cast<size_t>(pass)][causal ? 1 : 0];
  }
};
// The calibration of an accelerator. It lives as long as the program.
const Kernels& kernels_of(const Accelerator& accelerator);
// The origin of the times of matrix products in dtype, or of attention: the source of the measurement, or
// "H100 table scaled by peak and bandwidth: ...".
std::string matmul_basis(const Accelerator& accelerator, DType dtype);
std::string attention_basis(const Accelerator& accelerator, AttentionPass pass);
// Mistakes in the files. Files with a mistake are left out.
const std::vector<Problem>& calibration_problems();

// Reads one file, without the sections of its basis. name: the name of the file in messages.
Result<Calibration> read_calibration(const std::string& text, const std::string& name);
std::string calibration_json(const Calibration& calibration);

}  // namespace shardscape
