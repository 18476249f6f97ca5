// Seconds of single kernels on an accelerator. The roofline bounds their speed (Williams et al., CACM 52(4),
// 2009).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/axis.h"
#include "performance/machine.h"

namespace shardscape {

// `batch` matrix products of m x k by k x n in one kernel: a batched GEMM, or a grouped GEMM of experts with
// equal weight shapes.
struct MatmulShape {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  DType compute = DType::BF16, output = DType::BF16;
  bool accumulates = false;        // adds to its output in the output's type: a weight gradient
  bool concurrent_expert = false;  // runs on a stream concurrent with the other experts of the rank
  std::optional<DType> stored{};   // type of the k x n operand in memory if it differs from `compute`
};

// One fused attention kernel, whose FLOPs cover only the tiles that the mask touches. If scores are stored
// (score_bytes > 0), GEMMs over all scores and the kernels between them.
struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1;
  int64_t head_dim = 128, value_dim = 128;  // value_dim 0: scores only
  bool causal = false, backward = false;
  int64_t window = 0;  // keys that a query sees at most; 0: all
  int64_t picked = 0;  // keys that a sparse attention gathers for each query; 0: dense
  // Keys of blocks of `ratio` tokens, which a query reads after their blocks. compressed: so many at most, in
  // addition to `keys`; gathered: picked by each query. ratio alone: `keys` are of this kind.
  int64_t compressed = 0, ratio = 1;
  bool gathered = false;
  int64_t chunk = 0;         // tokens per chunk; a query sees keys of its own chunk; 0: one chunk
  int64_t first_query = -1;  // position of the first query among the keys; -1: queries are the last keys
  DType compute = DType::BF16;
  std::optional<DType> cached{};  // type of keys and values in memory if it differs from `compute`
  bool values_in_keys = false;    // latent attention: values are a part of the keys, read once
  // Name of a fused kernel that is not the fastest; attention_kernels of the calibration may have its factor.
  std::string_view kernel{};
  double score_bytes = 0;  // bytes per score that kernels between the GEMMs move; 0: fused
};

// Seconds with the launch, as far as the stream waits for it. 0 without work, because no kernel runs.
double matmul_seconds(const Machine& machine, const MatmulShape& shape);
// The GEMM of the experts that the tokens of an inference step reach (matmul_model.h).
double expert_matmul_seconds(const Machine& machine, const MatmulShape& shape);
double attention_seconds(const Machine& machine, const AttentionShape& shape);
// Host time to launch one op of an eager framework, Python and autograd included; 0 if not known. If kernels
// are shorter, the stream waits for the host.
double launch_seconds(const Machine& machine);
// A kernel that is bound by the bytes it reads and writes.
double memory_bound_seconds(const Machine& machine, double bytes);
// The shortest memory-bound kernel.
double shortest_kernel_seconds(const Machine& machine);
// A kernel that moves tokens to or from the slots of their experts.
double routing_seconds(const Machine& machine, double bytes);

}  // namespace shardscape
