// A step played in few strokes: microbatches whose actions are alike as one stretch per chunk, and only as many as show how the schedule
// goes on. What comes before the first collective behind a stage's last backward does not depend on how gradients are reduced: designs
// that differ in that alone share it. Private to step_numbers.
#pragma once

#include <array>
#include <stop_token>
#include <vector>

#include "base/memo.h"
#include "simulate/play_order.h"
#include "simulate/step_numbers.h"
#include "simulate/step_play.h"

namespace shardscape {

// What runs beside the layers.
inline constexpr StreamKind kBeside[] = {StreamKind::DataComm, StreamKind::Host, StreamKind::HostLoad};

// A stage at the end of a window.
struct BriefMark {
  double end = 0, bubble = 0, exposed = 0;
  std::array<double, std::size(kBeside)> beside{};
};

// One stage while microbatches are played as stretches.
struct BriefStage {
  double last = 0, launched = 0, link = 0, made = 0;
  double data = 0;   // collectives over replicas, where units are gathered
  size_t units = 0;  // which of them are whole, a place in BriefPlay::Gathered::known
  double bubble = 0, exposed = 0;
  BriefMark marks[PlayOrder::kMarks];
  size_t on_timeline[PlayOrder::kMarks] = {};  // where waits are on it alone
};

struct BriefMessage {
  double begin = 0, end = 0;
};

// The actions of an order before some place, all stages from 0. Streams that begin later only shift it, as long as nothing else than the
// first stages decides when a stage begins, and the host keeps ahead until it is in step with messages.
struct PlayStart {
  bool shifts = true;
  std::vector<BriefStage> stages;
  std::vector<double> latest;   // of each stage: may begin until then; below 0: the first to begin
  std::vector<std::pair<int32_t, BriefMessage>> messages;  // that are still on their way
};

// Leaves the report with as many microbatches as were played. No numbers where it was stopped.
StepNumbers brief_play(Report& report, const Machine& machine, LayerTable& table, Memo<PlayStart>& starts, const std::stop_token& stop);

}  // namespace shardscape
