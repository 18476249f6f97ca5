// Which kernels a profile runs, as far as their seconds depend on it.
#pragma once

#include <array>
#include <string>

#include "graph/graph.h"

namespace shardscape {

struct ProfileKernels {
  bool separate_experts = false;        // KernelProfile::separate_experts
  std::array<double, 2> expert_bias{};  // KernelProfile::expert_bias
  std::string attention;                // KernelRule::kernel of a fused one
  // Bytes per score (a query and a key of one head) that kernels between the matrix products move; 0: one
  // fused kernel keeps scores on chip.
  double forward = 0, backward = 0;
};
// Each kept tensor of scores is written by a kernel that reads the one before it, the first one those of the
// product; its backward reads a gradient and what was kept of its result or its mask, and writes a gradient.
ProfileKernels profile_kernels(const Structure& structure);

}  // namespace shardscape
