// Which cache blocks of different requests have equal contents.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "serving/requests/request.h"

namespace shardscape {

// The requests have more different blocks, or more shared parts, than the simulation can hold.
struct TooManyContents : std::length_error {
  using std::length_error::length_error;
};

// Numbers the contents of all whole blocks of a workload. Two blocks have the same number if they and all
// blocks before them hold the same tokens, which is the condition of vLLM's chained block hashes. Numbers of
// consecutive blocks are mostly consecutive, so a table of contents is read in order.
//
// Prompts share blocks by their hashes. A turn without hashes starts with the prompt and the answer of its
// parent. Everything else is of one request only.
class BlockContents {
 public:
  BlockContents() = default;  // no block has a content: prefix caching is off
  // Throws TooManyContents beyond kMostContents, and for conversations of very many turns, whose parts take
  // more than kMostSegments.
  BlockContents(const Workload& workload, int32_t block_size);
  static constexpr int64_t kMostContents = INT32_MAX;
  static constexpr size_t kMostSegments = size_t{1} << 25;

  // Consecutive numbers for blocks from `first_block` up to the next segment.
  struct Segment {
    int32_t first_block = 0;
    int32_t content = 0;
  };
  // In the order of blocks; the first segment starts at block 0.
  std::span<const Segment> segments(int32_t request) const;
  // Blocks from this one on are of this request only, and no later turn continues it. INT32_MAX: none.
  int32_t private_from(int32_t request) const;
  int32_t contents() const { return contents_; }

 private:
  std::vector<Segment> segments_;
  std::vector<int64_t> first_segment_;  // of each request, and the end
  std::vector<int32_t> private_from_;
  int32_t contents_ = 0;
};

// Walks over the contents of the blocks of a request, from a block on.
class ContentWalk {
 public:
  ContentWalk(std::span<const BlockContents::Segment> segments, int32_t block) : segments_(segments) {
    size_t low = 0, high = segments_.size();
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (segments_[middle].first_block <= block ? low : high) = middle;
    }
    at_ = low;
    block_ = block;
  }
  int32_t next() {
    if (at_ + 1 < segments_.size() && segments_[at_ + 1].first_block == block_) ++at_;
    const BlockContents::Segment& segment = segments_[at_];
    return segment.content + (block_++ - segment.first_block);
  }

 private:
  std::span<const BlockContents::Segment> segments_;
  size_t at_ = 0;
  int32_t block_ = 0;
};

}  // namespace shardscape
