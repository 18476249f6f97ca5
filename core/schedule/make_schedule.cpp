// Order of forwards and backwards per stage; transfers follow from it.
#include <algorithm>
#include <stdexcept>

#include "schedule/schedule.h"

namespace shardscape {
namespace {

// Receives come right before what needs them and sends right after what made them.
class StageWriter {
 public:
  StageWriter(int stage, int stages, int chunks, std::vector<Action>& actions)
      : first_chunk_(stage == 0 ? 0 : -1), last_chunk_(stage + 1 == stages ? chunks - 1 : -1), actions_(actions) {}

  void forward(int microbatch, int chunk = 0) {
    if (chunk != first_chunk_) actions_.push_back({ActionKind::ReceiveForward, microbatch, chunk});
    actions_.push_back({ActionKind::Forward, microbatch, chunk});
    if (chunk != last_chunk_) actions_.push_back({ActionKind::SendForward, microbatch, chunk});
  }

  void backward(int microbatch, int chunk = 0) {
    if (chunk != last_chunk_) actions_.push_back({ActionKind::ReceiveBackward, microbatch, chunk});
    actions_.push_back({ActionKind::Backward, microbatch, chunk});
    if (chunk != first_chunk_) actions_.push_back({ActionKind::SendBackward, microbatch, chunk});
  }

  void finish() {
    actions_.push_back({ActionKind::GradReduce, -1});
    actions_.push_back({ActionKind::Optimizer, -1});
  }

 private:
  int first_chunk_, last_chunk_;  // the chunk at that end of the model; -1: not on this stage
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

// arXiv 2104.04473 section 2.2.2, in Megatron-LM's order: microbatches in groups as large as the pipeline, each group
// through every chunk before the next one; as many microbatches as stages run all forwards first.
void write_interleaved(StageWriter& writer, int stage, int stages, int microbatches, int chunks) {
  const int round = stages * chunks, total = microbatches * chunks;
  const auto microbatch = [&](int step) { return step / round * stages + step % stages; };
  const auto chunk = [&](int step) { return step % round / stages; };
  const auto forward = [&](int step) { writer.forward(microbatch(step), chunk(step)); };
  const auto backward = [&](int step) { writer.backward(microbatch(step), chunks - 1 - chunk(step)); };
  const int warmup = microbatches == stages ? total : std::min(2 * (stages - stage - 1) + (chunks - 1) * stages, total);
  for (int i = 0; i < warmup; ++i) forward(i);
  for (int i = warmup; i < total; ++i) {
    forward(i);
    backward(i - warmup);
  }
  for (int i = total - warmup; i < total; ++i) backward(i);
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

std::vector<Action> make_stage_schedule(ScheduleKind kind, int stage, int stages, int microbatches, int chunks) {
  if (stages < 1 || microbatches < 1 || chunks < 1) throw std::invalid_argument("a schedule needs a stage and a microbatch");
  if (chunks > 1 && (kind != ScheduleKind::OneFOneB || stages < 2 || microbatches % stages != 0)) {
    throw std::invalid_argument("interleaving needs 1F1B, two stages and microbatches in multiples of the stages");
  }
  std::vector<Action> actions;
  actions.reserve(static_cast<size_t>(microbatches) * static_cast<size_t>(chunks) * 6 + 2);
  StageWriter writer(stage, stages, chunks, actions);
  if (chunks > 1) {
    write_interleaved(writer, stage, stages, microbatches, chunks);
  } else {
    switch (kind) {
      case ScheduleKind::GPipe: write_gpipe(writer, microbatches); break;
      case ScheduleKind::OneFOneB: write_one_f_one_b(writer, stage, stages, microbatches); break;
    }
  }
  writer.finish();
  return actions;
}

Schedule make_schedule(ScheduleKind kind, int stages, int microbatches, int chunks) {
  if (stages < 1) throw std::invalid_argument("a schedule needs a stage and a microbatch");
  Schedule schedule{stages, microbatches, {}, chunks};
  schedule.actions.reserve(static_cast<size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    schedule.actions.push_back(make_stage_schedule(kind, stage, stages, microbatches, chunks));
  }
  return schedule;
}

}  // namespace shardscape
