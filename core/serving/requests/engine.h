// One engine (replica): a scheduler and the steps in flight.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "serving/requests/step_clock.h"
#include "serving/requests/vllm_scheduler.h"

namespace shardscape {

// What engines write during a run.
struct EngineLog {
  bool keep_steps = true;
  std::vector<StepRecord> steps;  // if kept, in the order in which they are scheduled
  std::vector<TokenGap> gaps;     // of all output tokens except the first ones
  std::vector<int32_t> finished;  // requests whose last token arrived; the caller empties it
  int64_t step_count = 0;
  double busy_seconds = 0;   // of all steps
  double block_seconds = 0;  // blocks in use x seconds, of all steps
};

// The loop of vLLM's EngineCore. It takes the requests that arrived, schedules, and waits for a step. Without
// async scheduling it waits for the step that it scheduled. With async scheduling (a batch queue of two) it
// schedules one more step first, and then waits for the older one. So a request that arrives during a step
// starts one step later than without, and the device never waits for the scheduler.
// Tokens are visible when their step ends.
class Engine {
 public:
  static constexpr double kIdle = std::numeric_limits<double>::infinity();

  // All references outlive the engine.
  Engine(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
         std::span<RequestRecord> records, StepClock& clock, int32_t replica);

  void submit(int32_t request, double now);
  double wake() const { return wake_; }  // when run() is due; kIdle: after a submission
  void run(double now, EngineLog& log);

  int64_t outstanding() const { return outstanding_; }  // requests that are submitted and not finished
  // Whole blocks of the prompt that are in the cache.
  int32_t cached_blocks(int32_t request) const;
  const KvBlocks& blocks() const { return scheduler_.blocks(); }

 private:
  struct InFlight {
    double end = 0;
    std::vector<int32_t> ending;
  };
  void deliver(EngineLog& log);
  void fill(double now, EngineLog& log);
  void start_step(double now, EngineLog& log);

  const EngineSettings* settings_;
  const Workload* workload_;
  std::span<RequestRecord> records_;
  StepClock* clock_;
  int32_t replica_;
  VllmScheduler scheduler_;
  ScheduledStep step_;
  std::array<InFlight, 2> in_flight_;
  size_t oldest_ = 0, flying_ = 0;
  std::vector<int32_t> submitted_;
  double wake_ = kIdle;
  double last_end_ = 0;  // of the last scheduled step
  int64_t outstanding_ = 0;
};

}  // namespace shardscape
