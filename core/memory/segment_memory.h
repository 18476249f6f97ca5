// Lifetimes of the storages inside one segment of the graph, op by op. Sizes are bytes of one rank, rounded
// as PyTorch's caching allocator rounds them.
//
// The first op that touches a storage allocates the storage. The last op that reads a storage frees the
// storage. Tensors that the backward reads stay allocated (SavedStorage). Gradients of one tensor that are
// summed share the memory of the first summand. The model follows PyTorch's autograd engine (a node frees its
// saved tensors after it runs), Megatron-core 0.14 and Transformer Engine 2.11.
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

// Rounds up to whole allocator blocks (PyTorch c10/cuda/CUDACachingAllocator: 512 bytes).
int64_t allocated_bytes(int64_t bytes);

// An allocated storage.
struct LiveStorage {
  std::string name;  // "mlp.g", "attention.wq, gradient"
  MemoryCategory category = MemoryCategory::Buffers;
  int64_t bytes = 0;
  StorageId storage = -1;  // -1: a workspace
};

// Memory over the ops of one part of a segment, such as its forward.
struct SegmentPart {
  // Allocated at the begin: the segment's input, saved tensors, the gradient of its output.
  CategoryBytes begin{};
  CategoryBytes end{};   // allocated at the end
  CategoryBytes peak{};  // allocated at the peak
  OpId peak_op = -1;     // -1: the peak is at the begin
};

// Memory of a segment under one checkpoint policy.
struct SegmentMemory {
  // replay: full recompute of the whole segment. replay_in_group: the same inside a group of layers, where
  // the result goes to the next layer.
  SegmentPart forward, replay, replay_in_group, backward;
  // The first backward, which also allocates parameter gradients. Its peak and its end include them.
  SegmentPart first_backward;
  // The input-gradient part of a split backward. Tensors that the deferred weight gradient reads stay
  // allocated.
  SegmentPart input_backward;
  CategoryBytes saved{};        // saved tensors of one microbatch between forward and backward
  CategoryBytes output_grad{};  // part of the begin of the backward
  bool saves_input = false;     // unchanged
  bool saves_output = false;    // the result, which the next instance gets as its input
};

// The ops of one part of a segment as the allocator sees them: one allocation or free after the other. An
// event names the storage that owns the memory. Negative ids are workspaces and gradients that are freed
// within the part.
struct MemoryEvent {
  StorageId storage;
  int64_t bytes;  // > 0: allocated, < 0: freed
};
struct SegmentEvents {
  std::vector<MemoryEvent> events;
  size_t begin = 0;  // number of events before the first op
  size_t peak = 0;   // number of events up to the peak
  // The id of the gradient of parameter p, which is still allocated after the part.
  static constexpr StorageId kGradients = std::numeric_limits<StorageId>::min();
  static StorageId gradient(size_t p) { return kGradients + static_cast<StorageId>(p); }
  static bool is_gradient(StorageId id) { return id < kGradients / 2; }
  // Gradients of carried tensors that this part begins: by index of the tensor, the storage of the sum, which
  // the layers before add to.
  std::vector<std::pair<int, StorageId>> carried;
  // takes: the storage that the part gets from the previous instance. gives: the storage that it passes to
  // the next instance. -1: none.
  StorageId takes = -1, gives = -1;
};

// Sizes in bytes that lifetimes need, by segment.
struct SegmentSizes {
  std::vector<std::vector<int64_t>> storages;
  std::vector<std::vector<int64_t>> workspaces;  // by op
  std::vector<std::vector<int64_t>> gradients;   // by parameter: a gradient of the parameter's size
  // By parameter: the gradient that a backward allocates. Empty: no backward allocates gradients.
  std::vector<std::vector<int64_t>> new_gradients;
};

// Lifetimes of a graph's storages. They do not depend on numbers. The graph must outlive this object.
class SegmentLifetimes {
 public:
  SegmentLifetimes(const Graph& graph, const KernelProfile& profile);
  // Evaluates all sizes. Throws std::invalid_argument for a size that is not a whole number.
  SegmentSizes sizes(const Binding& binding) const;
  // All symbols in the sizes and in the shapes of parameters.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  int64_t serial() const { return serial_; }  // number in the cache that holds these lifetimes
  void set_serial(int64_t serial) { serial_ = serial; }
  // Bytes of every block that is allocated at the peak of each Part, in no order.
  using LiveBlocks = std::array<std::vector<int64_t>, 6>;
  SegmentMemory memory(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                       LiveBlocks* live = nullptr) const;
  MemoryCategory saved_category(int segment, StorageId saved) const;
  // All storages that are allocated at the peak of a part, largest first.
  enum class Part : uint8_t { Forward, Replay, ReplayInGroup, Backward, FirstBackward, InputBackward };
  std::vector<LiveStorage> live(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                                Part part) const;
  SegmentEvents events(int segment, CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes,
                       Part part) const;
  // Saved storages between forward and backward, each by the storage that owns its memory.
  std::set<StorageId> saved_storages(int segment, CheckpointPolicy checkpoint_policy) const;
  // Whether two storages are one memory: an op writes the second in place of the first.
  bool shares_memory(int segment, StorageId a, StorageId b) const {
    const std::vector<StorageId>& root = segments_[static_cast<size_t>(segment)].root;
    return root[static_cast<size_t>(a)] == root[static_cast<size_t>(b)];
  }
  // Whether the segment saves its input unchanged.
  bool saves_input(int segment, CheckpointPolicy checkpoint_policy) const;

 private:
  class Walk;  // segment_walk.h
  struct PerSegment {
    std::vector<StorageId> root;  // storages that share memory have the same root
    // By storage: the op after which the storage is added to another one; -1: it is not added.
    std::vector<OpId> merged;
    std::vector<bool> absorbed;            // by storage: the storage never has memory of its own
    std::vector<MemoryCategory> category;  // by storage, unless it is saved
    std::vector<bool> fixed;               // parameters, caches, and gradients that accumulate in a buffer
  };
  PerSegment analyse(const Segment& segment) const;
  static void absorb_on_chip(const Segment& segment, PerSegment& out);

  const Graph& graph_;
  const KernelProfile& profile_;
  std::vector<PerSegment> segments_;
  ExprProgram program_;
  std::vector<Symbol> symbols_;
  int64_t serial_ = 0;
};

}  // namespace shardscape
