// What matters of a design: one knob changed at a time, and the same design on more or fewer GPUs.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "design/knobs/knobs.h"
#include "explore/evaluation.h"

namespace shardscape {

// The design with another value of one knob.
struct Neighbour {
  std::string value;
  std::vector<std::pair<std::string, std::string>>
      also;  // other knobs that had to follow: dp, so that the ranks stay; fixes of problems
  Design design;
  Evaluation evaluation;  // timed even where it does not fit
};

struct KnobSensitivity {
  const Knob* knob = nullptr;
  std::string value;  // what it is
  std::vector<Neighbour>
      neighbours;  // valid ones only: the next smaller and larger, all other choices, off or on
  double slowest = 0,
         fastest = 0;  // change of tokens per second as shares of the design's: -0.1 is 10 % fewer
  int64_t least_memory = 0, most_memory = 0;  // change in bytes of the fullest rank
  double swing() const { return std::max(fastest, -slowest); }
  // The neighbours from the slowest to the fastest; of more than so many the outer ones.
  std::vector<const Neighbour*> extremes(size_t most) const;
};

struct Sensitivity {
  Evaluation now;
  std::vector<KnobSensitivity> knobs;  // those that change most tokens per second first
};

// Of a valid design. Knobs of the model, the mode, and those that have no effect or are left to the program
// (0), are left out. Nothing when stopped.
std::optional<Sensitivity> sensitivity(const Design& design, std::stop_token stop = {},
                                       const std::function<void(size_t done, size_t of)>& progress = {});

struct ScalePoint {
  int64_t gpus = 0, dp = 0, batch = 0;
  std::string wrong;      // why there is no such design; empty: there is
  Evaluation evaluation;  // timed even where it does not fit
  double efficiency = 0;  // tokens per second and GPU over those of the smallest size that was timed
};
struct ScalingOptions {
  bool weak = false;                  // the batch grows with dp; else it stays
  int64_t least = 8, most = 131'072;  // ranks
};
// The design with dp = 1, 2, 4 ... and its own. Nothing when stopped.
std::optional<std::vector<ScalePoint>> scaling(const Design& design, const ScalingOptions& options,
                                               std::stop_token stop = {});

}  // namespace shardscape
