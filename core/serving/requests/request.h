// Requests to a serving engine, and the workload that they form.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shardscape {

struct Request {
  // Seconds from the start of the run. Of a turn with a parent: thinking time, seconds between the last token
  // of the parent and the arrival of this turn. Ignored for first turns of a closed loop.
  double arrival = 0;
  int32_t prompt = 0;  // tokens, the whole conversation of a later turn included
  int32_t output = 0;  // tokens, the end token included
  int32_t session = -1;
  // Index of the previous turn; -1: none. The prompt begins with the parent's prompt and answer.
  int32_t parent = -1;
  int32_t priority = 0;  // of the policy Priority: the smallest is served first
  // Identities of the blocks of the prompt in Workload::hashes.
  int32_t hashes = 0;
  int64_t first_hash = 0;
};

inline constexpr int32_t kMostTokens = 1 << 30;     // of a prompt or an answer
inline constexpr int64_t kMostHashes = 50'000'000;  // of all requests of a run

struct Workload {
  std::vector<Request> requests;  // a parent comes before its children
  // Prompts with an equal hash at an equal position, and equal hashes before, share these tokens.
  std::vector<uint64_t> hashes;
  int32_t tokens_per_hash = 512;
  // Closed loop: so many users send one request at a time, each the next of the list when the previous one
  // ends. 0: open loop, requests arrive at their own times.
  int64_t users = 0;

  std::span<const uint64_t> hashes_of(const Request& request) const {
    return std::span(hashes).subspan(static_cast<size_t>(request.first_hash),
                                     static_cast<size_t>(request.hashes));
  }
};

}  // namespace shardscape
