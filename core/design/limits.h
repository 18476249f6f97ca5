// Upper limits of knob values. Private to core/design. Those of the model's sizes are in
// model/model_limits.h.
#pragma once

#include <cstdint>

#include "model/model_limits.h"

namespace shardscape {

inline constexpr int64_t kMaxWorld = 131072;  // ranks, and every degree
inline constexpr int64_t kMaxVocabMultiple = int64_t{1} << 20;
inline constexpr int64_t kMaxProcessors = 1024;  // of an accelerator
inline constexpr int64_t kMaxBatch = int64_t{1} << 24;
inline constexpr int64_t kMaxWorkspace = 4096;       // MiB
inline constexpr int64_t kMaxPassTime = 1000000000;  // microseconds
inline constexpr int64_t kMaxMicrobatch = int64_t{1} << 20;
inline constexpr int64_t kMaxImages = 65536;             // of a sequence
inline constexpr int64_t kMaxImageSize = 65536;          // pixels of a side
inline constexpr int64_t kMaxBucket = int64_t{1} << 40;  // elements
inline constexpr int64_t kMaxBucketMb = int64_t{1} << 20;
inline constexpr int64_t kMaxGpusPerNode = 4096;
inline constexpr int64_t kMaxPeakTflops = 1000000, kMaxMemoryGb = 1000000;
inline constexpr int64_t kMaxLinkRate = 1000000;  // GB/s, Gb/s
inline constexpr int64_t kMaxCtas = 64;           // NCCL's MAXCHANNELS
inline constexpr int64_t kMaxLatencyNs = 1000000000;
inline constexpr int64_t kMaxTokens = 1000000000000000000;  // of a training run
inline constexpr int64_t kMaxDuration = 100000000;          // seconds
inline constexpr int64_t kMaxPrice = 1000000000;            // thousandths of a dollar
inline constexpr int64_t kMaxWatts = 1000000;
inline constexpr int64_t kMaxPue = 10000;                 // in thousandths
inline constexpr int64_t kMaxFailureRate = 1000000000;    // in thousandths
inline constexpr int64_t kMaxStorageRate = 1000000000;    // MB/s
inline constexpr int64_t kMaxOversubscription = 1000000;  // in thousandths
inline constexpr int64_t kMaxJitter = 20000;              // in thousandths of a percent
inline constexpr int64_t kMaxSlowdown = 1000000;          // in thousandths of a percent
// pp·m: longer schedules take too long to compute.
inline constexpr int64_t kMaxStageMicrobatches = int64_t{1} << 20;

}  // namespace shardscape
