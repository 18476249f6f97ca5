// Effects of one setting: pairs of serving points whose servers differ in one setting, and whether the
// simulation changes in the measured direction.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validation/validation.h"

namespace shardscape {

enum class EffectSign : uint8_t {
  Right,
  Wrong,
  Zero,      // the simulation changes by less than kNoEffect: it lacks the mechanism
  Unmapped,  // at least one of the servers has no counterpart
  Noise,     // one of the servers was measured several times, and its runs differ by at least as much
};
const char* effect_sign_name(EffectSign sign);  // "right"

// Two servers with the same model, GPU, requests and load. A server that was measured several times counts
// once, with the mean of its runs.
struct EffectPair {
  std::string setting;                                 // by its common name (server_command.h)
  std::string before, after;                           // its values; empty: the server has its default
  std::string row, other;                              // names of their first rows
  double measured_percent = 0, predicted_percent = 0;  // change to the other
  EffectSign sign = EffectSign::Zero;
};

// Changes of less than this are left out, because they are noise.
inline constexpr double kLeastEffect = 0.03;
// Rows of equal settings whose answers differ by a few tokens are simulated with different lengths.
inline constexpr double kNoEffect = 0.001;

// The pairs of a metric that differ by more than kLeastEffect in the measurement, in the order of the rows.
std::vector<EffectPair> effect_pairs(const ValidatedMetric& metric);

// Servers that were measured several times: the noise of an effect.
struct RepeatedRuns {
  size_t servers = 0;
  double median_percent = 0, worst_percent = 0;  // difference between the largest and the smallest run
};
RepeatedRuns repeated_runs(const ValidatedMetric& metric);

struct EffectCounts {
  size_t right = 0, wrong = 0, zero = 0, unmapped = 0, noise = 0;
  size_t pairs() const { return right + wrong + zero; }  // that are judged
  void add(EffectSign sign);
};
// By setting.
std::map<std::string, EffectCounts> effect_counts(const std::vector<EffectPair>& pairs);
// Of all settings of one engine. The engine itself is another program, and counts apart (kEngineSetting).
EffectCounts setting_total(const std::vector<EffectPair>& pairs);
inline constexpr char kEngineSetting[] = "engine";

}  // namespace shardscape
