// The stage program: the events of one forward or backward pass of a stage, in order. Only this file defines
// their order; the order of layers is that of pipeline/pass_order.h. Memory, the step simulation, the
// allocator replay, the steady-state simulation of the search and the Chakra writer read the program.
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
  Run,      // runs the ops of `part`; waits for the previous Run, the Gather and loaded tensors
  Release,  // after the instance has run: gradient sync frees its parameters and reduces its gradients
  Store,    // the copy of the saved tensors to the host starts
  Drop,     // the copy must have ended; the device memory of the saved tensors is freed
  Load      // device memory is allocated and the copy from the host starts; waits for the previous Run
};

struct Event {
  EventKind kind = EventKind::Run;
  LayerPart part = LayerPart::Forward;  // part to which a Gather, Run or Release belongs
  size_t instance = 0;                  // index into StageLayout::instances
  size_t cause = 0;  // Replay: the instance whose backward needs the replay; else `instance`
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
