// Objectives that rank designs.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "explore/evaluation.h"

namespace shardscape {

// Inputs of every objective: a timed design, its evaluation and the price of a GPU.
struct Scored {
  const Design& design;
  const Evaluation& evaluation;
  double price_per_hour = 0;  // of a GPU in dollars; 0: the catalogue's price, if it has one
};

enum class ObjectiveUnit : uint8_t { Seconds, TokensPerSecond, Dollars, Bytes, Joules, Share, Gpus };

struct Objective {
  const char *id, *label;
  ObjectiveUnit unit;
  bool more_is_better;
  const char* help;
  // The property of the accelerator that the value needs, for people: "price". nullptr: none.
  const char* needs;
  double (*value)(const Scored&);  // NaN: unknown for this design
};
inline constexpr int kObjectiveCount = 8;
std::span<const Objective, kObjectiveCount> objectives();
int find_objective(std::string_view id);  // index in objectives(); -1: no such objective
std::string objective_ids();              // "step_time, tokens_per_gpu, ..."

// Why the objective is unknown for the design: "the price of tpu-v5p is not known".
std::string unknown_reason(int objective, const Design& design);

using ObjectiveValues = std::array<double, kObjectiveCount>;
ObjectiveValues objective_values(const Scored& scored);
// Orders values of an objective: less is better, unknown values (NaN) come last.
inline double score(int objective, double value) {
  if (value != value) return std::numeric_limits<double>::infinity();
  return objectives()[static_cast<size_t>(objective)].more_is_better ? -value : value;
}
std::string objective_text(int objective, double value);  // "1,043 tokens/s", "9.84 s", "not known"

}  // namespace shardscape
