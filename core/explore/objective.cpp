#include "explore/objective.h"

#include <cmath>

#include "base/units.h"
#include "design/cluster.h"

namespace shardscape {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kSecondsPerHour = 3600;

double gpus(const Scored& s) { return static_cast<double>(s.design.world()); }

double price(const Scored& s) {
  if (s.price_per_hour > 0) return s.price_per_hour;
  const std::shared_ptr<const Accelerator> accelerator = accelerator_of(s.design.cluster);
  return accelerator && accelerator->price_per_hour > 0 ? accelerator->price_per_hour : kUnknown;
}

// Power of the accelerator boards at their limit for the whole step; excludes hosts, switches and cooling.
double watts(const Scored& s) {
  const std::shared_ptr<const Accelerator> accelerator = accelerator_of(s.design.cluster);
  return accelerator && accelerator->board_watts > 0 ? accelerator->board_watts : kUnknown;
}

double free_memory(const Scored& s) {
  return s.evaluation.capacity > 0 ? static_cast<double>(s.evaluation.capacity - s.evaluation.memory)
                                   : kUnknown;
}

constexpr Objective kObjectives[kObjectiveCount] = {
    {"step_time", "Step time", "s", false,
     "seconds of an optimizer step; decode: time per output token; prefill: time to the first token of the "
     "last prompt",
     [](const Scored& s) { return s.evaluation.step_seconds; }},
    {"tokens_per_gpu", "Tokens per second and GPU", "tokens/s", true,
     "tokens per second divided by the number of GPUs",
     [](const Scored& s) { return s.evaluation.tokens_per_second / gpus(s); }},
    {"cost", "Cost of a million tokens", "$", false,
     "dollars per million tokens, from the price of a GPU hour",
     [](const Scored& s) {
       return 1e6 * price(s) / kSecondsPerHour * gpus(s) / s.evaluation.tokens_per_second;
     }},
    {"headroom", "Free memory", "bytes", true, "free memory of the fullest rank", free_memory},
    {"memory", "Memory", "bytes", false, "memory of the fullest rank",
     [](const Scored& s) { return static_cast<double>(s.evaluation.memory); }},
    {"energy", "Energy of a token", "J", false, "joules per token, if all boards run at their power limit",
     [](const Scored& s) { return watts(s) * gpus(s) / s.evaluation.tokens_per_second; }},
    {"mfu", "Model FLOPs utilization", "", true, "model FLOPs per second as a share of the dense peak",
     [](const Scored& s) { return s.evaluation.mfu; }},
    {"gpus", "GPUs", "GPUs", false, "ranks of the job", gpus},
};

}  // namespace

std::span<const Objective, kObjectiveCount> objectives() { return kObjectives; }

int find_objective(std::string_view id) {
  for (int i = 0; i < kObjectiveCount; ++i)
    if (kObjectives[i].id == id) return i;
  return -1;
}

std::string objective_ids() {
  std::string text;
  for (const Objective& objective : kObjectives) text += std::string(text.empty() ? "" : ", ") + objective.id;
  return text;
}

std::string unknown_reason(int objective, const Design& design) {
  const std::string_view id = kObjectives[static_cast<size_t>(objective)].id;
  const char* lacks = id == "cost" ? "price" : id == "energy" ? "power limit" : "memory";
  return std::string("the ") + lacks + " of " + design.cluster.accelerator + " is not known";
}

ObjectiveValues objective_values(const Scored& scored) {
  ObjectiveValues values{};
  for (size_t i = 0; i < kObjectiveCount; ++i) values[i] = kObjectives[i].value(scored);
  return values;
}

std::string objective_text(int objective, double value) {
  if (!std::isfinite(value)) return "not known";
  const Objective& chosen = kObjectives[static_cast<size_t>(objective)];
  const std::string_view unit = chosen.unit;
  if (unit == "bytes") return format_bytes(static_cast<Wide>(value));
  if (unit == "s") return format_seconds(value);
  if (unit == "GPUs") return grouped(static_cast<Wide>(value)) + " GPUs";
  if (unit == "$") return "$" + significant(value);
  if (unit.empty()) return significant(100 * value) + " %";
  return significant(value, 4) + " " + chosen.unit;
}

}  // namespace shardscape
