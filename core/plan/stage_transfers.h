// Messages between pipeline stages, per rank of a stage and step.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "mesh/collective_kind.h"

namespace shardscape {

struct TransferRow {
  CommOp op;
  std::string group;
  Expr group_size;
  DType dtype;
  Expr count, elements;  // elements: of all messages together
};

// Microbatches that one chunk of a stage runs.
Expr chunk_microbatches(const Structure& structure);
// What a stage with this beginning and end of the model sends and receives, with the gathers of messages that
// were scattered over tp.
std::vector<TransferRow> stage_transfers(const Graph& graph, ModelStart first, bool last);

}  // namespace shardscape
