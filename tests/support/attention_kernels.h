// Attention on one rank, forward and backward, and the sum of partial results over parts of the context.
#pragma once

#include "support/kernels.h"

namespace shardscape::test {

// OpKind::Attention, with or without a ring, and OpKind::MergeParts.
std::vector<RealTensor> run_attention_kernel(const KernelCall& call);

}  // namespace shardscape::test
