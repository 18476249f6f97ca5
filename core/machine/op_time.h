// Seconds that single kernels take on an accelerator. Upper bound of speed: the roofline (Williams et al., CACM 52(4), 2009).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/machine.h"
#include "model/axis.h"

namespace shardscape {

// batch products of m x k by k x n. grouped: one kernel of products over the same weights' shape with rows of their own (experts).
struct MatmulShape {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  DType compute = DType::BF16, output = DType::BF16;
  bool accumulates = false;  // adds to its output in output's type: a weight gradient
  bool one_of_experts = false;  // runs on streams beside those of other experts of the rank
};

// One fused attention kernel, whose FLOPs count what the mask leaves; or, where scores are kept, matrix products over all of them
// and kernels in between.
struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1;
  int64_t head_dim = 128, value_dim = 128;
  bool causal = false, backward = false;
  int64_t window = 0;        // keys that a query sees at most; 0: all
  int64_t first_query = -1;  // position of the first query among the keys; -1: queries are the last of the keys
  DType compute = DType::BF16;
  std::optional<DType> cached{};  // type in which keys and values lie in memory, where it is not that of the products
  bool values_in_keys = false;    // latents: values are a part of the keys, read once
  std::string_view kernel{}; // a fused one that is not the fastest; the calibration may know by how much (attention_kernels)
  double score_bytes = 0;    // that the kernels between the products move per score; 0: fused
};

// Launch included, as far as the stream waits for it. Where nothing is computed no kernel runs: 0.
double matmul_seconds(const Machine& machine, const MatmulShape& shape);
double attention_seconds(const Machine& machine, const AttentionShape& shape);
// The host's time to launch one op of an eager framework, Python and autograd included; 0 where it is not known. A stream runs out
// of work where kernels are shorter.
double launch_seconds(const Machine& machine);
// A kernel that is bound by what it reads and writes.
double memory_bound_seconds(const Machine& machine, double bytes);
// One that brings tokens to the slots of their experts, or back.
double routing_seconds(const Machine& machine, double bytes);

}  // namespace shardscape
