// Attention in several kernels: what those between its matrix products move where a kernel profile keeps whole rows of scores.
#pragma once

#include "graph/graph.h"

namespace shardscape {

// Bytes per score (a query and a key of one head); 0: one fused kernel keeps scores on chip.
struct KeptScores {
  double forward = 0, backward = 0;
};
// Each kept tensor of scores is written by a kernel that reads the one before it, the first one those of the product; its
// backward reads a gradient and what was kept of its result or its mask, and writes a gradient.
KeptScores kept_scores(const Structure& structure);

}  // namespace shardscape
