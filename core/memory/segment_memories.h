// Memory of the segments of a graph, cached for all stages of a report and for designs with equal numbers.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "memory/graph_capture.h"
#include "memory/segment_memory.h"
#include "plan/report.h"

namespace shardscape {

const KernelProfile& profile_of(const Graph& graph);
// Whether weights of equal shape share one permanent dummy gradient (WeightGradient::SharedDummy).
bool has_shared_dummies(const Graph& graph);
// The lifetimes of a graph's storages. They do not depend on numbers.
std::shared_ptr<const SegmentLifetimes> cached_lifetimes(const Report& report);

// A segment index and the checkpoint policy of its layers.
using ClassKey = std::pair<int, CheckpointPolicy>;

// Blocks rounded up to allocator segments. Blocks of at most 1 MiB share segments of 2 MiB. Blocks below 10
// MiB share segments of 20 MiB. Larger blocks have their own segments in steps of 2 MiB (PyTorch
// c10/cuda/CUDACachingAllocator). Holes that freed blocks leave are not counted: expandable segments return
// them.
//
// This is a closed form of CachingAllocator for blocks that stay allocated. The search needs its speed: a
// replay of the events takes milliseconds per stage (allocator_use.h), the sums take microseconds per design.
// tests/core/memory/allocator_test.cpp (segmentsOfBlocksThatStay) compares both on random blocks.
class AllocatorSegments {
 public:
  void add(int64_t bytes, int64_t count) {
    (bytes <= kSmall  ? small_
     : bytes < kLarge ? middle_
                      : large_) += count * (bytes < kLarge ? bytes : whole(bytes, kStep) - bytes);
  }
  void add(const AllocatorSegments& other, int64_t count) {
    small_ += count * other.small_;
    middle_ += count * other.middle_;
    large_ += count * other.large_;
  }
  int64_t waste() const { return large_ + whole(small_, kStep) - small_ + whole(middle_, kMiddle) - middle_; }

 private:
  static constexpr int64_t kSmall = int64_t{1} << 20, kLarge = 10 * kSmall, kStep = 2 * kSmall,
                           kMiddle = 20 * kSmall;
  static int64_t whole(int64_t bytes, int64_t step) { return (bytes + step - 1) / step * step; }
  // small_, middle_: bytes of blocks that share segments. large_: rounding of blocks with their own segments.
  int64_t small_ = 0, middle_ = 0, large_ = 0;
};
// The memory of a segment under one checkpoint policy, and its blocks in allocator segments.
struct Footprint {
  SegmentMemory memory;
  AllocatorSegments saved;                // saved tensors of one layer and microbatch
  std::array<AllocatorSegments, 6> live;  // at the peak of each SegmentLifetimes::Part
};
// One dummy gradient, which all weights with this shape share. Sizes are those of one rank.
struct Dummy {
  int64_t rows, columns, bytes;
};

// Memory of a graph with numbers. Designs share it.
struct MemoryTable {
  SegmentSizes sizes;
  std::map<ClassKey, Footprint> footprints;
  std::vector<std::vector<Dummy>> dummies;  // by segment
};

// Gradients that a backward allocates. bytes: size of one element; 0: no backward allocates gradients. tied:
// the head makes the first gradient of the tied embedding table.
struct AllocatedGradients {
  int64_t bytes = 0;
  bool tied = false;
};
AllocatedGradients allocated_gradients(const Report& report);

// Entries are made on first use, or read from a shared table.
class SegmentMemories {
 public:
  using Part = SegmentLifetimes::Part;
  // pool: the storages in the other pool have no bytes.
  explicit SegmentMemories(const Report& report, std::shared_ptr<const MemoryTable> table = {},
                           MemoryPool pool = MemoryPool::Eager);
  const Footprint& of(ClassKey key);
  const std::vector<LiveStorage>& live(ClassKey key, Part part);
  AllocatorSegments live_segments(ClassKey key, Part part);
  std::vector<Dummy> dummies(int segment) const;
  const SegmentLifetimes& lifetimes() const { return *lifetimes_; }
  // Bytes of the gradients that the first backward of a segment allocates.
  int64_t new_gradient_bytes(int segment) const;
  // Bytes of the gradient of every carried tensor, by index (graph/carried_tensors.h); 0: it has none.
  std::vector<int64_t> carried_gradients() const;
  const SegmentSizes& sizes() const { return table_ ? table_->sizes : own_.sizes; }
  MemoryCategory category(int segment, StorageId saved) const {
    return lifetimes_->saved_category(segment, saved);
  }
  const Report& report() const { return report_; }
  MemoryPool pool() const { return pool_; }
  // All entries that any design with these numbers needs.
  std::shared_ptr<const MemoryTable> table();

 private:
  void add_new_gradients();
  Footprint made(ClassKey key, SegmentLifetimes::LiveBlocks* live) const;
  const Report& report_;
  std::shared_ptr<const SegmentLifetimes> lifetimes_;
  std::shared_ptr<const MemoryTable> table_;
  const MemoryPool pool_;
  MemoryTable own_;
  std::map<std::pair<ClassKey, Part>, std::vector<LiveStorage>> live_;
};

}  // namespace shardscape
