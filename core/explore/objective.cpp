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

using Unit = ObjectiveUnit;
constexpr const char* kStepTimeHelp =
    "seconds of an optimizer step; decode: time per output token; prefill: time to the first token of the "
    "last prompt";
constexpr Objective kObjectives[kObjectiveCount] = {
    {"step_time", "Step time", Unit::Seconds, false, kStepTimeHelp, nullptr,
     [](const Scored& s) { return s.evaluation.step_seconds; }},
    {"tokens_per_gpu", "Tokens/s per GPU", Unit::TokensPerSecond, true,
     "tokens per second divided by the number of GPUs", nullptr,
     [](const Scored& s) { return s.evaluation.tokens_per_second / gpus(s); }},
    {"cost", "Cost per million tokens", Unit::Dollars, false,
     "dollars per million tokens, from the price per GPU hour", "price",
     [](const Scored& s) {
       return 1e6 * price(s) / kSecondsPerHour * gpus(s) / s.evaluation.tokens_per_second;
     }},
    {"headroom", "Free memory", Unit::Bytes, true, "free memory of the worst rank", "memory", free_memory},
    {"memory", "Memory", Unit::Bytes, false, "memory of the worst rank", nullptr,
     [](const Scored& s) { return static_cast<double>(s.evaluation.memory); }},
    {"energy", "Energy per token", Unit::Joules, false,
     "joules per token, with all boards at their power limit", "power limit",
     [](const Scored& s) { return watts(s) * gpus(s) / s.evaluation.tokens_per_second; }},
    {"mfu", "Model FLOPs utilization", Unit::Share, true,
     "model FLOPs per second as a share of the dense peak", nullptr,
     [](const Scored& s) { return s.evaluation.mfu; }},
    {"gpus", "GPUs", Unit::Gpus, false, "ranks of the job", nullptr, gpus},
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
  const Objective& chosen = kObjectives[static_cast<size_t>(objective)];
  return std::string("the ") + (chosen.needs ? chosen.needs : chosen.label) + " of " +
         design.cluster.accelerator + " is unknown";
}

ObjectiveValues objective_values(const Scored& scored) {
  ObjectiveValues values{};
  for (size_t i = 0; i < kObjectiveCount; ++i) values[i] = kObjectives[i].value(scored);
  return values;
}

std::string objective_text(int objective, double value) {
  if (!std::isfinite(value)) return "unknown";
  switch (kObjectives[static_cast<size_t>(objective)].unit) {
    case Unit::Seconds: return format_seconds(value);
    case Unit::TokensPerSecond: return significant(value, 4) + " tokens/s";
    case Unit::Dollars: return "$" + significant(value);
    case Unit::Bytes: return format_bytes(whole_part(value));
    case Unit::Joules: return significant(value, 4) + " J";
    case Unit::Share: return significant(100 * value) + " %";
    case Unit::Gpus: return grouped(whole_part(value)) + " GPUs";
  }
  return "";
}

}  // namespace shardscape
