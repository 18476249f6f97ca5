// The stage program: the events of each forward and backward pass of a stage, in order, and what each event
// waits for. Only this file defines both; the order of layers is that of pipeline/pass_order.h. Memory, the
// step simulation, the allocator replay, the steady-state simulation of the search and the Chakra writer read
// the program.
//
// The schedule (pipeline/schedule.h) says which pass runs when. A pass is the list of events of one action
// on one virtual stage. It does not depend on the microbatch.
//
// The events Gather and Release say where gradient sync acts, not which units it gathers or reduces. That
// depends on the microbatch and on the actions before the pass: a unit that is still gathered is not gathered
// again, and only the last backward reduces. SyncWalk (grad_sync/sync_walk.h) resolves it while the stage
// runs. Resolved events would need one list per action instead of one per kind of pass: their number grows
// with the microbatches, and the search, which simulates few microbatches, would pay for all of them.
//
// Offloading follows Transformer Engine's DefaultOffloadSynchronizer
// (transformer_engine/pytorch/cpu_offload.py, versions from 2.10). Megatron-core calls it with the layers of
// the model. Of n layers the first k are offloaded. The device memory of layer i is freed before the forward
// of layer n - k + i, which waits for the copy. The copy back starts before the backward of layer n - 1 - k +
// i. The saved tensors of at most n - k layers are on the device. Transformer Engine refuses k = n; the model
// then uses the distance of k = n - 1.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pipeline/schedule.h"
#include "plan/stage_layout.h"

namespace shardscape {

// The ops of a layer that run. Weight: the weight gradients, in a split backward or where they are a separate
// part.
enum class LayerPart : uint8_t { Forward, Replay, Backward, Weight };

enum class EventKind : uint8_t {
  Gather,   // before the instance runs: gradient sync gathers its parameters and those of the next unit
  Run,      // runs the ops of `part`
  Release,  // after the instance has run: gradient sync frees its parameters and reduces its gradients
  Store,    // the copy of the saved tensors to the host starts
  Drop,     // the copy must have ended; the device memory of the saved tensors is freed
  Load      // device memory is allocated and the copy from the host starts
};

// What an event waits for.
enum class WaitKind : uint8_t {
  Event,  // an earlier event of the same pass
  // What the pass reads, the stream or its gradient: a message, or the result of a neighbouring virtual stage
  // on the same stage.
  Input,
  Stored,        // the Store of the same instance, in the forward of the microbatch
  EarlierRun,    // the latest Run of the stage before the pass
  EarlierGather  // the Gather of the same instance, in the BackwardInput of the microbatch
};

struct Wait {
  WaitKind kind = WaitKind::Event;
  uint32_t event = 0;  // kind Event: index into the events of the pass
};

inline constexpr uint32_t kNoEvent = std::numeric_limits<uint32_t>::max();

// The waits of each kind (StageProgram::waits):
//   Gather   none. Gradient sync decides what its collectives wait for (SyncWalk::Maker).
//   Run      the Run before it, or the Input if it is the first Run of the pass. The Gather of its instance;
//            a Replay waits for the Gather of the instance `cause` first. The Drop directly before it. The
//            Load of its instance, if the pass has not run the backward of the instance yet. The first Run
//            of a BackwardWeight waits for no Run; the BackwardInput ended in an earlier action.
//   Release  the Run of its instance
//   Store    the Run of its instance
//   Drop     the Store of its instance
//   Load     the Store of its instance, and the Run before it, in this pass or in an earlier one
struct Event {
  EventKind kind = EventKind::Run;
  LayerPart part = LayerPart::Forward;  // part to which a Gather, Run or Release belongs
  uint8_t wait_count = 0;
  uint32_t first_wait = 0;  // index into the waits of the program
  // Run of a Replay or Backward: the Run that replays the layer before, whose output is the input of this
  // layer. kNoEvent: the input is that of the forward.
  uint32_t input = kNoEvent;
  size_t instance = 0;  // index into StageLayout::instances
  size_t cause = 0;     // Replay: the instance whose backward needs the replay; else `instance`
};

using PassEvents = std::vector<Event>;

class StageProgram {
 public:
  explicit StageProgram(StageLayout layout);
  const StageLayout& layout() const { return layout_; }
  const StageInstance& instance(const Event& event) const { return layout_.instances[event.instance]; }
  const StageRange& range(const Action& action) const {
    return layout_.chunks[static_cast<size_t>(action.chunk)];
  }
  // What the event waits for. If two of them end at the same time, the first one is named as the cause of
  // the wait.
  std::span<const Wait> waits(const Event& event) const {
    return std::span(waits_).subspan(event.first_wait, event.wait_count);
  }
  // Events of a Forward, Backward, BackwardInput or BackwardWeight. Empty for any other action.
  std::span<const Event> pass(ActionKind kind, size_t chunk) const;
  std::span<const Event> pass(const Action& action) const {
    return pass(action.kind, static_cast<size_t>(action.chunk));
  }

 private:
  struct ChunkPasses {
    PassEvents forward, backward, input, weight;
  };
  StageLayout layout_;
  std::vector<ChunkPasses> chunks_;
  std::vector<Wait> waits_;  // of all events of all passes
};

StageProgram stage_program(const Report& report, const StageReport& stage);

// When offloaded layers leave the device and when they return. Layers are numbered from 0 within a virtual
// stage. Results are positions of layers: the action happens before the forward (drop) or the backward (load)
// of that layer.
struct OffloadDistance {
  explicit OffloadDistance(size_t layers, size_t offloaded);
  size_t drop_before(size_t layer) const { return layer + distance_ + 1; }
  size_t load_before(size_t layer) const { return layer + distance_; }

 private:
  size_t distance_;
};

}  // namespace shardscape
