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

// The ports of one direction. A replica sends and receives through the NICs of all its ranks.
struct KvLink {
  double send_rate = 0, receive_rate = 0;  // bytes per second of a replica; 0: without a limit
  double latency = 0;                      // seconds of a transfer without bytes
};

// Disaggregated serving: who takes blocks for a prompt first.
enum class HandoffOrder : uint8_t {
  // The prompt is computed, then a decode replica is chosen and takes blocks (vLLM, TensorRT-LLM).
  SourceFirst,
  // A decode replica is chosen on arrival. The prompt waits until that replica has taken blocks (SGLang).
  DestinationFirst,
};

// The number of replicas follows the requests in the service: as many as requests / outstanding, rounded up
// (Kubernetes, Horizontal Pod Autoscaling, "Algorithm details"), between `least` and all replicas of the
// pool. More replicas start at once. Fewer are kept if the number was too large for all of the cool-down: the
// largest number of that time (stabilization window). A replica that leaves gets no requests, and ends those
// that it has. In disaggregated serving each pool has a rule of its own: the prefill replicas follow the
// requests whose prompts are computed or wait for a prefill replica, the decode replicas all others.
struct Autoscaling {
  int32_t least = 0;          // 0: the number of replicas is fixed
  double outstanding = 32;    // requests per replica
  double start_seconds = 60;  // from the decision to the first request
  double cool_down = 300;     // seconds
};

// Replicas that compute prompts for the replicas of ServiceSetup, which generate the answers. The KV cache of
// a prompt is transferred when the whole prompt is computed. The prefill replica keeps its blocks until the
// end of the transfer. Both kinds of replicas have the same kind of engine.
//
// The first token of an answer: vLLM's proxy drops the token of the prefill replica, and the decode replica
// computes the last token of the prompt again (tests/v1/kv_connector/nixl_integration/toy_proxy_server.py;
// v1/core/sched/scheduler.py, _update_waiting_for_remote_kv). SGLang and TensorRT-LLM send the token with the
// cache, and the client gets it from the decode replica at the end of the transfer
// (sglang/srt/disaggregation/decode.py; _torch/pyexecutor/py_executor.py, _handle_first_token_response).
struct Disaggregation {
  EngineSettings prefill;
  int32_t prefill_replicas = 0;  // 0: not disaggregated
  int32_t lockstep = 1;          // of the prefill replicas
  StepClock* clock = nullptr;    // of the prefill replicas; outlives the simulation
  Autoscaling autoscaling = {};  // of the prefill replicas
  HandoffOrder order = HandoffOrder::SourceFirst;
  KvLink link;
  double token_bytes = 0, sequence_bytes = 0;  // of a transfer
  double block_seconds = 0;  // that the connector needs for each block of a transfer, before its bytes
  int64_t block_tokens = 1;
};

// A replica fails with all replicas that step together with it. Steps in flight still deliver their tokens.
// Then a client or router sends its requests again, to another replica: the prompt and the tokens that
// arrived are a new prompt. The replica comes back with an empty cache.
struct ReplicaFailure {
  double time = 0, seconds = 0;
  int32_t replica = 0;  // prefill replicas have the first numbers
};

struct ServiceSetup {
  EngineSettings engine;
  int32_t replicas = 1;
  Router router = Router::RoundRobin;
  bool keep_steps = true;  // StepRecords of all steps; the memory grows with their number
  // Consecutive replicas of a group share experts: their steps begin and end together. 1: each on its own.
  int32_t lockstep = 1;
  Disaggregation disaggregation = {};
  std::vector<ReplicaFailure> failures = {};
  Autoscaling autoscaling = {};
};

struct RequestSimulation {
  std::vector<RequestRecord> requests;  // as in the workload; every one has an end
  std::vector<StepRecord> steps;
  std::vector<PrefillChunk> chunks;     // prompt tokens that the steps compute, step by step
  std::vector<Preemption> preemptions;  // with the steps, in the order of time
  std::vector<TokenGap> gaps;
  DraftCounts drafts;
  int64_t step_count = 0;
  double seconds = 0;         // from the start to the last token
  double busy_seconds = 0;    // of steps, over all replicas; in a pipeline of the slowest stage
  double in_system = 0;       // integral over time of the requests between arrival and last token
  double mean_blocks = 0;     // in use on a replica, over the time of its steps
  int64_t peak_blocks = 0;    // of the fullest replica
  int64_t usable_blocks = 0;  // of a replica; 0: endless
  // The values of blocks above are those of the last pool: of all replicas, or of the decode replicas.
  std::vector<PoolUse> pools;       // one, or prefill and decode
  int64_t waited_for_receiver = 0;  // transfers that waited for blocks of a decode replica
};

// The sequences of a step that was kept. The chunks belong to the simulation.
StepBatch batch_of(const RequestSimulation& simulation, size_t step);

// Events are arrivals and ends of steps. An arrival at the end of a step joins before the engine schedules.
// A turn arrives its thinking time after the last token of its parent. A user of a closed loop sends the next
// first turn of the list when all turns of the previous one have ended. Requests that can never run are
// refused at once; so are the turns after them. So is a request whose new prompt after a failure cannot run.
// Same arguments, same bytes. A stopped simulation returns with pending requests.
Result<RequestSimulation> simulate_requests(const Workload& workload, const ServiceSetup& setup,
                                            StepClock& clock, std::stop_token stop = {});

}  // namespace shardscape
