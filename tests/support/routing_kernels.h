// The routing ops of a mixture of experts. Which experts a token goes to is fixed by the token alone, so that
// every way of spreading the same step computes the same.
#pragma once

#include <functional>

#include "support/kernels.h"

namespace shardscape::test {

std::vector<RealTensor> run_routing(const KernelCall& call);

// The j-th choice of a token: fixed and even, from as many groups as the limit allows.
int64_t chosen_expert(const KernelCall& call, int64_t token, int64_t j);
// Visits the row of [nodes, slots] that each of the call's tokens (by its place) has on each node with
// experts of it; slots fill in the order of tokens.
void visit_node_slots(const KernelCall& call, int64_t nodes, int64_t slots,
                      const std::function<void(int64_t token, int64_t row)>& visit);

}  // namespace shardscape::test
