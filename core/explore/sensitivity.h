// Sensitivity of a design: the effect of one knob at a time, and scaling to more or fewer GPUs.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign.h"
#include "design/knobs/knobs.h"
#include "explore/evaluation.h"

namespace shardscape {

// The design with another value of one knob.
struct Neighbour {
  std::string value;
  // Other knobs that changed: dp, so that the number of ranks stays, and the knobs of fixes.
  std::vector<std::pair<std::string, std::string>> also;
  Design design;
  Evaluation evaluation;  // timed even if it does not fit
};

// The design with this value of the knob, made valid by fixes that change neither the knob nor the number of
// ranks. Its evaluation is empty. nullopt: there is no such design, or it equals `from`.
std::optional<Neighbour> make_neighbour(const Design& from, const Knob& knob, const std::string& value);

struct KnobSensitivity {
  const Knob* knob = nullptr;
  std::string value;  // value in the design
  // Valid neighbours only: the next smaller and larger number, all other choices, or the other Boolean value.
  std::vector<Neighbour> neighbours;
  // Relative change of tokens per second: -0.1 is 10 % fewer.
  double slowest = 0, fastest = 0;
  int64_t least_memory = 0, most_memory = 0;  // change in bytes on the fullest rank
  double swing() const { return std::max(fastest, -slowest); }
  // Neighbours from slowest to fastest. If they are more than `most`, only the slowest and the fastest.
  std::vector<const Neighbour*> extremes(size_t most) const;
};

struct Sensitivity {
  Evaluation now;                      // of the design itself
  std::vector<KnobSensitivity> knobs;  // largest effect on tokens per second first
};

// Requires a valid design. Omits knobs of the model, the mode, knobs without effect, and knobs at 0, where
// the program chooses the value. Empty if stopped. progress: called from any thread, see ProgressCount.
std::optional<Sensitivity> sensitivity(const Design& design, std::stop_token stop = {},
                                       const std::function<void(size_t done, size_t of)>& progress = {});

struct ScalePoint {
  int64_t gpus = 0, dp = 0, batch = 0;
  std::string wrong;           // why the design is impossible; empty: it is possible
  Evaluation evaluation;       // timed even if it does not fit
  double efficiency = 0;       // tokens/s per GPU, divided by the value of the smallest timed size
  RunningCost cost;            // of a million tokens
  std::optional<Band> days{};  // of the training run, if its tokens are known
};
struct ScalingOptions {
  bool weak = false;                  // true: the batch grows with dp (weak scaling); false: it is constant
  int64_t least = 8, most = 131'072;  // ranks
};
// The design with dp = 1, 2, 4, ... and with its own dp. Empty if stopped.
std::optional<std::vector<ScalePoint>> scaling(const Design& design, const ScalingOptions& options,
                                               std::stop_token stop = {});

}  // namespace shardscape
