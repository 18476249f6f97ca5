// Matrix products that run as one kernel: products whose results a profile packs into one storage
// (linear_qkv, gate and up), and their gradients.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace shardscape {

// For each op, the first op of its kernel in segment order. An op alone in its kernel, or no matrix product,
// maps to itself. In the backward, the input gradients of packed products are one GEMM that sums over the
// columns of all of them; their weight gradients are one GEMM with as many columns.
std::vector<OpId> gemm_kernels(const Segment& segment);
// All ops of the kernel that begins with `first`, in segment order.
std::vector<OpId> kernel_members(const std::vector<OpId>& kernels, OpId first);
// The label of a kernel: "QKV projection", "Gate and up projection, weight gradient". For a single op its
// label, or its name where it has no label.
std::string kernel_label(const Segment& segment, const std::vector<OpId>& members);
// The label of the kernel that contains this op.
std::string op_kernel_label(const Segment& segment, OpId op);

}  // namespace shardscape
