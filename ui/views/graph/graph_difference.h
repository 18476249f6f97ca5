// The differences between the graphs of two designs, op by op. No widgets.
#pragma once

#include <QString>
#include <vector>

#include "base/units.h"
#include "plan/report.h"

namespace shardscape::ui {

enum class OpDiffers : uint8_t {
  No,
  Size,       // same placement and split, but other numbers in shape, FLOPs or bytes
  Placement,  // another placement or symbolic shape of inputs or outputs, or another group, precision or kind
  Missing,    // the other graph has no such op
};

struct OpDifference {
  OpDiffers how = OpDiffers::Missing;
  OpId other = -1;  // in the matching segment; -1: none
};

// The difference of one graph to another. Every kind of layer counts once.
struct GraphDifference {
  std::vector<int> segments;                   // the matching segment of the other graph; -1: none
  std::vector<std::vector<OpDifference>> ops;  // [segment][op]
  int sized = 0, placed = 0, missing = 0;      // numbers of ops by kind of difference
  int more = 0;                                // ops that only the other graph has
  int stages = 1, stages_there = 1;
  bool same() const { return sized + placed + missing + more == 0; }
};

// Ops match by name in matching segments. Segments of layers match by the name of their kind, else by order.
GraphDifference graph_difference(const Report& of, const Report& other);

// "B: 12 placed differently, 3 only here, 2 only in B".
QString difference_text(const QString& letter, const GraphDifference& difference);
// The matching op of the other design as text: shape, placement, numbers.
QString op_there_text(const Report& other, int segment, OpDifference op, UnitSystem units);

}  // namespace shardscape::ui
