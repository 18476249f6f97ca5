// The events of a simulation: arrivals, steps, transfers, failures, and changes of the number of replicas.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <vector>

#include "serving/requests/engine_pool.h"
#include "serving/requests/kv_handoff.h"
#include "serving/requests/pool_scaling.h"
#include "serving/requests/request_simulation.h"
#include "serving/requests/turn_queue.h"

namespace shardscape {

class Simulator {
 public:
  // Valid arguments, which outlive the object.
  Simulator(const Workload& workload, const ServiceSetup& setup, StepClock& clock);
  // Returns a Problem if the steps that are kept need more memory than there is.
  Result<RequestSimulation> run(const std::stop_token& stop);

 private:
  enum class TimerKind : uint8_t { Failure, Repair };
  struct Timer {
    TimerKind kind = TimerKind::Failure;
    size_t failure = 0;
  };
  bool disaggregated() const { return handoff_.has_value(); }
  EnginePool& pool_of(int32_t replica) { return main_.has(replica) ? main_ : *prefill_; }

  void arrive();
  void begin(int32_t request, double now);
  RequestEnd refusal_of(int32_t request) const;
  void refuse(int32_t request, RequestEnd reason, double now);
  void run_main();
  void run_prefill();
  void run_transfer();
  void finish(int32_t request, double now);

  void run_timer();
  void fail(const ReplicaFailure& failure, size_t number, double now);
  void repair(const ReplicaFailure& failure, size_t number, double now);
  void move_requests(EnginePool& pool, int32_t engine, double now);
  void restart(int32_t request, double now);
  void merge(RequestRecord& earlier, const RequestRecord& later);
  void replica_ready(double now);

  void scale(double now);
  void run_scaling(PoolScaling& scaling);

  void count_time(double now);
  RequestSimulation results();

  const ServiceSetup& setup_;
  // Prompts and answers that are left; with disaggregated serving also those of the prefill replicas, whose
  // answers have one token.
  Workload workload_, prompts_;
  std::vector<RequestRecord> records_, attempts_;  // attempts_: of the prefill replicas
  TurnQueue turns_;
  EngineLog log_;
  EnginePool main_;
  PoolScaling main_scaling_;
  std::optional<EnginePool> prefill_;
  std::optional<PoolScaling> prefill_scaling_;
  std::optional<KvHandoff> handoff_;
  std::multimap<double, Timer> timers_;
  std::vector<int32_t> unsent_;               // requests that wait until a replica is ready
  std::map<int32_t, RequestRecord> earlier_;  // of restarted requests: up to the tokens that arrived
  int64_t in_system_ = 0;
  double in_system_seconds_ = 0, last_time_ = 0;
};

}  // namespace shardscape
