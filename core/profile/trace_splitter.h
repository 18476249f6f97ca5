// Splits the text of a chrome trace into its events without holding the text. Private to core/profile.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/compressed_file.h"

namespace shardscape {

// Receives the parts of a trace in file order. Each returns what is wrong with the part; empty: nothing.
// The texts are valid during the call. kSplitterPadding readable bytes follow each text.
struct TraceParts {
  std::function<std::string(std::string_view object)> event;
  // A member next to "traceEvents" whose key `wanted` accepts.
  std::function<bool(std::string_view key)> wanted;
  std::function<std::string(std::string_view key, std::string_view value)> member;
};
inline constexpr size_t kSplitterPadding = 64;
inline constexpr size_t kLongestTracePart = size_t{4} << 20;  // bytes of an event or a wanted member

// The trace is an object with the array "traceEvents", or that array alone (the older exporter of PyTorch).
// Memory: a window of half a MiB, or the longest part. A Problem (ProfileFormat) names the file and the line.
// Stopped: the parts so far, and no Problem.
std::optional<Problem> split_trace(CompressedFile& file, const std::string& name, const TraceParts& parts,
                                   const std::stop_token& stop);

}  // namespace shardscape
