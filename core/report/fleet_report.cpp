#include "report/fleet_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "base/units.h"
#include "report/text_columns.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<const char*, Latency> kLatencies[] = {{"ttft", Latency::Ttft},
                                                          {"tpot", Latency::Tpot},
                                                          {"itl", Latency::Itl},
                                                          {"e2e", Latency::E2e},
                                                          {"queueing", Latency::Queueing}};
constexpr size_t kReasonsShown = 8;

Json value_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
std::string amount(const std::optional<double>& value) { return value ? significant(*value) : "-"; }

std::string name_of(const FleetCandidate& candidate) {
  std::string out = candidate.design.cluster.accelerator + ", " + candidate.layout;
  if (candidate.prefill)
    out = "prefill " + candidate.prefill->cluster.accelerator + ", " + candidate.prefill_layout +
          "; decode " + out;
  if (!candidate.settings.empty()) out += ", " + candidate.settings;
  return out;
}

// The reasons of the candidates that are not sized, the most frequent first.
std::string reasons_text(const FleetSearch& search) {
  std::map<std::pair<FleetEnd, std::string>, std::pair<int64_t, std::string>> reasons;
  for (const FleetEntry& entry : search.entries) {
    if (entry.end == FleetEnd::Sized) continue;
    const bool own = entry.end == FleetEnd::Unfit || entry.end == FleetEnd::OutOfPlace;
    auto& [number, first] = reasons[{entry.end, own ? entry.reason : ""}];
    if (number++ == 0) first = name_of(entry.candidate);
  }
  std::string out;
  size_t shown = 0, others = 0;
  for (const auto& [kind, of] : reasons) {
    if (++shown > kReasonsShown) {
      others += static_cast<size_t>(of.first);
      continue;
    }
    out += std::string("\n  ") + fleet_end_text(kind.first) + ": " + grouped(of.first);
    if (!kind.second.empty()) out += " (" + of.second + ": " + kind.second + ")";
  }
  if (others > 0) out += "\n  for other reasons: " + grouped(static_cast<Wide>(others));
  return out.empty() ? "" : "\nnot sized:" + out + "\n";
}

// "5"; "2 + 3": of prefill and of decode engines.
std::string replicas_text(const FleetEntry& entry) {
  return entry.candidate.prefill ? grouped(entry.prefill_replicas) + " + " + grouped(entry.decode_replicas())
                                 : grouped(entry.replicas);
}

// The ratio of the cheapest fleet.
std::string ratio_text(const FleetSearch& search) {
  if (search.pairs == 0 || search.sized == 0) return "";
  const FleetEntry& best = search.entries.front();
  if (!best.candidate.prefill) return "cheapest: every engine computes prompts and answers\n";
  return "cheapest: prefill to decode " + grouped(best.prefill_replicas) + " : " +
         grouped(best.decode_replicas()) + " replicas, " + grouped(best.prefill_accelerators) + " : " +
         grouped(best.accelerators - best.prefill_accelerators) + " GPUs\n";
}

// Null if the engines also compute the prompts.
Json prefill_json(const FleetEntry& entry) {
  const FleetCandidate& candidate = entry.candidate;
  if (!candidate.prefill) return nullptr;
  Json out{{"accelerator", candidate.prefill->cluster.accelerator},
           {"layout", candidate.prefill_layout},
           {"engine_accelerators", entry.prefill_figures.accelerators}};
  if (entry.end == FleetEnd::Sized)
    out.update({{"replicas", entry.prefill_replicas}, {"accelerators", entry.prefill_accelerators}});
  return out;
}

Json entry_json(const FleetEntry& entry) {
  const FleetCandidate& candidate = entry.candidate;
  Json out{{"accelerator", candidate.design.cluster.accelerator},
           {"layout", candidate.layout},
           {"settings", candidate.settings},
           {"engine_accelerators", entry.figures.accelerators},
           {"prefill", prefill_json(entry)},
           {"end", fleet_end_text(entry.end)},
           {"reason", entry.reason}};
  if (entry.end != FleetEnd::Sized) return out;
  Json p99 = Json::object(), level = Json::array();
  for (const auto& [key, latency] : kLatencies)
    p99[std::string(key) + "_seconds"] = distribution_of(entry.results, latency).p99;
  for (const LatencyTarget& target : promised_level(candidate.spec).targets)
    level.push_back({{"limit", target_text(target)},
                     {"seconds", figure_of(distribution_of(entry.results, target.latency), target.figure)}});
  out.update({{"replicas", entry.replicas},
              {"accelerators", entry.accelerators},
              {"dollars_per_hour", value_or_null(entry.dollars_per_hour)},
              {"dollars_per_million_output_tokens", value_or_null(entry.cost.dollars)},
              {"kwh_per_million_output_tokens", value_or_null(entry.cost.kwh)},
              {"requests_per_second", entry.results.requests_per_second},
              {"goodput_requests_per_second", entry.results.goodput},
              {"p99", p99},
              {"service_level", level},
              {"larger_fleets_keep_level", entry.monotone}});
  return out;
}

Json effect_json(const EffectFigures& of) {
  Json p99 = Json::object();
  for (const auto& [key, latency] : kLatencies)
    p99[std::string(key) + "_seconds"] = distribution_of(of.results, latency).p99;
  return {{"p99", p99},
          {"requests_per_second", of.results.requests_per_second},
          {"goodput_requests_per_second", of.results.goodput},
          {"dollars_per_million_output_tokens", value_or_null(of.cost.dollars)},
          {"kwh_per_million_output_tokens", value_or_null(of.cost.kwh)},
          {"preemptions", of.results.preemptions},
          {"refused", of.results.refused},
          {"keeps_level", of.keeps_level}};
}

// The figures of a row of effects.
std::vector<std::string> effect_cells(const EffectFigures& of) {
  return {format_seconds(of.results.ttft.p99), format_seconds(of.results.tpot.p99),
          format_seconds(of.results.e2e.p99), significant(of.results.goodput), amount(of.cost.dollars)};
}

std::string cell(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

const char* fleet_end_text(FleetEnd end) {
  switch (end) {
    case FleetEnd::Sized: return "sized";
    case FleetEnd::Unfit: return "unfit";
    case FleetEnd::Dominated: return "dominated by another layout";
    case FleetEnd::NotTried: return "not simulated, by its estimated cost";
    case FleetEnd::OutOfPlace: return "more expensive for the first requests";
  }
  return "";
}

std::string fleet_text(const FleetSearch& search) {
  std::string out = grouped(search.requests) + " requests within " + level_text(promised_level(search.spec)) +
                    ": " + grouped(static_cast<Wide>(search.entries.size())) + " kinds of engines, " +
                    (search.pairs > 0 ? grouped(search.pairs) + " pairs of prefill and decode engines, "
                                      : "") +
                    grouped(search.simulations) + " simulations\n" + ratio_text(search);
  if (search.sized == 0) out += "no kind of engine keeps the limits\n";
  size_t width = 0;
  for (size_t i = 0; i < search.sized; ++i)
    width = std::max(width, name_of(search.entries[i].candidate).size());
  if (search.sized > 0) {
    out += pad("accelerator, layout", width, false);
    for (const char* name : {"replicas", "GPUs", "$/h", "$/Mtoken", "kWh/Mtoken", "p99 TTFT", "p99 TPOT"})
      out += pad(name, 12);
    out += "\n";
  }
  bool odd = false;
  for (size_t i = 0; i < search.sized; ++i) {
    const FleetEntry& entry = search.entries[i];
    out += pad(name_of(entry.candidate), width, false) + pad(replicas_text(entry), 12) +
           pad(grouped(entry.accelerators), 12) + pad(amount(entry.dollars_per_hour), 12) +
           pad(amount(entry.cost.dollars), 12) + pad(amount(entry.cost.kwh), 12) +
           pad(format_seconds(entry.results.ttft.p99), 12) + pad(format_seconds(entry.results.tpot.p99), 12) +
           (entry.monotone ? "\n" : " *\n");
    odd = odd || !entry.monotone;
  }
  if (odd) out += "* a larger fleet exceeds a limit again\n";
  return out + reasons_text(search);
}

std::string effects_text(const SettingEffects& effects) {
  constexpr size_t kName = 34, kValue = 24, kCell = 12;
  std::string out = pad("setting", kName, false) + pad("value", kValue, false);
  for (const char* name : {"p99 TTFT", "p99 TPOT", "p99 E2E", "goodput/s", "$/Mtoken", "change"})
    out += pad(name, kCell);
  const auto row = [&](const std::string& name, const std::string& value) {
    out += "\n" + pad(name, kName, false) + pad(value, kValue, false);
  };
  row("(as given)", "");
  for (const std::string& text : effect_cells(effects.now)) out += pad(text, kCell);
  for (const SettingEffect& effect : effects.effects) {
    row(effect.setting->id, effect.value);
    if (!effect.figures) {
      out += "  " + effect.reason;
      continue;
    }
    for (const std::string& text : effect_cells(*effect.figures)) out += pad(text, kCell);
    out += pad(effect.change > 0 ? significant(100 * effect.change) + " %" : "none", kCell);
    if (promised_level(effects.spec).any() && effect.figures->keeps_level != effects.now.keeps_level)
      out += effect.figures->keeps_level ? "  keeps the limits" : "  exceeds a limit";
  }
  return out + "\n";
}

std::string effects_json(const SettingEffects& effects) {
  Json list = Json::array();
  for (const SettingEffect& effect : effects.effects) {
    Json one{{"setting", effect.setting->id},
             {"now", effect.setting->text(effects.spec)},
             {"value", effect.value},
             {"reason", effect.reason},
             {"change", effect.figures ? Json(effect.change) : Json(nullptr)}};
    one["figures"] = effect.figures ? effect_json(*effect.figures) : Json(nullptr);
    list.push_back(std::move(one));
  }
  return json_document(Json{{"service_level", level_text(promised_level(effects.spec))},
                            {"now", effect_json(effects.now)},
                            {"effects", list}});
}

std::string effects_csv(const SettingEffects& effects) {
  std::string out =
      "setting,value,change,goodput_requests_per_second,dollars_per_million_output_tokens,"
      "kwh_per_million_output_tokens";
  for (const auto& [key, latency] : kLatencies) out += std::string(",") + key + "_p99_seconds";
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value).dump() : std::string();
  };
  const auto row = [&](const std::string& name, const std::optional<double>& change,
                       const std::optional<EffectFigures>& of) {
    out += "\n" + name + "," + number(change);
    out += "," + (of ? number(of->results.goodput) : "") + "," + (of ? number(of->cost.dollars) : "") + "," +
           (of ? number(of->cost.kwh) : "");
    for (const auto& [key, latency] : kLatencies)
      out += "," + (of ? number(distribution_of(of->results, latency).p99) : std::string());
  };
  row(",", std::nullopt, effects.now);
  for (const SettingEffect& effect : effects.effects)
    row(std::string(effect.setting->id) + "," + effect.value,
        effect.figures ? std::optional(effect.change) : std::nullopt, effect.figures);
  return out + "\n";
}

std::string fleet_json(const FleetSearch& search) {
  Json entries = Json::array();
  for (const FleetEntry& entry : search.entries) entries.push_back(entry_json(entry));
  return json_document(Json{{"requests", search.requests},
                            {"service_level", level_text(promised_level(search.spec))},
                            {"simulations", search.simulations},
                            {"pairs", search.pairs},
                            {"sized", search.sized},
                            {"candidates", entries}});
}

std::string fleet_csv(const FleetSearch& search) {
  std::string out =
      "accelerator,layout,settings,end,replicas,accelerators,dollars_per_hour,"
      "dollars_per_million_output_tokens,kwh_per_million_output_tokens,requests_per_second";
  for (const auto& [key, latency] : kLatencies) out += std::string(",") + key + "_p99_seconds";
  out += ",prefill_accelerator,prefill_layout,prefill_replicas,prefill_accelerators\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value).dump() : std::string();
  };
  for (const FleetEntry& entry : search.entries) {
    const bool sized = entry.end == FleetEnd::Sized;
    const FleetCandidate& candidate = entry.candidate;
    out += candidate.design.cluster.accelerator + "," + cell(candidate.layout) + "," +
           cell(candidate.settings) + "," + cell(fleet_end_text(entry.end)) + ",";
    out += sized ? std::to_string(entry.replicas) + "," + std::to_string(entry.accelerators) : ",";
    for (const auto& value : {entry.dollars_per_hour, entry.cost.dollars, entry.cost.kwh,
                              std::optional(entry.results.requests_per_second)})
      out += "," + (sized ? number(value) : "");
    for (const auto& [key, latency] : kLatencies)
      out += "," + (sized ? number(distribution_of(entry.results, latency).p99) : std::string());
    const bool pair = candidate.prefill.has_value();
    out += "," + (pair ? candidate.prefill->cluster.accelerator + "," + cell(candidate.prefill_layout) : ",");
    out += pair && sized ? "," + std::to_string(entry.prefill_replicas) + "," +
                               std::to_string(entry.prefill_accelerators)
                         : ",,";
    out += "\n";
  }
  return out;
}

}  // namespace shardscape
