// The tensors that a trace node reads and writes, with their full names.
#pragma once

#include <string>

#include "chakra/rank_program.h"

namespace shardscape {

// Appends the prefix of a node or tensor; the whole name where the scope is a part of the residual stream.
void append_scope(std::string& out, NameScope scope, const RankProgram& program, const TraceNode& node,
                  const std::string& place);
NamedTensor named_tensor(const RankProgram& program, const TraceNode& node, const TraceTensor& tensor);
// index: of the node. A tensor appears once: among the outputs of the node that writes it, or among inputs.
NodeTensors node_tensors(const RankProgram& program, size_t index);

}  // namespace shardscape
