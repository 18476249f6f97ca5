// StageWriter appends the actions of one stage; generators of schedules call it. Private to core/pipeline.
#pragma once

#include <deque>
#include <utility>

#include "pipeline/schedule.h"

namespace shardscape {

// Writes each receive right before the action that needs it, and each send right after the action that
// produces it.
class StageWriter {
 public:
  StageWriter(const PipelineLayout& places, int stage, std::vector<Action>& actions) : actions_(actions) {
    for (int chunk = 0; chunk < static_cast<int>(places.chunks); ++chunk)
      ends_.push_back({places.receives({stage, chunk}), places.sends({stage, chunk})});
  }

  void forward(int microbatch, int chunk = 0) {
    receive_forward(microbatch, chunk);
    add(ActionKind::Forward, microbatch, chunk);
    send_forward(microbatch, chunk);
  }
  void backward(int microbatch, int chunk = 0) { backward(ActionKind::Backward, microbatch, chunk); }
  // The gradient of the input. The weight gradient is deferred, after earlier deferred ones.
  void backward_input(int microbatch, int chunk = 0) {
    backward(ActionKind::BackwardInput, microbatch, chunk);
    deferred_.emplace_back(microbatch, chunk);
  }
  void backward_weight() {
    if (deferred_.empty()) return;
    add(ActionKind::BackwardWeight, deferred_.front().first, deferred_.front().second);
    deferred_.pop_front();
  }
  // A forward and a backward that run at once.
  void both(std::pair<int, int> forward, std::pair<int, int> backward) {
    receive_forward(forward.first, forward.second);
    receive_backward(backward.first, backward.second);
    add(ActionKind::Forward, forward.first, forward.second, true);
    add(ActionKind::Backward, backward.first, backward.second, true);
    send_forward(forward.first, forward.second);
    send_backward(backward.first, backward.second);
  }
  void finish() {
    while (!deferred_.empty()) backward_weight();
    actions_.push_back({ActionKind::GradReduce, -1});
    actions_.push_back({ActionKind::Optimizer, -1});
  }

 private:
  struct Ends {
    bool above, below;  // whether the neighbours are on other stages
  };
  void add(ActionKind kind, int microbatch, int chunk, bool overlapped = false) {
    actions_.push_back({kind, microbatch, chunk, overlapped});
  }
  const Ends& ends(int chunk) const { return ends_[static_cast<size_t>(chunk)]; }
  void receive_forward(int m, int chunk) {
    if (ends(chunk).above) add(ActionKind::ReceiveForward, m, chunk);
  }
  void send_forward(int m, int chunk) {
    if (ends(chunk).below) add(ActionKind::SendForward, m, chunk);
  }
  void receive_backward(int m, int chunk) {
    if (ends(chunk).below) add(ActionKind::ReceiveBackward, m, chunk);
  }
  void send_backward(int m, int chunk) {
    if (ends(chunk).above) add(ActionKind::SendBackward, m, chunk);
  }
  void backward(ActionKind kind, int microbatch, int chunk) {
    receive_backward(microbatch, chunk);
    add(kind, microbatch, chunk);
    send_backward(microbatch, chunk);
  }

  std::vector<Action>& actions_;
  std::vector<Ends> ends_;                    // by chunk
  std::deque<std::pair<int, int>> deferred_;  // microbatch, chunk
};

// zero_bubble.cpp
void write_zb_h1(StageWriter& writer, int stage, int stages, int microbatches);
void write_zb_h2(StageWriter& writer, int stage, int stages, int microbatches);
void write_zb_v(StageWriter& writer, int stage, int stages, int microbatches);
// zb_auto.cpp
void write_zb_auto(StageWriter& writer, int stage, int stages, int microbatches, const PassPlan& passes,
                   PlanCache* cache);
// dual_pipe.cpp
void write_dual_pipe(StageWriter& writer, int stage, int stages, int microbatches);
void write_dual_pipe_v(StageWriter& writer, int stage, int stages, int microbatches);

}  // namespace shardscape
