// Which kernels the attention of a profile runs: a fused one, or where it keeps whole rows of scores several.
#pragma once

#include <string>

#include "graph/graph.h"

namespace shardscape {

struct AttentionKernels {
  std::string fused;                  // KernelRule::kernel
  // Bytes per score (a query and a key of one head) that kernels between the matrix products move; 0: one fused kernel keeps
  // scores on chip.
  double forward = 0, backward = 0;
};
// Each kept tensor of scores is written by a kernel that reads the one before it, the first one those of the product; its
// backward reads a gradient and what was kept of its result or its mask, and writes a gradient.
AttentionKernels attention_kernels(const Structure& structure);

}  // namespace shardscape
