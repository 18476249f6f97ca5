// The effect of each setting of an engine on a service: one step up and one step down.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "serving/service/service.h"

namespace shardscape {

// What a run reaches.
struct EffectFigures {
  ServiceResults results;
  RunningCost cost;          // of a million output tokens
  bool keeps_level = false;  // and every request is answered
};

struct SettingEffect {
  const ServiceSetting* setting = nullptr;
  std::string value;                     // the changed value, as text
  std::optional<EffectFigures> figures;  // nothing: the changed service cannot run
  std::string reason;                    // why it cannot run
  // Largest relative change of p99 TTFT, p99 TPOT, p99 E2E, goodput and dollars: 0.1 is 10 %.
  double change = 0;
};

struct SettingEffects {
  ServiceSpec spec;
  EffectFigures now;                   // with the given settings
  std::vector<SettingEffect> effects;  // the largest change first; services that cannot run come last
};

// The texts of the values one step below and above: half and double of a number, 0.05 less and more of a
// share between 0 and 1, the other choices, off or on. Empty for a number at 0 or below, where the engine has
// no limit or chooses the value, for a file and for the engine itself.
std::vector<std::string> setting_steps(const ServiceSpec& spec, const ServiceSetting& setting);

// Simulates the requests of the spec once per step of each setting of its engine, and of the router if there
// are several replicas. In parallel; the result does not depend on threads. A stopped search has no effects.
// A Problem if the given service cannot run. progress: called from any thread, see ProgressCount.
Result<std::shared_ptr<const SettingEffects>> setting_effects(
    const Design& design, const ServiceSpec& spec, std::stop_token stop = {},
    std::shared_ptr<PlanCache> cache = {}, const std::function<void(size_t done, size_t of)>& progress = {});

}  // namespace shardscape
