#include "launch/launch_prediction.h"

#include <algorithm>

#include "base/units.h"
#include "memory/memory_timeline.h"
#include "serving/service/service_cache.h"

namespace shardscape {
namespace {

// Bytes of the allocator at the peak of the fullest stage: in use without the runtime, which is no tensor.
double allocated_bytes(const MemoryTimeline& memory) {
  int64_t most = 0;
  for (const StageMemory& stage : memory.stages)
    most = std::max(most, stage.in_use - stage.at_peak[static_cast<size_t>(MemoryCategory::Runtime)]);
  return static_cast<double>(most);
}

// What an engine with these settings leaves for its KV cache.
std::optional<CacheCapacity> engine_cache(const LaunchMeasurement& measured, const Report& report) {
  ServiceSpec spec;
  for (const LaunchSetting& setting : measured.service)
    if (const ServiceSetting* found = find_setting(setting.id);
        !found || set_setting(spec, *found, setting.value))
      return std::nullopt;
  auto cache = service_cache(report.design, spec);
  auto* capacity = std::get_if<CacheCapacity>(&cache);
  return capacity ? std::optional(std::move(*capacity)) : std::nullopt;
}

std::optional<double> predicted_of_cache(const LaunchMeasurement& measured, const Report& report) {
  const auto cache = engine_cache(measured, report);
  if (!cache) return std::nullopt;
  switch (measured.quantity) {
    case MeasuredQuantity::WeightMemory: return static_cast<double>(cache->states) / (1 << 30);
    case MeasuredQuantity::CacheMemory: return static_cast<double>(cache->cache) / (1 << 30);
    case MeasuredQuantity::CacheTokens: return static_cast<double>(cache->tokens);
    case MeasuredQuantity::StepTime:
    case MeasuredQuantity::UsefulFlops:
    case MeasuredQuantity::Tokens:
    case MeasuredQuantity::Mfu:
    case MeasuredQuantity::AllocatedMemory:
    case MeasuredQuantity::ReservedMemory: break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> predicted_value(const LaunchMeasurement& measured, const Report& report,
                                      const Simulation& simulation) {
  switch (measured.quantity) {
    case MeasuredQuantity::StepTime: return simulation.step_seconds * (measured.unit == "ms" ? 1e3 : 1);
    case MeasuredQuantity::UsefulFlops: return simulation.model_tflops;
    case MeasuredQuantity::Tokens: return simulation.tokens_per_second / static_cast<double>(report.ranks);
    case MeasuredQuantity::Mfu: return 100 * simulation.mfu;
    case MeasuredQuantity::AllocatedMemory:
      if (!report.memory) return std::nullopt;
      return allocated_bytes(*report.memory) / (measured.unit == "MB" ? 1 << 20 : 1 << 30);
    case MeasuredQuantity::ReservedMemory: break;
    case MeasuredQuantity::WeightMemory:
    case MeasuredQuantity::CacheMemory:
    case MeasuredQuantity::CacheTokens: return predicted_of_cache(measured, report);
  }
  return std::nullopt;
}

std::string measured_text(const LaunchMeasurement& measured, const std::optional<double>& predicted) {
  const auto with_unit = [&](double value) { return significant(value, 4) + " " + measured.unit; };
  std::string out = with_unit(measured.value) + " measured";
  if (!predicted) return out + ", not predicted";
  out += ", " + with_unit(*predicted) + " predicted";
  if (measured.value <= 0) return out;
  const double share = 100 * (*predicted / measured.value - 1);
  return out + " (" + (share > 0 ? "+" : "") + significant(share, 2) + " %)";
}

}  // namespace shardscape
