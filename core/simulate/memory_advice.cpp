#include "simulate/memory_advice.h"

#include <algorithm>
#include <cstdio>

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

std::string MemoryAdvice::text() const {
  std::string out = what + ": saves " + format_bytes(saved);
  if (time_percent) {
    char number[32];
    std::snprintf(number, sizeof number, "%.1f", *time_percent);
    out += std::string(" for ") + number + " % time";
  }
  return out;
}

std::vector<MemoryAdvice> memory_advice(const Report& report, const MemoryTimeline& memory, const StepSeconds& seconds, std::stop_token stop) {
  std::vector<MemoryAdvice> out;
  const int64_t now = memory.stages[static_cast<size_t>(memory.peak_stage)].in_use;
  const std::optional<double> before = seconds ? seconds(report) : std::nullopt;
  for (const Change& change : kChanges) {
    Design design = report.design;
    const Knob* knob = find_knob(change.knob);
    if (!knob || set_knob(design, *knob, change.value) || design == report.design) continue;
    const auto other = make_report(design, stop);
    if (!other) return {};
    if (!other->valid()) continue;
    const auto then = memory_timeline(*other, stop);
    if (!then) return {};
    const StageMemory& worst = then->stages[static_cast<size_t>(then->peak_stage)];
    if (worst.in_use >= now) continue;
    MemoryAdvice advice{change.what, change.knob, change.value, now - worst.in_use, then->fits, {}};
    if (const auto after = before ? seconds(*other) : std::nullopt) advice.time_percent = 100 * (*after / *before - 1);
    out.push_back(std::move(advice));
  }
  std::stable_sort(out.begin(), out.end(), [](const MemoryAdvice& a, const MemoryAdvice& b) { return a.saved > b.saved; });
  return out;
}

}  // namespace shardscape
