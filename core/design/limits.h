// Upper limits of knob values. Private to core/design. Together they keep every count of a step below 2^127.
// The largest count is 2·B·S²·H·E·L times a small factor.
#pragma once

#include <cstdint>

namespace shardscape {

inline constexpr int64_t kMaxWorld = 131072;  // ranks, and every degree
inline constexpr int64_t kMaxLayers = 16384;
inline constexpr int64_t kMaxHidden = int64_t{1} << 20;
inline constexpr int64_t kMaxHeads = 16384;
inline constexpr int64_t kMaxHeadDim = 8192;
inline constexpr int64_t kMaxFfn = int64_t{1} << 24;
inline constexpr int64_t kMaxExperts = int64_t{1} << 16;
inline constexpr int64_t kMaxSharedExperts = 64;
inline constexpr int64_t kMaxSsmState = 65536;
inline constexpr int64_t kMaxSsmFactor = 1024;  // convolution taps, channels / hidden size
inline constexpr int64_t kMaxVocab = int64_t{1} << 27;
inline constexpr int64_t kMaxVocabMultiple = int64_t{1} << 20;
inline constexpr int64_t kMaxMtpLayers = 4;
inline constexpr int64_t kMaxSeq = int64_t{1} << 26;
inline constexpr int64_t kMaxProcessors = 1024;  // of an accelerator
inline constexpr int64_t kMaxBatch = int64_t{1} << 24;
inline constexpr int64_t kMaxPassTime = 1000000000;  // microseconds
inline constexpr int64_t kMaxMicrobatch = int64_t{1} << 20;
inline constexpr int64_t kMaxBucket = int64_t{1} << 40;  // elements
inline constexpr int64_t kMaxBucketMb = int64_t{1} << 20;
inline constexpr int64_t kMaxGpusPerNode = 4096;
inline constexpr int64_t kMaxPeakTflops = 1000000, kMaxMemoryGb = 1000000;
inline constexpr int64_t kMaxLinkRate = 1000000;  // GB/s, Gb/s
inline constexpr int64_t kMaxLatencyNs = 1000000000;
inline constexpr int64_t kMaxOversubscription = 1000000;  // in thousandths
// pp·m: longer schedules take too long to compute.
inline constexpr int64_t kMaxStageMicrobatches = int64_t{1} << 20;

}  // namespace shardscape
