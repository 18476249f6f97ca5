// What a person has selected, in whichever view. What it stands for, and so what every view marks of it:
// resolved_selection.h.
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

// Op, Block, Unit: of the graph, where they run. Span: a stretch of the timeline. Collective: a row of the
// Communication view; Group: all of one group of ranks. Memory, Flops, Time: a segment of a bar of theirs,
// and a row of FLOPs.
enum class SelectionKind : uint8_t { Nothing, Op, Block, Unit, Span, Collective, Group, Memory, Flops, Time };

struct Selection {
  SelectionKind kind = SelectionKind::Nothing;
  int stage = -1;          // -1: all of them (Time)
  int unit = -1, op = -1;  // Op, Block, Unit: as in NodeId
  int units = 1;           // how many units from this one on, each of which has the same
  bool kernel = false;     // Op: with all that the same kernel makes
  int block = -1;          // Block
  bool backward = false;   // Block
  int span = -1;           // Span, and Op where it was selected in the timeline: index into StageTimes::spans
  Phase phase = Phase::Forward;   // Collective, Flops
  std::string collective, group;  // Collective: "all_gather", "tp"; Group: "tp"
  DType dtype = DType::BF16;      // Collective
  MemoryCategory memory = MemoryCategory::Parameters;
  FlopsGroup flops = FlopsGroup::MatrixProducts;
  std::optional<std::pair<OpKind, DType>> row;  // Flops: of the group only this kind, in this precision
  TimeCategory time = TimeCategory::MatrixProducts;
  friend bool operator==(const Selection&, const Selection&) = default;
};

}  // namespace shardscape::ui
