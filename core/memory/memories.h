// What segments of a graph do with memory, for all stages of a report, or of many designs with the same
// numbers.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "memory/segment_memory.h"
#include "plan/report.h"

namespace shardscape {

const KernelProfile& profile_of(const Graph& graph);
// What does not depend on numbers.
std::shared_ptr<const SegmentLifetimes> cached_lifetimes(const Report& report);

// A segment, and how much its layers keep.
using ClassKey = std::pair<int, CheckpointPolicy>;

// Memory that the allocator takes in whole segments: blocks of at most 1 MiB share segments of 2 MiB, of less
// than 10 MiB segments of 20 MiB, larger ones have segments of their own in steps of 2 MiB (PyTorch
// c10/cuda/CUDACachingAllocator). What freed blocks of other sizes leave unused is not counted: expandable
// segments give it back.
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
  int64_t small_ = 0, middle_ = 0,
          large_ = 0;  // bytes of blocks that share segments; rounding of those that do not
};
// What a segment, as layers that keep so much run it, does with memory, and what of it lies in segments of
// the allocator.
struct Footprint {
  SegmentMemory memory;
  AllocatorSegments kept;                 // by a layer of one microbatch
  std::array<AllocatorSegments, 6> live;  // at the fullest moment, by SegmentLifetimes::Part
};
// Weights that share a dummy gradient, of one rank.
struct Dummy {
  int64_t rows, columns, bytes;
};

// Of a graph with numbers: what designs share.
struct MemoryTable {
  SegmentSizes sizes;
  std::map<ClassKey, Footprint> footprints;
  std::vector<std::vector<Dummy>> dummies;  // by segment
};

// Bytes of an element of gradients that come with a backward; 0: none do. tied: whether one table has its
// first gradient from the head.
struct ComingGradients {
  int64_t bytes = 0;
  bool tied = false;
};
ComingGradients coming_gradients(const Report& report);

// Made when they are asked for, or taken from a table.
class Memories {
 public:
  using Part = SegmentLifetimes::Part;
  explicit Memories(const Report& report, std::shared_ptr<const MemoryTable> table = {});
  const Footprint& of(ClassKey key);
  const std::vector<LiveStorage>& live(ClassKey key, Part part);
  AllocatorSegments live_segments(ClassKey key, Part part);
  std::vector<Dummy> dummies(int segment) const;
  const SegmentLifetimes& lifetimes() const { return *lifetimes_; }
  // Of the gradients of a segment that come with its first backward.
  int64_t coming(int segment) const;
  const SegmentSizes& sizes() const { return table_ ? table_->sizes : own_.sizes; }
  MemoryCategory category(int segment, StorageId kept) const {
    return lifetimes_->saved_category(segment, kept);
  }
  const Report& report() const { return report_; }
  // All that any design with these numbers asks for.
  std::shared_ptr<const MemoryTable> table();

 private:
  Footprint made(ClassKey key, SegmentLifetimes::LiveBlocks* live) const;
  const Report& report_;
  std::shared_ptr<const SegmentLifetimes> lifetimes_;
  std::shared_ptr<const MemoryTable> table_;
  MemoryTable own_;
  std::map<std::pair<ClassKey, Part>, std::vector<LiveStorage>> live_;
};

}  // namespace shardscape
