// Why requests waited before their first chunk, read from the steps that started without them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "serving/requests/request_simulation.h"

namespace shardscape {

// A scheduler starts waiting requests until the sequences, the tokens of the step or the free blocks are used
// up (vllm_scheduler.h, rule 4).
enum class WaitReason : uint8_t {
  None,
  RunningStep,  // no step was scheduled between the arrival and the start
  Sequences,    // as many ran as the engine allows
  Tokens,       // the steps had as many as the engine allows, or no room for a prompt in one piece
  Blocks,       // the free blocks did not suffice, for this request or for one before it
  Load,         // cached tokens of the prompt came from host memory or disk
  Receipt,      // SGLang had not yet looked for new requests (scheduler_recv_interval)
};
const char* wait_text(WaitReason reason);  // "sequences"; empty: None

struct RequestWait {
  WaitReason reason = WaitReason::None;  // of most steps
  int64_t steps = 0;                     // scheduled between the arrival and the start
  int64_t sequences = 0, tokens = 0, blocks = 0, load = 0,
          receipt = 0;                        // how many of these steps each reason held
  int64_t most_running = 0, most_blocks = 0;  // of these steps
};

class RequestWaits {
 public:
  // The simulation has kept its steps. engines: of each pool of the simulation.
  RequestWaits(const EngineSettings& settings, const RequestSimulation& simulation)
      : RequestWaits(std::vector{settings}, simulation) {}
  RequestWaits(const std::vector<EngineSettings>& engines, const RequestSimulation& simulation);
  // Of a request that has started, for its prompt. Takes time for the steps of the wait.
  RequestWait of(const RequestRecord& record) const;
  // of(record).reason; takes no time for the steps of most waits.
  WaitReason reason_of(const RequestRecord& record) const;

 private:
  struct Decision {
    double time = 0;  // at which the step was scheduled
    const StepRecord* step = nullptr;
    // Of this step and all before it: how many had the sequences, the tokens, the blocks used up.
    std::array<int64_t, 3> used_up{};
  };
  using Decisions = std::vector<Decision>;
  struct Waited {  // the steps between arrival and start
    Decisions::const_iterator begin, end;
  };
  const EngineSettings& settings(int32_t replica) const;
  // What kept a step from starting another request: Sequences, Tokens or Blocks.
  WaitReason used_up(const StepRecord& step) const;
  // Nothing: the request did not wait, or for no step.
  std::optional<Waited> waited(const RequestRecord& record) const;

  std::vector<EngineSettings> engines_;
  std::vector<int32_t> first_replicas_;           // of each engine
  std::vector<std::vector<Decision>> decisions_;  // by replica, ascending
};

}  // namespace shardscape
