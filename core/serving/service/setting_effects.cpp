#include "serving/service/setting_effects.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "model/parallel_loop.h"
#include "model/progress_count.h"

namespace shardscape {
namespace {

constexpr double kShareStep = 0.05;

std::string exact_number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double number_of(const std::string& text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::vector<std::string> number_steps(double value) {
  if (!(value > 0)) return {};
  if (value > 1) return {exact_number(value / 2), exact_number(value * 2)};
  // Shares have two decimals. A step that leaves the range is left out by check_spec.
  const auto rounded = [](double share) { return exact_number(std::round(share * 100) / 100); };
  return {rounded(value - kShareStep), rounded(value + kShareStep)};
}

EffectFigures figures_of(const ServiceRun& run) {
  return {run.results, run.cost,
          run.results.refused == 0 && keeps_level(run.results, promised_level(run.spec))};
}

double relative(double now, double then) {
  if (now == then) return 0;
  return now > 0 ? std::fabs(then / now - 1) : 1;
}

double change_of(const EffectFigures& now, const EffectFigures& then) {
  const ServiceResults &a = now.results, &b = then.results;
  return std::max({relative(a.ttft.p99, b.ttft.p99), relative(a.tpot.p99, b.tpot.p99),
                   relative(a.e2e.p99, b.e2e.p99), relative(a.goodput, b.goodput),
                   relative(now.cost.dollars.value_or(0), then.cost.dollars.value_or(0))});
}

// Whether a setting of the fleet changes this service. A failure is a part of the question.
bool applies(const FleetSpec& fleet, std::string_view id) {
  if (id.starts_with("fail")) return false;
  const bool scales_prefill = id == "least_prefill_replicas" || id == "requests_per_prefill_replica" ||
                              id == "prefill_start_seconds" || id == "prefill_cool_down_seconds";
  if (scales_prefill) return fleet.least_prefill_replicas > 0;
  if (id == "kv_handoff" || id == "kv_connector" || id == "decode_replicas" || id.starts_with("prefill_"))
    return fleet.prefill_replicas > 0;
  const bool scales = id == "least_replicas" || id == "requests_per_replica" || id == "start_seconds" ||
                      id == "cool_down_seconds";
  return !scales || fleet.least_replicas > 0;
}

// The changed services that have values in range.
std::vector<std::pair<SettingEffect, ServiceSpec>> changes(const ServiceSpec& spec, int64_t replicas) {
  std::vector<std::pair<SettingEffect, ServiceSpec>> out;
  for (const ServiceSetting& setting : service_settings()) {
    const bool router = setting.group == SettingGroup::Fleet && replicas > 1;
    if (setting.group != SettingGroup::Engine && !(router && applies(spec.fleet, setting.id))) continue;
    for (std::string& value : setting_steps(spec, setting)) {
      ServiceSpec changed = spec;
      if (set_setting(changed, setting, value) || check_spec(changed) || changed == spec) continue;
      SettingEffect effect;
      effect.setting = &setting;
      effect.value = std::move(value);
      out.emplace_back(std::move(effect), std::move(changed));
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> setting_steps(const ServiceSpec& spec, const ServiceSetting& setting) {
  const std::string now = setting.text(spec);
  const std::string_view id = setting.id;
  // Nobody knows which drafts a model would accept before it has them.
  const bool drafts = id == "speculative_method" && now == "none";
  if (check_engine(spec, setting) || drafts || id == "engine" || id == "replicas") return {};
  std::vector<std::string> out;
  switch (setting.kind) {
    case SettingKind::Whole: {
      constexpr double kLargest = 1e15;  // no setting permits more
      const auto value = static_cast<int64_t>(std::min(number_of(now), kLargest));
      if (value > 1) out.push_back(std::to_string(value / 2));
      if (value > 0) out.push_back(std::to_string(value * 2));
      return out;
    }
    case SettingKind::Number: return number_steps(number_of(now));
    case SettingKind::Switch: return {now == "true" ? "false" : "true"};
    case SettingKind::Choice:
      for (const char* choice : setting.choices)
        if (now != choice) out.push_back(choice);
      return out;
    case SettingKind::Numbers:
    case SettingKind::File:
    case SettingKind::Seconds:
    case SettingKind::Level: break;
  }
  return out;
}

Result<std::shared_ptr<const SettingEffects>> setting_effects(
    const Design& design, const ServiceSpec& spec, std::stop_token stop, std::shared_ptr<PlanCache> cache,
    const std::function<void(size_t done, size_t of)>& progress) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const auto made = run_service(design, spec, stop, cache, RunSteps::Counted);
  if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
  auto out = std::make_shared<SettingEffects>();
  out->spec = spec;
  out->now = figures_of(*std::get<0>(made));
  auto all = changes(spec, std::get<0>(made)->spec.replicas);
  ProgressCount count(progress);
  parallel_loop(all.size(), [&](size_t i) {
    if (stop.stop_requested()) return;
    auto& [effect, changed] = all[i];
    const auto run = run_service(design, changed, stop, cache, RunSteps::Counted);
    if (const auto* problem = std::get_if<Problem>(&run)) {
      effect.reason = problem->what;
    } else {
      effect.figures = figures_of(*std::get<0>(run));
      effect.change = change_of(out->now, *effect.figures);
    }
    count.step(all.size());
  });
  if (stop.stop_requested()) return std::shared_ptr<const SettingEffects>(std::move(out));
  for (auto& [effect, changed] : all) out->effects.push_back(std::move(effect));
  std::stable_sort(out->effects.begin(), out->effects.end(),
                   [](const SettingEffect& a, const SettingEffect& b) {
                     const bool runs = a.figures.has_value(), other = b.figures.has_value();
                     return runs != other ? runs : a.change > b.change;
                   });
  return std::shared_ptr<const SettingEffects>(std::move(out));
}

}  // namespace shardscape
