// The kernels of a kernel profile, as far as their seconds depend on it.
#pragma once

#include <string>

#include "graph/graph.h"

namespace shardscape {

struct ProfileKernels {
  bool separate_experts = false;  // KernelProfile::separate_experts
  std::string attention;          // KernelRule::kernel of fused attention
  // Bytes per score (a query and a key of one head) that the kernels between the two matrix products of
  // attention move. 0: one fused kernel keeps the scores on chip.
  double forward = 0, backward = 0;
};
// Unfused attention: one kernel writes each saved score tensor and reads the score tensor before it. The
// first kernel reads the scores of the matrix product. The backward kernel reads a gradient and the saved
// result or mask, and writes a gradient.
ProfileKernels profile_kernels(const Structure& structure);

}  // namespace shardscape
