#include "simulate/memory_advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "base/units.h"
#include "design/knobs.h"

namespace shardscape {
namespace {

struct Change {
  const char *what, *knob, *value;
};

// What people reach for, in the order of what it costs.
constexpr Change kChanges[] = {
    {"sequence parallelism", "sequence_parallel", "true"},
    {"the distributed optimizer", "sync", "distributed-optimizer"},
    {"fully sharded data parallelism", "sync", "fsdp2"},
    {"recomputing the attention core", "recompute", "selective"},
    {"full recomputation", "recompute", "full"},
    {"gradients in bfloat16", "grad_dtype", "bf16"},
    {"optimizer moments in bfloat16", "moment_dtype", "bf16"},
    {"keys and values in float8", "kv_cache_dtype", "fp8"},
    {"the optimizer on the host", "offload_optimizer", "true"},
    {"microbatches of one sequence", "microbatch", "1"},
};

}  // namespace

std::string MemoryAdvice::time_text() const {
  if (!time_percent) return {};
  char number[32];
  std::snprintf(number, sizeof number, "%.1f", std::abs(*time_percent));
  if (number == std::string_view("0.0")) return "a step as long as now";
  return std::string("a step ") + number + (*time_percent < 0 ? " % shorter" : " % longer");
}

std::string MemoryAdvice::text() const {
  return what + ": saves " + format_bytes(saved) + (time_percent ? ", " + time_text() : "");
}

namespace {

// Designs near the report's, by what they save and take. Nothing of a design that cannot be built, or holds no less.
class Measure {
 public:
  Measure(const Report& report, const MemoryTimeline& memory, const StepSeconds& seconds, std::stop_token stop)
      : seconds_(seconds), stop_(std::move(stop)), now_(memory.stages[static_cast<size_t>(memory.peak_stage)].in_use),
        before_(seconds ? seconds(report) : std::nullopt) {}

  std::optional<MemoryAdvice> of(const Design& design) const {
    const auto report = make_report(design, stop_);
    if (!report || !report->valid()) return std::nullopt;
    const auto then = memory_timeline(*report, stop_);
    if (!then) return std::nullopt;
    const int64_t in_use = then->stages[static_cast<size_t>(then->peak_stage)].in_use;
    if (in_use >= now_) return std::nullopt;
    MemoryAdvice advice;
    advice.saved = now_ - in_use;
    advice.fits = then->fits;
    if (const auto after = before_ ? seconds_(*report) : std::nullopt) advice.time_percent = 100 * (*after / *before_ - 1);
    return advice;
  }

 private:
  const StepSeconds& seconds_;
  std::stop_token stop_;
  int64_t now_;
  std::optional<double> before_;
};

// False where the knob does not take the value, or has it already.
bool changes(Design& design, const std::pair<std::string, std::string>& setting) {
  const Design before = design;
  const Knob* knob = find_knob(setting.first);
  return knob && !set_knob(design, *knob, setting.second) && !(design == before);
}

// The design with these of the singles.
Design with(Design design, const std::vector<const MemoryAdvice*>& singles) {
  for (const MemoryAdvice* single : singles) changes(design, single->settings.front());
  return design;
}

// From what saves most on: each that saves still more, until the design fits; then without those that it fits without.
std::optional<MemoryAdvice> together(const Design& from, const std::vector<MemoryAdvice>& singles, const Measure& measure) {
  std::vector<const MemoryAdvice*> chosen;
  std::optional<MemoryAdvice> sum;
  for (const MemoryAdvice& single : singles) {
    const auto same = [&](const MemoryAdvice* other) { return other->settings.front().first == single.settings.front().first; };
    if (std::any_of(chosen.begin(), chosen.end(), same)) continue;
    chosen.push_back(&single);
    const std::optional<MemoryAdvice> more = measure.of(with(from, chosen));
    if (!more || (sum && more->saved <= sum->saved)) chosen.pop_back();
    else sum = more;
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
    sum->settings.push_back(single->settings.front());
  }
  return sum;
}

}  // namespace

std::vector<MemoryAdvice> memory_advice(const Report& report, const MemoryTimeline& memory, const StepSeconds& seconds, std::stop_token stop) {
  std::vector<MemoryAdvice> out;
  const Measure measure(report, memory, seconds, stop);
  for (const Change& change : kChanges) {
    Design design = report.design;
    if (!changes(design, {change.knob, change.value})) continue;
    std::optional<MemoryAdvice> advice = measure.of(design);
    if (stop.stop_requested()) return {};
    if (!advice) continue;
    advice->what = change.what;
    advice->settings = {{change.knob, change.value}};
    out.push_back(std::move(*advice));
  }
  std::stable_sort(out.begin(), out.end(), [](const MemoryAdvice& a, const MemoryAdvice& b) { return a.saved > b.saved; });
  const bool enough = memory.fits || std::any_of(out.begin(), out.end(), [](const MemoryAdvice& a) { return a.fits; });
  if (enough) return out;
  if (std::optional<MemoryAdvice> sum = together(report.design, out, measure)) out.insert(out.begin(), std::move(*sum));
  return stop.stop_requested() ? std::vector<MemoryAdvice>() : out;
}

}  // namespace shardscape
