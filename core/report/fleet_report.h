// A fleet search and the effects of settings as text, JSON and CSV.
#pragma once

#include <string>

#include "serving/service/fleet_search.h"
#include "serving/service/setting_effects.h"

namespace shardscape {

std::string fleet_text(const FleetSearch& search);  // for a terminal
// Seconds, dollars, kWh. Every candidate has its end and its reason.
std::string fleet_json(const FleetSearch& search);
std::string fleet_csv(const FleetSearch& search);  // a heading row, then one row per candidate
const char* fleet_end_text(FleetEnd end);          // "dominated"

std::string effects_text(const SettingEffects& effects);
std::string effects_json(const SettingEffects& effects);  // relative changes are shares
std::string effects_csv(const SettingEffects& effects);   // a heading row, the given settings, a row per step

}  // namespace shardscape
