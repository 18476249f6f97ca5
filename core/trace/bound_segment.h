// A segment of the graph with numbers bound and every op's dependencies resolved, ready to be stamped into a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "symbolic/binding.h"
#include "trace/rank_program.h"

namespace shardscape {

class Lowering;

// Where the producer of an input is found.
enum class Source : uint8_t {
  Forward,     // node number `index` of the segment's forward part, same microbatch
  Replay,      // node number `index` of its replay, same microbatch
  Backward,    // node number `index` of its backward part, same microbatch
  Weight,      // node number `index` of the part of its backward that makes gradients of weights, same microbatch
  StreamIn,    // whatever produced the segment's input, in a replayed group the replay of the layer before
  StreamGrad,  // whatever produced the gradient of its output
  Previous     // the same node in the microbatch before: accumulates into the same gradient
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
  std::vector<BoundNode> forward, replay, backward;  // replay: under full recompute, of the whole segment
  std::vector<BoundNode> weight;   // where backwards are split: what the input's gradient does without
  int output = -1;                 // node of the forward part that produces the output; -1: none
  int output_again = -1;           // the same of the replay
  int input_grad = -1;             // node of the backward part that produces the input's gradient
  int64_t store = -1, load = -1;   // where offloaded: op of the memory node behind the forward, before the backward
  std::vector<SourceRef> gradients; // nodes of the backward and weight parts that produce parameters' gradients
};

// Whole number of a quantity on one rank; LoweringError names it where it does not fit.
int64_t bound_value(const Expr& expr, const Binding& binding, const std::string& what);

// Appends the segment's ops to program.ops, as layers of this class run them.
BoundSegment bind_segment(const Lowering& lowering, const Segment& segment, LayerClass of, const Binding& binding,
                          RankProgram& program);

}  // namespace shardscape
