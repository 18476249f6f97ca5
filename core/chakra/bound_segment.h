// A segment with bound numbers and resolved dependencies of every op. StageLowering adds the nodes of a bound
// segment to a program once per microbatch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chakra/rank_program.h"
#include "graph/graph.h"
#include "symbolic/binding.h"

namespace shardscape {

class Lowering;
struct ForwardScale;

// The place of an input's producer. Forward to Weight: node number `index` of this part of the segment, in
// the same microbatch.
enum class Source : uint8_t {
  Forward,   // forward part
  Replay,    // replay
  Backward,  // backward part; of a split backward, the part that makes the input gradient
  Weight,    // deferred weight gradients of a split backward
  // The producer of the segment's input; inside a replayed group, the replay of the previous layer.
  StreamIn,
  StreamGrad,  // the producer of the gradient of the segment's output
  // The producer of the gradient of carried tensor number `index`, as later segments leave it.
  CarriedGrad,
  // The same node in the previous microbatch: both accumulate into the same gradient.
  Previous
};

struct SourceRef {
  Source source;
  uint32_t index = 0;
  friend auto operator<=>(const SourceRef&, const SourceRef&) = default;
};

struct BoundNode {
  uint32_t op = 0;  // index into RankProgram::ops
  std::vector<SourceRef> deps;
  bool reads_parameters = false;
};

struct BoundSegment {
  // replay: full recompute only, the replay of the whole segment.
  std::vector<BoundNode> forward, replay, backward;
  // Split backwards only: nodes that compute weight gradients. The gradient of the input does not depend on
  // them.
  std::vector<BoundNode> weight;
  // Node of the forward part that produces the output; -1: none.
  int output = -1;
  // Node of the replay that recomputes the output; -1: none.
  int replayed_output = -1;
  // Node of the backward part that produces the input's gradient; -1: none.
  int input_grad = -1;
  // Nodes of the backward part that produce gradients of carried tensors, by index of the tensor.
  std::vector<std::pair<int, int>> carried_grads;
  // Offloaded layers: ops of the memory nodes after the forward and before the backward; -1: none.
  int64_t store = -1, load = -1;
  // Nodes of the backward and weight parts that produce parameters' gradients.
  std::vector<SourceRef> gradients;
};

// The value of a quantity on one rank. Throws LoweringError, which names the quantity, if the value is not a
// whole number of 0 to 2^63 - 1.
int64_t bound_value(const Expr& expr, const Binding& binding, const std::string& what);

// Appends the segment's ops to program.ops, as a layer of this class runs them.
BoundSegment bind_segment(const Lowering& lowering, const Segment& segment, LayerClass of,
                          const Binding& binding, RankProgram& program, const ForwardScale& scale);

}  // namespace shardscape
