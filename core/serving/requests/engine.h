// One engine: schedulers that step together, and the steps in flight.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "serving/requests/scheduler.h"

namespace shardscape {

// What engines write during a run.
struct EngineLog {
  bool keep_steps = true;
  std::vector<StepRecord> steps;        // if kept, in the order in which they are scheduled
  std::vector<PrefillChunk> chunks;     // of the kept steps, in their order
  std::vector<Preemption> preemptions;  // if steps are kept
  std::vector<TokenGap> gaps;           // before all chunks of tokens except the first ones
  DraftCounts drafts;
  std::vector<int32_t> finished;  // requests whose last token arrived; the caller empties it
  int64_t step_count = 0;
  double busy_seconds = 0;   // of the slowest stage in all steps
  double block_seconds = 0;  // blocks in use x busy seconds, of all steps
};

// The loop of vLLM's EngineCore, which SGLang and TensorRT-LLM share in substance. It takes the requests that
// arrived, schedules, and waits for a step. With more than one step in flight (steps_in_flight) it schedules
// the next ones first, and then waits for the oldest. So a request that arrives during a step starts after
// the steps that are already decided, and the device never waits for the scheduler. Tokens are visible when
// their step ends.
//
// Pipeline: a step ends its seconds through all stages after its begin, and at least the seconds of its
// slowest stage after the previous step.
//
// Disaggregated serving: a prefill engine whose blocks all wait for transfers, or a decode engine whose
// blocks are taken for transfers, can have requests and no step. It goes on when blocks are released or
// received.
//
// Replicas whose attention is data-parallel and which share experts are one engine with a scheduler each:
// every step is as long as that of the slowest replica. Replicas without work take part with a dummy batch.
class Engine {
 public:
  static constexpr double kIdle = std::numeric_limits<double>::infinity();

  // All references outlive the engine. Its replicas have consecutive numbers.
  Engine(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
         std::span<RequestRecord> records, StepClock& clock, int32_t first_replica, int32_t replicas);

  void submit(int32_t request, int32_t replica, double now);
  // The interface of Scheduler for disaggregated serving.
  std::optional<int64_t> reserve(int32_t request, int32_t replica);
  void add_received(int32_t request, int32_t replica, double now);
  void release_kept(int32_t request, int32_t replica, double now);
  AnswerProgress progress(int32_t request, int32_t replica) const {
    return member(replica).scheduler->progress(request);
  }
  // The engine fails. Steps in flight end; no further step is scheduled.
  void halt() { halted_ = true; }
  bool in_flight() const { return flying_ > 0; }
  double wake() const { return wake_; }  // when run() is due; kIdle: after a submission
  void run(double now, EngineLog& log);

  // Requests of a replica that are submitted and not finished.
  int64_t outstanding(int32_t replica) const { return member(replica).outstanding; }
  // Tokens of the prompt that are in the cache of a replica.
  int64_t cached_tokens(int32_t request, int32_t replica) const {
    return member(replica).scheduler->cached_tokens(request);
  }
  int64_t peak_blocks() const;  // of the fullest replica
  int64_t usable_blocks() const { return members_.front().scheduler->cache().usable; }

 private:
  struct Member {
    std::unique_ptr<Scheduler> scheduler;
    ScheduledStep step;
    bool scheduled = false;  // in the step that starts
    std::vector<int32_t> submitted;
    int64_t outstanding = 0;
    int64_t kept = 0;  // requests without a sequence whose blocks are or will be transferred
  };
  struct InFlight {
    double end = 0;
    std::vector<std::vector<int32_t>> ending;  // of each member
    std::vector<uint8_t> scheduled;            // of each member
  };
  const Member& member(int32_t replica) const {
    return members_[static_cast<size_t>(replica - first_replica_)];
  }
  Member& member(int32_t replica) { return members_[static_cast<size_t>(replica - first_replica_)]; }
  bool busy() const;
  bool keeps_blocks() const;
  double load_end() const;  // kIdle: nothing is loaded
  int64_t running() const;
  void deliver(EngineLog& log);
  void fill(double now, EngineLog& log);
  bool schedule(double now, EngineLog& log);
  void start_step(double now, EngineLog& log);
  void record(const Member& member, int32_t replica, double begin, double seconds, double busy,
              EngineLog& log);

  std::span<RequestRecord> records_;
  StepClock* clock_;
  bool pipeline_, prefill_only_;
  bool halted_ = false;
  int32_t first_replica_;
  std::vector<Member> members_;
  ContextWaits waits_;
  std::vector<SelectedStep> selected_;  // of each member
  std::vector<InFlight> in_flight_;     // ring
  size_t oldest_ = 0, flying_ = 0;
  double wake_ = kIdle;
  double last_end_ = 0;  // of the last scheduled step
};

}  // namespace shardscape
