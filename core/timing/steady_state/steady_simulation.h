// A step played in few strokes: microbatches whose actions are alike as one stretch per chunk, and only as
// many as show how the schedule goes on. What comes before the first collective behind a stage's last
// backward does not depend on how gradients are reduced: designs that differ in that alone share it. Private
// to step_numbers.
#pragma once

#include <array>
#include <stop_token>
#include <vector>

#include "timing/action_order.h"
#include "timing/steady_state/step_numbers.h"
#include "timing/step_simulator.h"

namespace shardscape {

// What runs beside the layers.
inline constexpr StreamKind kSideStreams[] = {StreamKind::DataComm, StreamKind::Host, StreamKind::HostLoad};

// A stage at the end of a window.
struct SteadyMark {
  double end = 0, bubble = 0, exposed = 0;
  std::array<double, std::size(kSideStreams)> beside{};
};

// One stage while microbatches are played as stretches.
struct SteadyStage {
  double last = 0, launched = 0, link = 0, made = 0;
  double data = 0;   // collectives over replicas, where units are gathered
  size_t units = 0;  // which of them are whole, a place in SteadySimulation::Gathered::known
  double bubble = 0, exposed = 0;
  SteadyMark marks[ActionOrder::kMarks];
  size_t on_timeline[ActionOrder::kMarks] = {};  // where waits are on it alone
};

struct SteadyMessage {
  double begin = 0, end = 0;
};

// The actions of an order before some place, all stages from 0. Streams that begin later only shift it, as
// long as nothing else than the first stages decides when a stage begins, and the host keeps ahead until it
// is in step with messages.
struct WarmUpState {
  bool shifts = true;
  std::vector<SteadyStage> stages;
  std::vector<double> latest;  // of each stage: may begin until then; below 0: the first to begin
  std::vector<std::pair<int32_t, SteadyMessage>> messages;  // that are still on their way
};

// Leaves the report with as many microbatches as were played. No numbers where it was stopped.
StepNumbers steady_simulation(Report& report, const Machine& machine, LayerTable& table,
                              const std::stop_token& stop);

}  // namespace shardscape
