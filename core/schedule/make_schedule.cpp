// Order of forwards and backwards per stage; transfers follow from it.
#include <algorithm>
#include <stdexcept>

#include "schedule/schedule.h"

namespace shardscape {
namespace {

// Receives come right before what needs them and sends right after what made them.
class StageWriter {
 public:
  StageWriter(int stage, int stages, std::vector<Action>& actions)
      : first_(stage == 0), last_(stage + 1 == stages), actions_(actions) {}

  void forward(int microbatch) {
    if (!first_) actions_.push_back({ActionKind::ReceiveForward, microbatch});
    actions_.push_back({ActionKind::Forward, microbatch});
    if (!last_) actions_.push_back({ActionKind::SendForward, microbatch});
  }

  void backward(int microbatch) {
    if (!last_) actions_.push_back({ActionKind::ReceiveBackward, microbatch});
    actions_.push_back({ActionKind::Backward, microbatch});
    if (!first_) actions_.push_back({ActionKind::SendBackward, microbatch});
  }

  void finish() {
    actions_.push_back({ActionKind::GradReduce, -1});
    actions_.push_back({ActionKind::Optimizer, -1});
  }

 private:
  bool first_, last_;
  std::vector<Action>& actions_;
};

// arXiv 1811.06965: every forward, then every backward; in the order of arXiv 2104.04473 figure 3.
void write_gpipe(StageWriter& writer, int microbatches) {
  for (int i = 0; i < microbatches; ++i) writer.forward(i);
  for (int i = 0; i < microbatches; ++i) writer.backward(i);
}

// arXiv 2104.04473 section 2.2.1 (PipeDream-Flush): warm-up, one forward and one backward in turn, cool-down.
void write_one_f_one_b(StageWriter& writer, int stage, int stages, int microbatches) {
  const int warmup = std::min(stages - stage - 1, microbatches);
  for (int i = 0; i < warmup; ++i) writer.forward(i);
  for (int i = warmup; i < microbatches; ++i) {
    writer.forward(i);
    writer.backward(i - warmup);
  }
  for (int i = microbatches - warmup; i < microbatches; ++i) writer.backward(i);
}

}  // namespace

std::string_view action_name(ActionKind kind) {
  switch (kind) {
    case ActionKind::Forward: return "forward";
    case ActionKind::Backward: return "backward";
    case ActionKind::ReceiveForward: return "receive_forward";
    case ActionKind::SendForward: return "send_forward";
    case ActionKind::ReceiveBackward: return "receive_backward";
    case ActionKind::SendBackward: return "send_backward";
    case ActionKind::GradReduce: return "grad_reduce";
    case ActionKind::Optimizer: return "optimizer";
  }
  return "";
}

Schedule make_schedule(ScheduleKind kind, int stages, int microbatches) {
  if (stages < 1 || microbatches < 1) throw std::invalid_argument("a schedule needs a stage and a microbatch");
  Schedule schedule{stages, microbatches, {}};
  schedule.actions.resize(static_cast<size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Action>& actions = schedule.actions[static_cast<size_t>(stage)];
    actions.reserve(static_cast<size_t>(microbatches) * 6 + 2);
    StageWriter writer(stage, stages, actions);
    switch (kind) {
      case ScheduleKind::GPipe: write_gpipe(writer, microbatches); break;
      case ScheduleKind::OneFOneB: write_one_f_one_b(writer, stage, stages, microbatches); break;
    }
    writer.finish();
  }
  return schedule;
}

std::vector<int> microbatches_in_flight(const Schedule& schedule) {
  std::vector<int> result;
  for (const std::vector<Action>& actions : schedule.actions) {
    int now = 0, most = 0;
    for (const Action& action : actions) {
      if (action.kind == ActionKind::Forward) most = std::max(most, ++now);
      if (action.kind == ActionKind::Backward) --now;
    }
    result.push_back(most);
  }
  return result;
}

}  // namespace shardscape
