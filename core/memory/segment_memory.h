// Memory inside one segment of the graph, op by op: which storages live when. Numbers of one rank, bytes as
// PyTorch's caching allocator hands them out. A storage is allocated by the op that first touches it and
// freed after the last op that reads it; what the backward reads stays (SavedStorage). Gradients that are
// added up share the memory of the first of them. By behaviour: PyTorch's autograd engine (a node lets go of
// its saved tensors when it has run), Megatron-core 0.14, Transformer Engine 2.11.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "model/kernel_profile.h"
#include "plan/step_model.h"

namespace shardscape {

// Bytes by MemoryCategory.
using CategoryBytes = std::array<int64_t, kAllMemoryCategories>;
int64_t total(const CategoryBytes& bytes);
inline int64_t total(int64_t bytes) { return bytes; }
CategoryBytes operator+(CategoryBytes a, const CategoryBytes& b);
CategoryBytes operator-(CategoryBytes a, const CategoryBytes& b);

// In whole blocks of the allocator (PyTorch c10/cuda/CUDACachingAllocator: 512 bytes).
int64_t allocated_bytes(int64_t bytes);

// Something that is alive at a moment.
struct LiveStorage {
  std::string name;  // "mlp.g", "attention.wq, gradient"
  MemoryCategory category = MemoryCategory::Buffers;
  int64_t bytes = 0;
};

// A run of ops of a segment.
struct SegmentPart {
  CategoryBytes
      begin{};  // of this segment, alive when it begins: its input, what was kept, its output's gradient
  CategoryBytes end{};   // alive when it is done
  CategoryBytes peak{};  // alive at its fullest moment
  OpId peak_op = -1;     // -1: when it begins
};

// What layers that keep this much do with memory.
struct SegmentMemory {
  // The replay of full recompute is the whole segment's; in a group of layers it hands its result to the next
  // one.
  SegmentPart forward, replay, replay_in_group, backward;
  SegmentPart first_backward;  // one that gradients of parameters come with: they are in its peak and its end
  SegmentPart input_backward;  // where backwards are split: what makes gradients of weights comes later, and
                               // what that reads stays
  CategoryBytes kept{};        // of each microbatch between forward and backward
  CategoryBytes output_grad{};  // in the begin of the backward
};

// A run of ops of a segment as the allocator sees it, one storage after the other. Storages by the one whose
// memory they share; negative ids are of workspaces and gradients that are gone when the run is over.
struct MemoryEvent {
  StorageId storage;
  int64_t bytes;  // > 0: allocated, < 0: freed
};
struct SegmentEvents {
  std::vector<MemoryEvent> events;
  size_t begin = 0;  // so many of them are there before the first op
  size_t peak = 0;   // after so many it is fullest
  // The gradient of parameter p, which stays.
  static constexpr StorageId kGradients = std::numeric_limits<StorageId>::min();
  static StorageId gradient(size_t p) { return kGradients + static_cast<StorageId>(p); }
  static bool is_gradient(StorageId id) { return id < kGradients / 2; }
  StorageId takes = -1,
            gives = -1;  // what comes from the run before it, and goes to the one after it; -1: nothing
};

// Sizes that lifetimes need, by segment.
struct SegmentSizes {
  std::vector<std::vector<int64_t>> storages;
  std::vector<std::vector<int64_t>> workspaces;  // by op
  std::vector<std::vector<int64_t>> gradients;   // by parameter: of a tensor as large as it
  std::vector<std::vector<int64_t>>
      coming;  // by parameter: of its gradient where that comes with a backward; empty: none does
};

// Lifetimes of a graph's storages: what does not depend on numbers. The graph has to outlive it.
class SegmentLifetimes {
 public:
  SegmentLifetimes(const Graph& graph, const KernelProfile& profile);
  // std::invalid_argument where a size is not whole.
  SegmentSizes sizes(const Binding& binding) const;
  // All that sizes, and shapes of parameters, are made of.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  int64_t serial() const { return serial_; }  // of the cache that holds these lifetimes
  void set_serial(int64_t serial) { serial_ = serial; }
  // Bytes of what is alive at the fullest moment of each part, in no order.
  using LiveBlocks = std::array<std::vector<int64_t>, 6>;
  SegmentMemory memory(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                       LiveBlocks* live = nullptr) const;
  MemoryCategory saved_category(int segment, StorageId kept) const;
  // What is alive at the fullest moment of a part of it, largest first.
  enum class Part : uint8_t { Forward, Replay, ReplayInGroup, Backward, FirstBackward, InputBackward };
  std::vector<LiveStorage> live(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                                Part part) const;
  SegmentEvents events(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                       Part part) const;
  std::set<StorageId> kept(
      int segment,
      CheckpointPolicy checkpoint_policy) const;  // between forward and backward, by whose memory it is
  bool saves_input(int segment, CheckpointPolicy checkpoint_policy) const;  // as it came

 private:
  struct Walk;
  struct PerSegment {
    std::vector<StorageId> root;  // storages that share memory have one root
    std::vector<OpId>
        merged;  // of a storage: the op after which it has been added to another; -1: it has not
    std::vector<bool> absorbed;            // never of its own memory
    std::vector<MemoryCategory> category;  // of a storage while nothing keeps it
    std::vector<bool> fixed;               // parameters, caches, and gradients that accumulate elsewhere
  };
  PerSegment analyse(const Segment& segment) const;
  SegmentPart walk(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes, Part part,
                   std::vector<LiveStorage>* at_peak, std::vector<int64_t>* blocks,
                   SegmentEvents* events = nullptr) const;

  const Graph& graph_;
  const KernelProfile& profile_;
  std::vector<PerSegment> segments_;
  ExprProgram program_;
  std::vector<Symbol> symbols_;
  int64_t serial_ = 0;
};

}  // namespace shardscape
