// Simulates the requests of a workload on one or several replicas of an engine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/problem.h"
#include "serving/requests/engine_settings.h"
#include "serving/requests/request.h"
#include "serving/requests/request_record.h"
#include "serving/requests/step_clock.h"

namespace shardscape {

// Which replica gets a request. Ties go to the replica with the smallest number.
enum class Router : uint8_t {
  RoundRobin,
  LeastOutstanding,  // requests that are sent and not answered
  PrefixAware,       // most cached blocks of the prompt, then least outstanding
};

struct ServiceSetup {
  EngineSettings engine;
  int32_t replicas = 1;
  Router router = Router::RoundRobin;
  bool keep_steps = true;  // StepRecords of all steps; the memory grows with their number
  // Consecutive replicas of a group share experts: their steps begin and end together. 1: each on its own.
  int32_t lockstep = 1;
};

struct RequestSimulation {
  std::vector<RequestRecord> requests;  // as in the workload; every one has an end
  std::vector<StepRecord> steps;
  std::vector<PrefillChunk> chunks;  // prompt tokens that the steps compute, step by step
  std::vector<TokenGap> gaps;
  DraftCounts drafts;
  int64_t step_count = 0;
  double seconds = 0;         // from the start to the last token
  double busy_seconds = 0;    // of steps, over all replicas; in a pipeline of the slowest stage
  double in_system = 0;       // integral over time of the requests between arrival and last token
  double mean_blocks = 0;     // in use on a replica, over the time of its steps
  int64_t peak_blocks = 0;    // of the fullest replica
  int64_t usable_blocks = 0;  // of a replica; 0: endless
};

// The sequences of a step that was kept. The chunks belong to the simulation.
StepBatch batch_of(const RequestSimulation& simulation, size_t step);

// Events are arrivals and ends of steps. An arrival at the end of a step joins before the engine schedules.
// A turn arrives its thinking time after the last token of its parent. A user of a closed loop sends the next
// first turn of the list when all turns of the previous one have ended. Requests that can never run are
// refused at once; so are the turns after them.
// Same arguments, same bytes. A stopped simulation returns with pending requests.
Result<RequestSimulation> simulate_requests(const Workload& workload, const ServiceSetup& setup,
                                            StepClock& clock, std::stop_token stop = {});

}  // namespace shardscape
