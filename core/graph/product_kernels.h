// Products that one kernel makes: what a profile packs (linear_qkv, gate and up), whose results share a storage, and their gradients.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace shardscape {

// Of each op the first one of its kernel in the order of the segment: itself where it is alone, or no product.
// Backward: the gradients of the common operand are one product with the columns of all of them to sum over, those of the weights one
// with as many columns.
std::vector<OpId> product_kernels(const Segment& segment);
// The ops of the kernel that begins with this one, in the order of the segment.
std::vector<OpId> kernel_members(const std::vector<OpId>& kernels, OpId first);
// What people call all of them together: "QKV projection", "Gate and up projection, weight gradient". Of one op its label, or its name
// where it has none.
std::string kernel_label(const Segment& segment, const std::vector<OpId>& members);
// That of the kernel which makes this op.
std::string op_kernel_label(const Segment& segment, OpId op);

}  // namespace shardscape
