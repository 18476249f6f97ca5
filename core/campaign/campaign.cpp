#include "campaign/campaign.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>

#include "base/plan_cache.h"

namespace shardscape {
namespace {

constexpr double kSecondsPerHour = 3600, kSecondsPerDay = 86400;
constexpr double kLowQuantile = 0.05, kHighQuantile = 0.95;

// rate: interruptions in 1,000 days of 8 accelerators.
double mtti_seconds(double rate, int64_t accelerators) {
  constexpr double kAcceleratorDays = 1000.0 * 8;
  return kAcceleratorDays * kSecondsPerDay / (rate * static_cast<double>(accelerators));
}

// Whole steps with the smallest stretch: those around the best interval.
double best_steps(const Interruptions& interruptions, double step, double best) {
  const double below = std::max(1.0, std::floor(best / step));
  return stretch(interruptions, below * step) <= stretch(interruptions, (below + 1) * step) ? below
                                                                                            : below + 1;
}

TimeShares shares_of(const Interruptions& i, double interval) {
  const double whole = stretch(i, interval);  // time of the run / time of its steps
  TimeShares out;
  out.steps = 1 / whole;
  out.saves = i.save / interval / whole;
  // One interruption every M; another interruption may cut its restart short.
  out.restarts = -std::expm1(-i.restart / i.mtti);
  out.repeated = std::max(0.0, 1 - out.steps - out.saves - out.restarts);
  return out;
}

// Seconds of a step with `batch` sequences / seconds of a step with the global batch, for all sizes of a
// ramp. Simulates a few sizes and interpolates between them: steps grow almost linearly with their
// microbatches. Small batches differ most, so simulated sizes are closer together there.
class RampSeconds {
 public:
  explicit RampSeconds(const Design& design) : design_(design), cache_(std::make_shared<PlanCache>()) {
    const BatchRamp& ramp = design.workload.ramp;
    const int64_t increases = (design.workload.batch - ramp.start) / ramp.increment;
    constexpr int kDensest = 16;
    simulate_size(ramp.start);
    for (int part = kDensest; part > 1; part /= 2)
      if (const int64_t n = increases / part; n > 0) simulate_size(ramp.start + n * ramp.increment);
    simulate_size(design.workload.batch);
  }
  double relative(int64_t batch) const {
    const auto above = seconds_.lower_bound(batch);
    if (above->first == batch) return above->second / seconds_.rbegin()->second;
    const auto below = std::prev(above);
    const double at = static_cast<double>(batch - below->first) /
                      static_cast<double>(above->first - below->first);
    return std::lerp(below->second, above->second, at) / seconds_.rbegin()->second;
  }

 private:
  void simulate_size(int64_t batch) {
    Design design = design_;
    design.workload.batch = batch;
    design.workload.ramp = {};
    seconds_.try_emplace(batch, simulate(*make_report(design, cache_))->step_seconds);
  }

  Design design_;
  std::shared_ptr<PlanCache> cache_;
  std::map<int64_t, double> seconds_;  // by sequences of a step
};

RampSteps ramp_steps(const Design& design, int64_t samples, double step_seconds) {
  RampSteps out;
  const BatchRamp& ramp = design.workload.ramp;
  if (!ramp.exists()) return out;
  const RampSeconds seconds(design);
  for (const RampSize& size : ramp_sizes(ramp, design.workload.batch, samples)) {
    out.steps += static_cast<double>(size.steps);
    out.samples += static_cast<double>(size.steps * size.batch);
    out.seconds += static_cast<double>(size.steps) * step_seconds * seconds.relative(size.batch);
  }
  return out;
}

Band scaled(const Band& band, double factor) {
  return {band.low * factor, band.mean * factor, band.high * factor};
}

}  // namespace

std::vector<RampSize> ramp_sizes(const BatchRamp& ramp, int64_t batch, int64_t samples) {
  std::vector<RampSize> out;
  const int64_t increases = (batch - ramp.start) / ramp.increment;
  const double part = static_cast<double>(ramp.samples) / static_cast<double>(increases);
  int64_t consumed = 0;
  for (int64_t n = 0; n < increases && consumed < samples; ++n) {
    const int64_t size = ramp.start + n * ramp.increment;
    const double end = std::min(static_cast<double>(n + 1) * part, static_cast<double>(samples));
    const double left = end - static_cast<double>(consumed);
    if (left <= 0) continue;
    const auto steps = static_cast<int64_t>(std::ceil(left / static_cast<double>(size)));
    out.push_back({size, steps});
    consumed += steps * size;
  }
  return out;
}

Campaign campaign(const Report& report, const Simulation& simulation) {
  return campaign(report, simulation.step_seconds, simulation.tokens_per_second);
}

Campaign campaign(const Report& report, double step_seconds, double tokens_per_second) {
  Campaign out;
  const Design& design = report.design;
  out.tokens = design.workload.tokens;
  out.tokens_per_step = report.tokens_per_step;
  out.accelerators = report.ranks;
  out.step_seconds = step_seconds;
  out.operation = operation_of(design.cluster);
  const int64_t sequence = out.tokens_per_step / design.workload.batch;  // its tokens
  out.ramp = ramp_steps(design, (out.tokens + sequence - 1) / sequence, out.step_seconds);
  const double after_ramp = static_cast<double>(out.tokens) -
                            out.ramp.samples * static_cast<double>(sequence);
  const double full = std::max(0.0, std::ceil(after_ramp / static_cast<double>(out.tokens_per_step)));
  out.steps = full + out.ramp.steps;
  const double work = full * out.step_seconds + out.ramp.seconds;
  out.step_days = work / kSecondsPerDay;
  out.checkpoint = checkpoint_bytes(report);
  out.save_seconds = out.checkpoint.slowest() / (out.operation.checkpoint_gbps * 1e9);
  out.running = running_cost(design.cluster, out.accelerators, tokens_per_second);

  const auto [rate, low_rate, high_rate] = out.operation.failure_rate;
  const auto [restart, low_restart, high_restart] = out.operation.restart_seconds;
  const Interruptions usual{mtti_seconds(rate, out.accelerators), out.save_seconds, restart},
      low{mtti_seconds(low_rate, out.accelerators), out.save_seconds, low_restart},
      high{mtti_seconds(high_rate, out.accelerators), out.save_seconds, high_restart};
  out.mtti_hours = usual.mtti / kSecondsPerHour;
  out.best_interval_seconds = best_interval(usual);
  out.young_seconds = young_interval(usual);
  out.daly_seconds = daly_interval(usual);
  out.interval_given = design.workload.checkpoint_interval > 0;
  const auto given = static_cast<double>(design.workload.checkpoint_interval);
  out.interval_steps = out.interval_given ? std::max(1.0, std::round(given / out.step_seconds))
                                          : best_steps(usual, out.step_seconds, out.best_interval_seconds);
  out.interval_steps = std::min(out.interval_steps, out.steps);  // steps with the global batch
  out.interval_seconds = out.interval_steps * out.step_seconds;
  out.checkpoints = std::floor((full + out.ramp.seconds / out.step_seconds) / out.interval_steps);

  const double interval = out.interval_seconds;
  const double seconds = run_seconds(usual, work, interval);
  out.hopeless = !std::isfinite(seconds);
  const double fast = run_seconds(low, work * (1 - kStepError), interval * (1 - kStepError), kLowQuantile),
               slow = run_seconds(high, work * (1 + kStepError), interval * (1 + kStepError), kHighQuantile) *
                      (1 + kOtherLosses);
  out.days = scaled({fast, seconds, slow}, 1 / kSecondsPerDay);
  const auto count = [](double time, const Interruptions& i, double quantile) {
    return std::isfinite(time) ? static_cast<double>(poisson_quantile(time / i.mtti, quantile)) : time;
  };
  out.interruptions = {count(fast, low, kLowQuantile), seconds / usual.mtti,
                       count(slow, high, kHighQuantile)};
  out.shares = out.hopeless ? TimeShares{} : shares_of(usual, interval);
  out.accelerator_hours = scaled(out.days, 24.0 * static_cast<double>(out.accelerators));
  if (out.operation.price_per_hour > 0)
    out.dollars = scaled(out.accelerator_hours, out.operation.price_per_hour);
  if (out.operation.site_watts() > 0)
    out.mwh = scaled(out.accelerator_hours, out.operation.site_watts() * 1e-6);
  return out;
}

}  // namespace shardscape
