// What differs between the graphs of two designs, op by op. No widgets in here.
#pragma once

#include <QString>
#include <vector>

#include "base/units.h"
#include "plan/report.h"

namespace shardscape::ui {

enum class OpDiffers : uint8_t {
  No,
  Size,       // same placement and split, but a shape, FLOPs or bytes are others in numbers
  Placement,  // does it otherwise: placement or symbolic shape of what it reads or makes, group, precision,
              // kind
  Missing,    // the other graph has no such op
};

struct OpDifference {
  OpDiffers how = OpDiffers::Missing;
  OpId other = -1;  // in the matching segment; -1: none
};

// Of one graph to another; every kind of layer counts once.
struct GraphDifference {
  std::vector<int> segments;                   // the matching one of the other graph; -1: none
  std::vector<std::vector<OpDifference>> ops;  // [segment][op]
  int sized = 0, placed = 0, missing = 0;      // ops that differ so
  int more = 0;                                // ops of the other graph that this one has not
  int stages = 1, stages_there = 1;
  bool same() const { return sized + placed + missing + more == 0; }
};

// Ops match by name in segments of the same kind; layers of several kinds by their names, else in order.
GraphDifference graph_difference(const Report& of, const Report& other);

// "B: 12 placed otherwise, 3 only here, 2 only there".
QString difference_text(const QString& letter, const GraphDifference& difference);
// What the other design has in the place of an op: shape, placement, numbers.
QString op_there_text(const Report& other, int segment, OpDifference op, UnitSystem units);

}  // namespace shardscape::ui
