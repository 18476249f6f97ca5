// The replicas of one kind: which of them are in use, which one gets a request, and their engines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/enum_count.h"
#include "serving/requests/engine.h"
#include "serving/requests/event_queue.h"
#include "serving/requests/request_simulation.h"

namespace shardscape {

struct PoolSetup {
  EngineSettings settings;
  StepClock* clock = nullptr;
  int32_t first_replica = 0, replicas = 1;
  int32_t lockstep = 1;
  Router router = Router::RoundRobin;
};

enum class EngineState : uint8_t {
  Off,
  Starting,
  Ready,     // the only state in which the router gives requests to the replicas of an engine
  Draining,  // ends its requests, then it is off
  Failed,
};

// An engine has `lockstep` replicas. Engines have numbers from 0, replicas from first_replica.
class EnginePool {
 public:
  // All references outlive the pool. Pools share the log. contents: of the whole prompts and answers of the
  // requests.
  EnginePool(const PoolSetup& setup, const Workload& workload, const Workload& contents,
             std::span<RequestRecord> records, EngineLog& log);
  EnginePool(const EnginePool&) = delete;

  const EngineSettings& settings() const { return setup_.settings; }
  int32_t engines() const { return static_cast<int32_t>(engines_.size()); }
  int32_t engine_of(int32_t replica) const { return (replica - setup_.first_replica) / setup_.lockstep; }
  bool has(int32_t replica) const {
    return replica >= setup_.first_replica && replica < setup_.first_replica + setup_.replicas;
  }

  EngineState state(int32_t engine) const { return states_[static_cast<size_t>(engine)]; }
  void set_state(int32_t engine, EngineState state, double now);
  bool any_ready() const { return count(EngineState::Ready) > 0; }
  int32_t count(EngineState state) const { return counts_of_states_[static_cast<size_t>(state)]; }  // engines

  // Chooses a replica that is ready and assigns the request to it. Nothing: no replica is ready.
  std::optional<int32_t> route(int32_t request);
  void unassign(int32_t request);
  int32_t replica_of(int32_t request) const { return replica_of_[static_cast<size_t>(request)]; }  // -1: none
  std::vector<int32_t> requests_of(int32_t engine) const;
  int64_t outstanding(int32_t engine) const;  // requests that are assigned

  // Of assigned requests.
  void submit(int32_t request, double now);
  std::optional<int64_t> reserve(int32_t request);
  void add_received(int32_t request, double now);
  void release_kept(int32_t request, double now);
  AnswerProgress progress(int32_t request) const;
  int32_t output(int32_t request) const {  // tokens of the answer
    return workload_->requests[static_cast<size_t>(request)].output;
  }

  double wake() const { return wakes_.time(); }
  int32_t run();  // the engine that is due; returns its number. The log lists the ended requests
  void fail(int32_t engine, double now);
  // Whether a failed engine has no step in flight. It can then be replaced.
  bool stopped(int32_t engine) const;
  // Whether the engine has no request and no step.
  bool idle(int32_t engine) const {
    return outstanding(engine) == 0 && engines_[static_cast<size_t>(engine)].wake() == Engine::kIdle;
  }
  void replace(int32_t engine);  // by one with an empty cache

  PoolUse use(double end) const;  // up to the end of the run

 private:
  Engine new_engine(int32_t engine) const;
  Engine& engine_with(int32_t request) {
    return engines_[static_cast<size_t>(engine_of(replica_of(request)))];
  }
  // Calls change(engine, replica) for the replica of a request, and lists the engine if it gets work.
  template <class Change>
  void change(int32_t request, const Change& change);
  void count_seconds(double now);
  void list_ready();

  PoolSetup setup_;
  const Workload* workload_;
  std::span<RequestRecord> records_;
  BlockContents contents_;
  std::vector<Engine> engines_;
  std::vector<EngineState> states_;
  std::array<int32_t, enum_count<EngineState>()> counts_of_states_{};  // engines in each state
  std::vector<int32_t> ready_;  // replicas; made when a request needs it
  bool ready_is_old_ = true;
  std::vector<int32_t> replica_of_;  // of each request
  std::vector<int64_t> assigned_;    // requests of each replica
  size_t next_replica_ = 0;
  EventQueue wakes_;  // of engines that are not idle
  EngineLog* log_;
  double busy_seconds_ = 0, block_seconds_ = 0;  // the part of the log that is of this pool
  int64_t replaced_peak_ = 0;                    // blocks of engines that failed
  int32_t in_use_ = 0;                           // replicas
  double last_time_ = 0, replica_seconds_ = 0;
  std::vector<ReplicaCount> counts_;
};

}  // namespace shardscape
