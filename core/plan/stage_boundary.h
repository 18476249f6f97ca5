// What crosses from one stage to the next: the residual stream, and its gradient on the way back.
#pragma once

#include "graph/graph.h"

namespace shardscape {

struct StageBoundary {
  Tensor stream;      // as segments hold it
  Tensor message;     // as it is sent: where scattered, split over tp as well
  MeshAxes gathered;  // the all-gather that turns a message into the stream; empty: they are placed alike
};
StageBoundary stage_boundary(const Graph& graph);

}  // namespace shardscape
