// The thing that a person has selected in some view. resolved_selection.h says which ops it stands for and
// what the views mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "graph/op_kind.h"
#include "model/axis.h"
#include "plan/step_model.h"
#include "timing/simulation.h"
#include "ui/selection/flops_group.h"

namespace shardscape::ui {

// Op, Block, Unit: a node of the graph on a stage. Span: an interval of the timeline. Collective: a row of
// the Communication view. Group: all rows of one group of ranks. Memory, Flops, Time: a bar segment of that
// view. Flops: also a row of the FLOPs table.
enum class SelectionKind : uint8_t { Nothing, Op, Block, Unit, Span, Collective, Group, Memory, Flops, Time };

struct Selection {
  SelectionKind kind = SelectionKind::Nothing;
  int stage = -1;          // -1: all stages (Time)
  int unit = -1, op = -1;  // Op, Block, Unit: as in NodeId
  int units = 1;           // the number of equal units from this one on
  bool kernel = false;     // Op: with all ops of the same kernel
  int block = -1;          // Block
  bool backward = false;   // Block
  int span = -1;           // Span, and Op where it was selected in the timeline: index into StageTimes::spans
  Phase phase = Phase::Forward;      // Collective, Flops
  std::optional<CommOp> collective;  // Collective
  std::string group;                 // Collective, Group: "tp"
  DType dtype = DType::BF16;         // Collective
  MemoryCategory memory = MemoryCategory::Parameters;
  FlopsGroup flops = FlopsGroup::MatrixProducts;
  std::optional<std::pair<OpKind, DType>> row;  // Flops: only this kind of op of the group, in this precision
  TimeCategory time = TimeCategory::MatrixProducts;
  friend bool operator==(const Selection&, const Selection&) = default;
};

}  // namespace shardscape::ui
