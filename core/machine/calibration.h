// What was measured of an accelerator's kernels, condensed: the files of resources/calibration/ and of the folder of the same name
// below the person's own data. A person's files are read last; each of their sections takes the place of the same section of the
// accelerator (matmul and attention by dtype).
//
// Format (JSON): {
//   "format": 1,
//   "accelerator": id of the catalogue,
//   "basis": id of another accelerator whose sections stand in for those not given here; times scale with peak and bandwidth,
//   "note": text, "source": text, of the collectives,
//   "matmul": [one per dtype:
//     {"dtype": "bfloat16", "source": text, "held_out": {"rows", "median_percent", "p90_percent"},
//      "tiles": [[m, n], ...], "wave": 0..1, "tile_overhead": elements, "k_overhead": elements, "launch_us", "split_us",
//      "memory_share": 0..1, "sharpness": > 1, "scale": factor on time, "m": [...], "n": [...], "k": [...], "log_residual": [...]}],
//   "attention": [one per dtype, pass ("forward", "backward", or "decode": a few queries over the keys of a cache) and mask; of forwards
//     another one may be of the kernels that training runs, which leave behind what the backward reads:
//     {"dtype", "pass": text, "causal": bool, "training": bool, "source", "held_out", "launch_us", "scale",
//      "keys": [...], "parallel": [...], "head_dim": [...], "log_residual": [...]}],
//   "memory": {"source", "held_out", "launch_us", "share": 0..1, "cache_mb", "cache_share", "routing_share": 0..1, "routing_source"},
//   "host": {"source", "launch_us"},
//   "training_factor": [{"dtype", "factor", "source"}],
//   "training_products": [{"dtype", "sustained": 0..1, "accumulate": 0..2, "experts": factor, "source"}],
//   "attention_kernels": [{"kernel": as kernel profiles name it, "factor", "source"}],
//   "collectives": [{"op", "ranks", "per_domain", "in_network": bool, "bytes": [...], "us": [...]}]
// }
// log_residual holds natural logarithms of measured over modelled time at the knots (residual_grid.h), the last axis fastest; without
// it "scale" alone corrects the model. Isolated loops are the upper bound of speed. "training_products" says what was measured of products as
// training runs them, one after the other: "sustained" is the share of the peak that the power limit leaves, whatever the shape (products that
// are slower by themselves stay as they are), "accumulate" the share of the traffic of sums that are added to (gradients of weights) which
// nothing hides, "experts" how much longer the products of the experts of a rank take than as many by themselves. "training_factor" (at least 1)
// stretches all kernels of a precision in training, one number per accelerator. Of both lists bfloat16 stands for all precisions that have no
// entry, float32 aside: a unit that computes twice as fast does so at the same power.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "machine/accelerator.h"
#include "machine/residual_grid.h"
#include "model/axis.h"

namespace shardscape {

// Errors on rows that a fit has not seen; percent of the measured time.
struct HeldOut {
  int64_t rows = 0;
  double median_percent = 0, p90_percent = 0;
};

// Constants of the model of matrix products (matmul_model.h) and its correction over m, n, k.
struct MatmulCalibration {
  std::string from;  // id of the accelerator it was measured on
  DType dtype = DType::BF16;
  std::string source;
  HeldOut held_out;
  std::vector<std::pair<double, double>> tiles;  // rows and columns of the output that a processor computes at a time
  double wave = 0;           // share of time that is quantised to whole waves of tiles; the rest fills gaps
  double tile_overhead = 0;  // operands of a tile cost as much as this many more rows and columns
  double k_overhead = 128;   // filling and draining a tile costs as much as this depth
  double launch_us = 3;      // of the shortest kernel
  double split_us = 1;       // more where the depth is split over processors
  double memory_share = 0.9; // of the peak bandwidth
  double sharpness = 4;      // exponent of the norm that joins compute and memory: the larger, the better they overlap
  double scale = 1;
  ResidualGrid residual;
};

enum class AttentionPass : uint8_t { Forward, Backward, Decode };

// Constants of the model of attention (attention_model.h), correction over keys, batch times heads (of the keys where decoding),
// head dimension.
struct AttentionCalibration {
  std::string from;  // id of the accelerator it was measured on
  DType dtype = DType::BF16;
  AttentionPass pass = AttentionPass::Forward;
  bool causal = true;
  bool training = false;  // a forward: as training runs it
  std::string source;
  HeldOut held_out;
  double launch_us = 4;
  double scale = 1;
  ResidualGrid residual;
};

// launch + bytes / (share of the peak bandwidth); what fits into the cache moves at cache_share instead, which may exceed 1. Kernels that
// bring tokens to the slots of experts and back move their rows at routing_share in training.
struct MemoryCalibration {
  std::string from;  // id of the accelerator it was measured on
  std::string source;
  HeldOut held_out;
  double launch_us = 2;
  double share = 0.88;
  double cache_mb = 0, cache_share = 0;  // 0: no table of the cache
  double routing_share = 0;              // 0: not measured, as all others
  std::string routing_source;
};

struct CollectiveCurve {
  std::string op;  // "all_reduce", as CollectiveKind in lower case
  int64_t ranks = 0, per_domain = 0;
  std::vector<double> bytes, us;
};

struct TrainingFactor {
  DType dtype = DType::BF16;
  double factor = 1;
  std::string source;
};

struct TrainingProducts {
  DType dtype = DType::BF16;
  double sustained = 1, accumulate = 0, experts = 1;
  std::string source;
};

// How much longer an older fused kernel takes than those that the tables were measured with.
struct KernelFactor {
  std::string kernel;
  double factor = 1;
  std::string source;
};

struct Calibration {
  std::string accelerator, basis, note;
  std::string source;  // of the collectives; the other sections name their own
  std::vector<MatmulCalibration> matmul;
  std::vector<AttentionCalibration> attention;
  std::optional<MemoryCalibration> memory;
  std::string host_source;
  double host_launch_us = 0;  // the host's time to launch a kernel; 0: not known
  std::vector<TrainingFactor> training;
  std::vector<TrainingProducts> training_products;
  std::vector<KernelFactor> attention_kernels;
  std::vector<CollectiveCurve> collectives;
};

// A calibration that is complete: what the accelerator's files lack comes from their basis, else from the device of the same
// architecture family that has most, else from constants that fit no device in particular.
struct Kernels {
  Calibration data;
  std::array<const MatmulCalibration*, 9> matmul{};                       // by DType, never null
  std::array<std::array<const AttentionCalibration*, 2>, 3> attention{};  // [pass][causal], never null
  std::array<const AttentionCalibration*, 2> training_forward{};           // [causal]; null: as `attention`
  const AttentionCalibration& of(AttentionPass pass, bool causal, bool training = false) const {
    const AttentionCalibration* own = training && pass == AttentionPass::Forward ? training_forward[causal ? 1 : 0] : nullptr;
    return own ? *own : *attention[static_cast<size_t>(pass)][causal ? 1 : 0];
  }
};
const Kernels& kernels_of(const Accelerator& accelerator);
// Where the times come from: "measured: ...", or "H100 table scaled by peak: ...". Of matrix products in dtype, or of attention.
std::string matmul_basis(const Accelerator& accelerator, DType dtype);
std::string attention_basis(const Accelerator& accelerator, AttentionPass pass);
// Mistakes found in the files; the files in question were left out.
const std::vector<Problem>& calibration_problems();

// One file, without what its basis adds. name: what messages call it.
std::variant<Calibration, Problem> read_calibration(const std::string& text, const std::string& name);
std::string calibration_json(const Calibration& calibration);

}  // namespace shardscape
