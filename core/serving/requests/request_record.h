// What happened to a request, to a step, and between two tokens.
#pragma once

#include <cstdint>
#include <vector>

namespace shardscape {

// How a request ended. All but Finished are refusals before the request reaches an engine.
enum class RequestEnd : uint8_t {
  Pending,  // not yet
  Finished,
  LongerThanModel,   // prompt and output exceed max_model_len, context_len or max_seq_len
  LargerThanCache,   // prompt and output need more blocks than the cache has
  LargerThanBudget,  // without chunked prefill, the prompt or its recomputation exceeds a step's tokens
  ParentRefused,     // the previous turn was refused
};
const char* end_text(RequestEnd end);  // "larger than the KV cache"

// Seconds from the start of the run. A refused request has an arrival only.
struct RequestRecord {
  double arrival = 0;
  double scheduled = 0;  // the engine schedules the first chunk
  double first_token = 0;
  double last_token = 0;
  int32_t cached = 0;                    // prompt tokens found in the cache at the first schedule
  int32_t from_host = 0, from_disk = 0;  // of these: tokens that lower tiers of the cache had
  double load_seconds = 0;               // until they were on the device
  double load_begin = -1;                // of a load before the first chunk; -1: part of a step, or none
  int32_t preemptions = 0;
  int32_t replica = 0;
  int32_t chunks = 0;  // steps that computed a part of the prompt, up to the first token
  RequestEnd end = RequestEnd::Pending;
  // Disaggregated serving. `replica` is then that of the answer; the values above up to `chunks` are those of
  // the prefill replica.
  int32_t prefill_replica = -1;
  double prefilled = 0;       // the prefill replica has computed the prompt
  double transfer_begin = 0;  // the decode replica has blocks, and the transfer of the prompt begins
  double transfer_end = 0;
  int32_t restarts = 0;  // how often a replica failed that had the request
};

// Replicas that are in use from a time on: those that start, end their requests, or are repaired included.
struct ReplicaCount {
  double time = 0;
  int32_t replicas = 0;
};

// The use of the replicas of one kind.
struct PoolUse {
  int32_t first_replica = 0, replicas = 0;  // consecutive numbers
  double replica_seconds = 0;               // integral of the replicas in use over the run
  double busy_seconds = 0;                  // of steps, over all replicas; in a pipeline of the slowest stage
  double mean_blocks = 0;                   // in use on a replica, over the time of its steps
  int64_t peak_blocks = 0;                  // of the fullest replica
  int64_t usable_blocks = 0;                // of a replica; 0: endless
  std::vector<ReplicaCount> counts;         // at the start and after each change
};

struct StepRecord {
  double begin = 0, seconds = 0;
  int64_t decode_context = 0;  // sum over the decode sequences, including the new token
  int32_t replica = 0;
  int32_t prefill_tokens = 0;
  int32_t decode_sequences = 0;
  int32_t blocks = 0;        // in use
  int32_t running = 0;       // sequences that have started and not ended, at most max_num_seqs
  int32_t sampled = 0;       // sequences that get an output token
  int32_t draft_tokens = 0;  // of the decode sequences, in addition to one token of each
  // The first chunk of the step in RequestSimulation::chunks; the chunks end where those of the next step
  // begin.
  uint32_t first_chunk = 0;
};

// A request lost its blocks and waits again.
struct Preemption {
  double time = 0;  // seconds from the start of the run
  int32_t request = 0;
  uint32_t step = 0;  // number of the steps that were scheduled before
};

// Equal times between consecutive chunks of several answers. All tokens of an answer that a step yields
// arrive in one chunk: one token, or with speculative decoding several.
struct TokenGap {
  double seconds = 0;
  int64_t chunks = 0;  // that come after the gap
};

// Drafts of speculative decoding that were verified, counted as vLLM does (v1/spec_decode/metrics.py):
// tokens beyond the end of an answer are included.
struct DraftCounts {
  int64_t drafts = 0;             // sequences x steps with at least one draft token
  std::vector<int64_t> accepted;  // how many drafts were accepted up to each position
  void add(int64_t tokens);       // a draft, so many of whose tokens are accepted
  void add(const DraftCounts& other);
};

}  // namespace shardscape
