// A selection over an edit of the design: things are found again by what they are, not by where they were.
#pragma once

#include <optional>
#include <string>

#include "timing/simulation.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

// The same of another report; Nothing where it is not there any more. Both valid. Spans are of the step
// before: see SpanKey.
Selection remapToReport(const Selection& selection, const Report& before, const Report& now);
// The same of another stage, where it has that: rows and segments of bars. What has its own place in the
// model stays there.
Selection remapToStage(const Selection& selection, const Report& report, int stage);

// What a span is, whatever else is simulated before it.
struct SpanKey {
  SpanKind kind = SpanKind::Forward;
  StreamKind stream = StreamKind::Compute;
  int microbatch = -1, chunk = 0;
  std::string name;
};
SpanKey key_of(const Simulation& simulation, int stage, int span);
int find_span(const Simulation& simulation, int stage, const SpanKey& key);  // -1: there is none

// The same in the step of another design: of nodes of the graph the same layer, wherever it is there, of all
// else on that stage; Nothing where it has no such. Simulations may be null: without them there are no spans.
struct SimulatedReport {
  const Report* report = nullptr;
  const Simulation* simulation = nullptr;
};
Selection remapToDesign(const Selection& selection, const SimulatedReport& from, const SimulatedReport& there,
                        int stage);

}  // namespace shardscape::ui
