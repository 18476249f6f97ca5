// Remaps a selection after an edit, to another stage, or to a compared design. Selected things are matched by
// name and layer, not by index.
#pragma once

#include <optional>
#include <string>

#include "timing/simulation.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

// The same thing in another report; Nothing if the report has no such thing. Both reports must be valid.
// Spans cannot be remapped this way: see SpanKey.
Selection remapToReport(const Selection& selection, const Report& before, const Report& now);
// The same row or bar segment of another stage, if the stage has it. Layers, blocks and ops keep their place
// in the model.
Selection remapToStage(const Selection& selection, const Report& report, int stage);

// Identifies a span independently of its index in the simulation.
struct SpanKey {
  SpanKind kind = SpanKind::Forward;
  StreamKind stream = StreamKind::Compute;
  int microbatch = -1, chunk = 0;
  std::string name;
};
SpanKey key_of(const Simulation& simulation, int stage, int span);
int find_span(const Simulation& simulation, int stage, const SpanKey& key);  // -1: no such span

// The same thing in another design. A node of the graph keeps its layer, on whichever stage that layer is.
// All else goes to the given stage. Nothing if the design has no such thing. Simulations may be null; then
// spans are not found.
struct SimulatedReport {
  const Report* report = nullptr;
  const Simulation* simulation = nullptr;
};
Selection remapToDesign(const Selection& selection, const SimulatedReport& from, const SimulatedReport& there,
                        int stage);

}  // namespace shardscape::ui
