#include "validation/effect_signs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "serving/requests/service_results.h"

namespace shardscape {
namespace {

using Settings = std::map<std::string, std::string>;

// The settings in which a and b differ.
std::set<std::string> differences(const Settings& a, const Settings& b) {
  std::set<std::string> out;
  const auto compare = [&](const Settings& from, const Settings& with) {
    for (const auto& [name, value] : from)
      if (const auto it = with.find(name); it == with.end() || it->second != value) out.insert(name);
  };
  compare(a, b);
  compare(b, a);
  return out;
}

// The setting in which two servers differ; empty: there is none, or several. The flags of speculative
// decoding switch one method together.
std::string only_difference(const Settings& a, const Settings& b) {
  constexpr char kDrafts[] = "speculative_";
  const std::set<std::string> names = differences(a, b);
  if (names.size() == 1) return *names.begin();
  const bool drafts = !names.empty() && std::all_of(names.begin(), names.end(), [&](const auto& name) {
    return name.starts_with(kDrafts);
  });
  return drafts ? "speculative_algorithm" : std::string();
}

std::string value_of(const Settings& settings, const std::string& name) {
  const auto it = settings.find(name);
  return it == settings.end() ? std::string() : it->second;
}

// The runs of one server.
struct Server {
  const ValidatedRow* first = nullptr;
  std::vector<double> measured, predicted;
  double spread() const {
    const auto [least, most] = std::minmax_element(measured.begin(), measured.end());
    return *most / *least - 1;
  }
};
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// In the order of their first rows.
std::vector<Server> servers_of(const ValidatedMetric& metric) {
  std::vector<Server> out;
  for (const auto* list : {&metric.rows, &metric.unpredicted})
    for (const ValidatedRow& row : *list) {
      // A serving point without settings has no start command. A training run has the default layout.
      if (row.settings.empty() && row.cell != ServedCell()) continue;
      auto same = std::find_if(out.begin(), out.end(), [&](const Server& server) {
        return server.first->series == row.series && server.first->load == row.load &&
               server.first->settings == row.settings;
      });
      if (same == out.end()) same = out.insert(out.end(), Server{&row, {}, {}});
      same->measured.push_back(row.measured);
      same->predicted.push_back(row.predicted);
    }
  return out;
}

EffectSign sign_of(double measured, double predicted, double noise) {
  if (std::abs(measured) <= noise) return EffectSign::Noise;
  if (std::abs(predicted) < kNoEffect) return EffectSign::Zero;
  return measured * predicted > 0 ? EffectSign::Right : EffectSign::Wrong;
}

}  // namespace

const char* effect_sign_name(EffectSign sign) {
  switch (sign) {
    case EffectSign::Right: return "right";
    case EffectSign::Wrong: return "wrong";
    case EffectSign::Zero: return "zero";
    case EffectSign::Unmapped: return "unmapped";
    case EffectSign::Noise: return "noise";
  }
  return "";
}

std::vector<EffectPair> effect_pairs(const ValidatedMetric& metric) {
  const std::vector<Server> servers = servers_of(metric);
  std::vector<EffectPair> out;
  for (size_t i = 0; i < servers.size(); ++i)
    for (size_t k = i + 1; k < servers.size(); ++k) {
      const Server &a = servers[i], &b = servers[k];
      if (a.first->series != b.first->series || a.first->load != b.first->load) continue;
      const std::string name = only_difference(a.first->settings, b.first->settings);
      const double measured = mean(b.measured) / mean(a.measured) - 1;
      if (name.empty() || std::abs(measured) <= kLeastEffect) continue;
      const bool mapped = mean(a.predicted) > 0 && mean(b.predicted) > 0;
      const double predicted = mapped ? mean(b.predicted) / mean(a.predicted) - 1 : 0;
      out.push_back(
          {name, value_of(a.first->settings, name), value_of(b.first->settings, name), a.first->name,
           b.first->name, 100 * measured, 100 * predicted,
           mapped ? sign_of(measured, predicted, std::max(a.spread(), b.spread())) : EffectSign::Unmapped});
    }
  return out;
}

RepeatedRuns repeated_runs(const ValidatedMetric& metric) {
  std::vector<double> spreads;
  for (const Server& server : servers_of(metric))
    if (server.measured.size() > 1) spreads.push_back(100 * server.spread());
  if (spreads.empty()) return {};
  const double worst = *std::max_element(spreads.begin(), spreads.end());
  return {spreads.size(), distribution(spreads).p50, worst};
}

void EffectCounts::add(EffectSign sign) {
  switch (sign) {
    case EffectSign::Right: ++right; break;
    case EffectSign::Wrong: ++wrong; break;
    case EffectSign::Zero: ++zero; break;
    case EffectSign::Unmapped: ++unmapped; break;
    case EffectSign::Noise: ++noise; break;
  }
}

std::map<std::string, EffectCounts> effect_counts(const std::vector<EffectPair>& pairs) {
  std::map<std::string, EffectCounts> out;
  for (const EffectPair& pair : pairs) out[pair.setting].add(pair.sign);
  return out;
}

EffectCounts setting_total(const std::vector<EffectPair>& pairs) {
  EffectCounts out;
  for (const EffectPair& pair : pairs)
    if (pair.setting != kEngineSetting) out.add(pair.sign);
  return out;
}

}  // namespace shardscape
