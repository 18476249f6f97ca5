// The layout of experts on nodes, for the dispatcher that sends tokens once per node (Dispatcher::Flex).
#pragma once

#include <cstdint>

#include "design/design.h"

namespace shardscape {

// el: ranks of one ep group that share a node. A node is gpus_per_node consecutive ranks. Consecutive ranks
// of a group lie a fixed step apart: the axes that vary faster in the rank order (tp, or etp if experts have
// their own tensor-parallel degree). el = gpus_per_node / step, at most ep.
// - gpus_per_node / step must divide ep or be a multiple of it. The step must divide gpus_per_node or be a
//   multiple of it (el = 1). Otherwise the result is 0.
// - The result is also 0 if other axes lie between the ranks of a group.
// - If all ranks share one node, the result is ep.
// Other dispatchers do not use this function.
int64_t ep_ranks_per_node(const Design& design);
int64_t ep_nodes(const Design& design);  // ep / el; 0 if el is 0
// Whether tokens are sent once per node: the dispatcher is Flex and an ep group spans several nodes.
bool sends_by_node(const Design& design);

// Whether fused kernels move the tokens, which read and write tokens in place (DeepEP, HybridEP), also on one
// node. Megatron-core requires an exchange: "Flex token dispatcher requires TPxEP > 1" (token_dispatcher.py).
bool moves_tokens_in_place(const Design& design);

// Whether a token chooses its experts from fewer groups than there are.
bool limits_groups(const ModelSpec& model);
// Whether groups of experts lie evenly on nodes: several whole groups per node, or several whole nodes per
// group.
bool groups_fit_nodes(const ModelSpec& model, int64_t nodes);

// The mean number of nodes with experts of a token, in thousandths, rounded up. Groups, and experts within
// the chosen groups, are assumed to be equally likely (balanced routing). The result is an upper bound where
// every node is a group, because all T chosen groups are assumed to have an expert of
// the token ("at most M nodes", DeepSeek-V3, arXiv 2412.19437, section 2.1.2). With X experts, K per token, G
// groups, T groups per token, n nodes:
//   no limit:                  n (1 - C(X - X/n, K) / C(X, K))
//   G groups on n <= G nodes:  n (1 - C(G - G/n, T) / C(G, T)), which is T for G = n
//   fewer groups than nodes:   n' (1 - C(Y - Y/n', K) / C(Y, K)), n' = T n/G nodes with Y = T X/G experts
// The result never exceeds K.
int64_t nodes_per_token(const ModelSpec& model, int64_t nodes);

}  // namespace shardscape
