// The routing ops of a mixture of experts. Which experts a token goes to is fixed by the token alone, so that every way
// of spreading the same step computes the same.
#pragma once

#include "support/kernels.h"

namespace shardscape::test {

std::vector<RealTensor> run_routing(const KernelCall& call);

}  // namespace shardscape::test
