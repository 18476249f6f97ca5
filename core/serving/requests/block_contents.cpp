#include "serving/requests/block_contents.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "serving/requests/random.h"

namespace shardscape {

BlockContents::BlockContents(const Workload& workload, int32_t block_size) {
  const int64_t block = block_size, part = workload.tokens_per_hash;
  std::unordered_map<uint64_t, int32_t> known;  // chained hash of a part of a prompt: its first content
  std::vector<uint8_t> continued(workload.requests.size());
  first_segment_.reserve(workload.requests.size() + 1);
  private_from_.reserve(workload.requests.size());
  const auto grow = [&](int64_t blocks) {
    if (blocks > kMostContents - contents_) throw TooManyContents("cache blocks");
    contents_ += static_cast<int32_t>(blocks);
  };
  const auto add = [&](int64_t first, int32_t content) {
    // A segment that continues the previous one is not written.
    if (static_cast<int64_t>(segments_.size()) > first_segment_.back()) {
      const Segment& last = segments_.back();
      if (last.content + (first - last.first_block) == content) return;
    }
    if (segments_.size() >= kMostSegments) throw TooManyContents("parts of conversations");
    segments_.push_back({static_cast<int32_t>(first), content});
  };
  for (const Request& request : workload.requests) {
    first_segment_.push_back(static_cast<int64_t>(segments_.size()));
    int64_t done = 0;  // blocks that have a content
    if (request.hashes > 0) {
      uint64_t chain = 0;
      for (int64_t j = 0; j < request.hashes; ++j) {
        chain = mixed_bits(chain + mixed_bits(workload.hashes_of(request)[static_cast<size_t>(j)] + 1));
        // The blocks whose last token lies in this part. Short last parts have fewer blocks.
        const int64_t first = j * part / block;
        const int64_t end = std::min<int64_t>((j + 1) * part, request.prompt) / block;
        if (end <= first) continue;
        const auto [at, is_new] = known.try_emplace(chain, contents_);
        if (is_new) grow((j + 1) * part / block - first);
        add(first, at->second);
        done = end;
      }
    } else if (request.parent >= 0) {
      const Request& parent = workload.requests[static_cast<size_t>(request.parent)];
      continued[static_cast<size_t>(request.parent)] = 1;
      const int64_t shared = std::min(int64_t{parent.prompt} + parent.output, int64_t{request.prompt});
      done = shared / block;
      const auto from = first_segment_[static_cast<size_t>(request.parent)];
      const auto to = first_segment_[static_cast<size_t>(request.parent) + 1];
      for (int64_t k = from; k < to && segments_[static_cast<size_t>(k)].first_block < done; ++k) {
        if (segments_.size() >= kMostSegments) throw TooManyContents("parts of conversations");
        const Segment segment = segments_[static_cast<size_t>(k)];
        segments_.push_back(segment);
      }
    }
    const int64_t blocks = (int64_t{request.prompt} + request.output) / block;
    add(done, contents_);
    grow(std::max<int64_t>(0, blocks - done));
    private_from_.push_back(static_cast<int32_t>(done));
  }
  first_segment_.push_back(static_cast<int64_t>(segments_.size()));
  for (size_t i = 0; i < continued.size(); ++i)
    if (continued[i]) private_from_[i] = std::numeric_limits<int32_t>::max();
}

std::span<const BlockContents::Segment> BlockContents::segments(int32_t request) const {
  const auto i = static_cast<size_t>(request);
  return std::span(segments_).subspan(static_cast<size_t>(first_segment_[i]),
                                      static_cast<size_t>(first_segment_[i + 1] - first_segment_[i]));
}

int32_t BlockContents::private_from(int32_t request) const {
  return private_from_[static_cast<size_t>(request)];
}

}  // namespace shardscape
