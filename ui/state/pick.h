// What a person has selected, in whichever view: the others show the same.
#pragma once

#include <cstdint>
#include <string>

#include "graph/op_kind.h"

namespace shardscape::ui {

// Op: one op of the graph, where it runs. Collective: a row of the Communication view. Span: a stretch of the timeline.
enum class PickKind : uint8_t { Nothing, Op, Collective, Span };

struct Pick {
  PickKind kind = PickKind::Nothing;
  int stage = -1;
  int unit = -1, op = -1;          // Op, as in NodeId
  int span = -1;                   // Span, and Op where it was picked in the timeline: index into StageTimes::spans
  Phase phase = Phase::Forward;    // Collective
  std::string collective, group;   // Collective: "all_gather", "tp"
  friend bool operator==(const Pick&, const Pick&) = default;
};

}  // namespace shardscape::ui
