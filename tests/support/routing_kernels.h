// Routing ops of a mixture of experts. The experts of a token depend on the token alone, so that every
// placement of a step computes the same result.
#pragma once

#include <functional>

#include "support/kernels.h"

namespace shardscape::test {

std::vector<RealTensor> run_routing(const KernelCall& call);

// The j-th expert of a token: fixed, evenly distributed, from at most the permitted number of groups.
int64_t chosen_expert(const KernelCall& call, int64_t token, int64_t j);
// Calls visit for every token of the call and every node that has experts of the token, with the row in
// [nodes, slots]. Tokens fill the slots in order.
void visit_node_slots(const KernelCall& call, int64_t nodes, int64_t slots,
                      const std::function<void(int64_t token, int64_t row)>& visit);

}  // namespace shardscape::test
