// Latencies that a service promises.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

struct ServiceLimits {
  // Seconds. The time to first token is that of the last prompt when all prompts of a batch arrive at once
  // (InferenceFigures::seconds of prefill).
  std::optional<double> ttft, tpot;
  bool any() const { return ttft || tpot; }
  friend bool operator==(const ServiceLimits&, const ServiceLimits&) = default;
};

// Seconds of "50 ms", "1.5s", "800 us" or "2 min". Nothing for empty text: no limit. `where` names the field
// in the problem.
Result<std::optional<double>> limit_seconds(std::string_view text, const std::string& where);
std::string limit_text(double seconds);  // "50 ms"; limit_seconds() reads it back, up to six digits
std::string limits_text(
    const ServiceLimits& limits);  // "TTFT <= 2 s and TPOT <= 50 ms"; empty without limits

}  // namespace shardscape
