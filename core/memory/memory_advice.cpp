#include "memory/memory_advice.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "base/real_text.h"
#include "base/units.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"

namespace shardscape {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

struct Change {
  const char* what;
  Settings settings;
};

// Settings that recompute the given modules in addition to the modules that the design recomputes already.
// Empty if the model has none of the given modules.
Settings modules(const Design& design, std::initializer_list<RecomputeModule> added) {
  RecomputeModules of;
  for (const RecomputeModule module : added) of.add(module);
  of = of & modules_in(design.model.architecture);
  if (of == RecomputeModules{}) return {};
  if (design.workload.recompute == Recompute::Selective) of = of | design.workload.recompute_modules;
  return {{"recompute", "selective"}, {"recompute_modules", module_names(of)}};
}

// The candidate changes, cheapest first.
std::vector<Change> changes(const Design& design) {
  using Module = RecomputeModule;
  return {
      {"sequence parallelism", {{"sequence_parallel", "true"}}},
      {"the distributed optimizer", {{"sync", "distributed-optimizer"}}},
      {"fully sharded data parallelism", {{"sync", "fsdp2"}}},
      {"recomputing activation functions", modules(design, {Module::MlpAct, Module::MoeAct})},
      {"recomputing norms and activation functions",
       modules(design, {Module::Layernorm, Module::MlpAct, Module::MoeAct})},
      {"recomputing the attention core", modules(design, {Module::CoreAttn})},
      {"recomputing the projections of latent attention", modules(design, {Module::MlaUpProj})},
      {"recomputing MLPs", modules(design, {Module::Mlp})},
      {"recomputing experts", modules(design, {Module::Moe})},
      {"full recomputation", {{"recompute", "full"}}},
      {"gradients in bfloat16", {{"grad_dtype", "bf16"}}},
      {"optimizer moments in bfloat16", {{"moment_dtype", "bf16"}}},
      {"keys and values in float8", {{"kv_cache_dtype", "fp8"}}},
      {"the optimizer on the host", {{"offload_optimizer", "true"}}},
      {"microbatches of one sequence", {{"microbatch", "1"}}},
  };
}

// Smaller savings are not listed.
constexpr double kSmallestSaving = 0.005;  // share of the bytes in use

}  // namespace

std::string MemoryAdvice::time_text() const {
  if (!time_percent) return {};
  const std::string number = fixed_text(std::abs(*time_percent), 1);
  if (number == "0.0") return "the same step time";
  return "a step " + number + (*time_percent < 0 ? " % shorter" : " % longer");
}

std::string MemoryAdvice::text() const {
  return what + ": saves " + format_bytes(saved) + (time_percent ? ", " + time_text() : "");
}

namespace {

// Applies settings. Returns false if a knob refuses its value, or if nothing changes.
bool take(Design& design, const Settings& settings) {
  const Design before = design;
  for (const auto& [id, value] : settings) {
    const Knob* knob = find_knob(id);
    if (!knob || set_knob(design, *knob, value)) return false;
  }
  return !(design == before);
}

// Compares changed designs with the report's design. Gives nothing for a design that cannot be built or saves
// no memory.
class Measure {
 public:
  Measure(const Report& report, const MemoryTimeline& memory, const StepSeconds& seconds,
          std::stop_token stop)
      : cache_(report.cache),
        seconds_(seconds),
        stop_(std::move(stop)),
        now_(memory.stages[static_cast<size_t>(memory.peak_stage)].in_use),
        fits_(memory.fits),
        before_(seconds ? seconds(report) : std::nullopt) {}

  std::optional<MemoryAdvice> of(const Design& design) const {
    const auto report = make_report(design, cache_, stop_);
    if (!report || !report->valid()) return std::nullopt;
    const auto then = memory_timeline(*report, stop_);
    if (!then) return std::nullopt;
    const int64_t in_use = then->stages[static_cast<size_t>(then->peak_stage)].in_use;
    if (in_use >= now_) return std::nullopt;
    MemoryAdvice advice;
    advice.saved = now_ - in_use;
    advice.fits = then->fits;
    if (advice.fits == fits_ &&
        static_cast<double>(advice.saved) < kSmallestSaving * static_cast<double>(now_))
      return std::nullopt;
    if (const auto after = before_ ? seconds_(*report) : std::nullopt)
      advice.time_percent = 100 * (*after / *before_ - 1);
    return advice;
  }
  std::optional<MemoryAdvice> of(std::string what, Settings settings, Design design) const {
    if (!take(design, settings)) return std::nullopt;
    std::optional<MemoryAdvice> advice = of(design);
    if (!advice) return std::nullopt;
    advice->what = std::move(what);
    advice->settings = std::move(settings);
    return advice;
  }

 private:
  std::shared_ptr<PlanCache> cache_;
  const StepSeconds& seconds_;
  std::stop_token stop_;
  int64_t now_;
  bool fits_;
  std::optional<double> before_;
};

// The design with all these single changes applied.
Design with(Design design, const std::vector<const MemoryAdvice*>& singles) {
  for (const MemoryAdvice* single : singles) take(design, single->settings);
  return design;
}

// Full recompute of the fewest layers per virtual stage that make the design fit, if fewer than all suffice
// (Megatron-LM, --recompute-method block).
std::optional<MemoryAdvice> fewest_recomputed_layers(const Report& report, const Measure& measure) {
  const std::vector<int64_t> layers_of = layers_per_virtual_stage(report.design);
  const int64_t most = *std::max_element(layers_of.begin(), layers_of.end());
  const char* each = report.design.parallel.virtual_stages > 1 ? " of every virtual stage"
                     : report.stages.size() > 1                ? " of every stage"
                                                               : "";
  const auto of = [&](int64_t layers) {
    return measure.of("recomputing " + std::to_string(layers) + (layers == 1 ? " layer" : " layers") + each,
                      {{"recompute", "full"},
                       {"recompute_method", "block"},
                       {"recompute_num_layers", std::to_string(layers)}},
                      report.design);
  };
  std::optional<MemoryAdvice> best;
  int64_t low = 1, high = most - 1;
  while (low <= high) {
    const int64_t middle = low + (high - low) / 2;
    std::optional<MemoryAdvice> some = of(middle);
    if (some && some->fits) {
      best = std::move(some);
      high = middle - 1;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

// Adds single changes, largest saving first, each only if it saves more, until the design fits. Then removes
// the changes that the design does not need to fit.
std::optional<MemoryAdvice> together(const Design& from, const std::vector<MemoryAdvice>& singles,
                                     const Measure& measure) {
  std::vector<const MemoryAdvice*> chosen;
  std::optional<MemoryAdvice> sum;
  for (const MemoryAdvice& single : singles) {
    const auto same = [&](const MemoryAdvice* other) {
      return other->settings.front().first == single.settings.front().first;
    };
    if (std::any_of(chosen.begin(), chosen.end(), same)) continue;
    chosen.push_back(&single);
    const std::optional<MemoryAdvice> more = measure.of(with(from, chosen));
    if (!more || (sum && more->saved <= sum->saved))
      chosen.pop_back();
    else
      sum = more;
    if (sum && sum->fits) break;
  }
  if (!sum || !sum->fits) return std::nullopt;
  for (size_t i = chosen.size(); i-- > 0;) {
    std::vector<const MemoryAdvice*> fewer = chosen;
    std::erase(fewer, chosen[i]);
    if (const std::optional<MemoryAdvice> less = measure.of(with(from, fewer)); less && less->fits) {
      chosen = fewer;
      sum = less;
    }
  }
  for (const MemoryAdvice* single : chosen) {
    sum->what += (sum->what.empty() ? "" : single == chosen.back() ? " and " : ", ") + single->what;
    sum->settings.insert(sum->settings.end(), single->settings.begin(), single->settings.end());
  }
  return sum;
}

}  // namespace

std::vector<MemoryAdvice> memory_advice(const Report& report, const MemoryTimeline& memory,
                                        const StepSeconds& seconds, std::stop_token stop) {
  std::vector<MemoryAdvice> out;
  const Measure measure(report, memory, seconds, stop);
  for (const Change& change : changes(report.design)) {
    std::optional<MemoryAdvice> advice = measure.of(change.what, change.settings, report.design);
    if (stop.stop_requested()) return {};
    if (advice) out.push_back(std::move(*advice));
  }
  if (!memory.fits)
    if (std::optional<MemoryAdvice> some = fewest_recomputed_layers(report, measure))
      out.push_back(std::move(*some));
  std::stable_sort(out.begin(), out.end(),
                   [](const MemoryAdvice& a, const MemoryAdvice& b) { return a.saved > b.saved; });
  const bool enough = memory.fits ||
                      std::any_of(out.begin(), out.end(), [](const MemoryAdvice& a) { return a.fits; });
  if (enough) return out;
  if (std::optional<MemoryAdvice> sum = together(report.design, out, measure))
    out.insert(out.begin(), std::move(*sum));
  return stop.stop_requested() ? std::vector<MemoryAdvice>() : out;
}

}  // namespace shardscape
