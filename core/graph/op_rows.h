// The rows of op kinds that op_traits.cpp does not hold. Private to core/graph.
#pragma once

#include <span>

#include "graph/op_traits.h"

namespace shardscape {

inline constexpr OpKind kFirstRoutingKind = OpKind::Flatten;
// Routing of tokens, redistributions, and ops that only the graph adds: in the order of OpKind, from
// kFirstRoutingKind to the end.
extern constinit const std::span<const OpTraits> kRoutingRows;

}  // namespace shardscape
