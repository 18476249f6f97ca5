// The stage program: in which order a stage works through the layers of one forward or backward pass. It is
// written here and nowhere else. Memory, time, the allocator replay, the fast simulation of the search and
// the Chakra writer read it.
//
// The actions of the schedule (pipeline/schedule.h) say which pass runs when; a pass is the list of events of
// one action on one virtual stage. Passes do not depend on the microbatch.
//
// Offloading follows Transformer Engine's DefaultOffloadSynchronizer
// (transformer_engine/pytorch/cpu_offload.py, versions from 2.10), which Megatron-core calls with the layers
// of the model: of n layers the first k are offloaded. The memory of layer i is released before the forward
// of layer n - k + i, which waits for the copy. The copy back starts before the backward of layer n - 1 - k +
// i. So that n - k layers are on the device at most. Transformer Engine refuses k = n; there the distance is
// that of k = n - 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/schedule.h"
#include "plan/stage_layout.h"

namespace shardscape {

// Which ops of a layer run. Weight: the gradients of weights, where a backward is split or where they are
// told apart.
enum class LayerPart : uint8_t { Forward, Replay, Backward, Weight };

enum class EventKind : uint8_t {
  Gather,   // the instance is about to run: gradient sync gathers its parameters and those of the next unit
  Run,      // the ops of `part`; they wait for the Run before, for the gather and for what was loaded
  Release,  // the instance has run: gradient sync frees its parameters and reduces its gradients
  Store,    // the copy of its saved tensors to the host starts
  Drop,     // the copy has to be over: the device memory of its saved tensors is freed
  Load      // memory for its saved tensors is allocated and the copy from the host starts; waits for the Run
            // before
};

struct Event {
  EventKind kind = EventKind::Run;
  LayerPart part = LayerPart::Forward;  // Gather, Run and Release: of which part
  size_t instance = 0;                  // index into StageLayout::instances
  size_t cause = 0;                     // a Replay: the instance whose backward needs it; otherwise instance
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
  // Events of a Forward, Backward, BackwardInput or BackwardWeight; none of any other action.
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

// When offloaded layers leave the device and come back, by their position among the layers of a virtual
// stage.
struct OffloadDistance {
  explicit OffloadDistance(size_t layers, size_t offloaded);
  size_t drop_before(size_t layer) const { return layer + distance_ + 1; }  // forward of this layer
  size_t load_before(size_t layer) const { return layer + distance_; }      // backward of this layer

 private:
  size_t distance_;
};

}  // namespace shardscape
