// Counts of ops in a segment.
#pragma once

#include <algorithm>

#include "graph/graph.h"

namespace shardscape::test {

inline int count_ops(const Segment& s, OpKind kind, Phase phase) {
  return static_cast<int>(std::count_if(s.ops.begin(), s.ops.end(),
                                        [&](const Op& op) { return op.kind == kind && op.phase == phase; }));
}

}  // namespace shardscape::test
