// The steady-state simulation of a step, for searches. Microbatches that repeat are simulated as one duration
// per action, and only enough microbatches to show the periodic state of the schedule. Everything before the
// first collective after a stage's last backward does not depend on the gradient reduction: designs that
// differ only in it share that part. Private to step_numbers.
#pragma once

#include <array>
#include <stop_token>
#include <vector>

#include "timing/action_order.h"
#include "timing/steady_state/step_numbers.h"
#include "timing/step_simulator.h"

namespace shardscape {

// Streams that run concurrently with the layers.
inline constexpr StreamKind kSideStreams[] = {StreamKind::DataComm, StreamKind::Host, StreamKind::HostLoad};

// State of a stage at the end of a window: end of the compute stream, and seconds so far.
struct SteadyMark {
  double end = 0, bubble = 0, exposed = 0;
  std::array<double, std::size(kSideStreams)> side_streams{};  // ends of kSideStreams
};

// State of one stage while actions are simulated as durations. Times are in seconds.
struct SteadyStage {
  double compute_end = 0;    // of the compute stream
  double launch_end = 0;     // of the host's launches
  double send_end = 0;       // of the latest message that the stage sent
  double message_ready = 0;  // end of the latest action whose result is sent
  double data_end = 0;       // with FSDP units: of the collectives over replicas
  size_t units = 0;          // with FSDP units: which are gathered; index into StageTransfers::unit_sets
  double bubble = 0, exposed = 0;
  SteadyMark marks[ActionOrder::kMarks];
  // Indices of Timeline::marks(), where all actions run layer by layer.
  size_t on_timeline[ActionOrder::kMarks] = {};
};

// A message between stages, in seconds.
struct SteadyMessage {
  double begin = 0, end = 0;
};

// State after the first actions of an order, with all stages starting at 0. If streams start later, the state
// only shifts. This holds while only the first stages decide when a stage begins, and while the host runs
// ahead until its first message.
struct WarmUpState {
  bool shifts = true;
  std::vector<SteadyStage> stages;
  std::vector<double>
      latest;  // latest start that leaves the state valid; below 0: the first action waits for no message
  std::vector<std::pair<int32_t, SteadyMessage>> messages;  // sent but not received, with their slots
};

// Simulates the step. All numbers are 0 when stopped.
StepNumbers steady_simulation(const Report& report, const Machine& machine, LayerTable& table,
                              const std::stop_token& stop);

}  // namespace shardscape
