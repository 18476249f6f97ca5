// What designs are ranked by.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "explore/evaluation.h"

namespace shardscape {

// A timed design and what else its figures follow from.
struct Scored {
  const Design& design;
  const Evaluation& evaluation;
  double price_per_hour = 0;  // of a GPU, in dollars; 0: as the catalogue has it, where it has any
};

struct Objective {
  const char *id, *label, *unit;
  bool more_is_better;
  const char* help;
  double (*of)(const Scored&);  // NaN: not known of this design
};
inline constexpr int kObjectiveCount = 8;
std::span<const Objective, kObjectiveCount> objectives();
int find_objective(std::string_view id);  // a place in objectives(); -1: there is none
std::string objective_ids();              // "step_time, tokens_per_gpu, ..."

// Why an objective is not known of a design: "the price of tpu-v5p is not known".
std::string unknown_reason(int objective, const Design& design);

using ObjectiveValues = std::array<double, kObjectiveCount>;
ObjectiveValues objective_values(const Scored& scored);
// So that less is better; what is not known is worse than all.
inline double score(int objective, double value) {
  if (value != value) return std::numeric_limits<double>::infinity();
  return objectives()[static_cast<size_t>(objective)].more_is_better ? -value : value;
}
std::string objective_text(int objective, double value);  // "1,043 tokens/s", "9.84 s"; "not known"

}  // namespace shardscape
