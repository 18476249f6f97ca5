// Experts over nodes: what dispatch by node (Dispatcher::Flex) follows from.
#pragma once

#include <cstdint>

#include "design/design.h"

namespace shardscape {

// Ranks of one ep group that share a node (el). Nodes are gpus_per_node consecutive ranks each. Ranks of a group that follow
// each other lie a fixed step apart (what varies faster in the rank order: tp, or etp where it is folded), so that
// gpus_per_node / step of them share a node; this has to divide ep, or be a multiple of it, and step to divide gpus_per_node, or
// be a multiple of it (el = 1). 0 where that does not hold, or where other axes come between the ranks of a group. One node
// for all ranks: ep. Other dispatchers do not ask.
int64_t ep_ranks_per_node(const Design& design);
int64_t ep_nodes(const Design& design);  // ep / el; 0 where el is
// Whether tokens are sent once per node: the dispatcher says so, and a valid group of ep spans several nodes.
bool sends_by_node(const Design& design);

// Whether fused kernels move tokens, which read where they are and write where they belong (DeepEP, HybridEP), on one node too. Megatron-core has
// them exchange something: "Flex token dispatcher requires TPxEP > 1" (token_dispatcher.py).
bool permutes_as_it_sends(const Design& design);

// Whether picking from few groups limits a token to few experts.
bool limits_groups(const ModelSpec& model);
// Whether groups of experts lie evenly over nodes: several whole groups on a node, or several whole nodes under a group.
bool groups_fit_nodes(const ModelSpec& model, int64_t nodes);

// Nodes that have experts of a token, in thousandths, rounded up: the mean over tokens whose groups, and whose experts within
// reach, are any with equal chance. Routing decides the true number; this is the mean of balanced routing, and an upper bound
// where every node is a group of its own: all T picked groups are then taken to have an expert of the token ("at most M nodes",
// DeepSeek-V3, arXiv 2412.19437, section 2.1.2). With X experts of which K are picked over n nodes:
//   no limit:                  n (1 - C(X - X/n, K) / C(X, K))
//   G groups on n <= G nodes:  n (1 - C(G - G/n, T) / C(G, T)), which is T for G = n
//   fewer groups than nodes:   n' = T n/G nodes with Y = T X/G experts: n' (1 - C(Y - Y/n', K) / C(Y, K))
// and never more than K.
int64_t nodes_per_token(const ModelSpec& model, int64_t nodes);

}  // namespace shardscape
