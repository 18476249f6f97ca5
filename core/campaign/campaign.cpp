#include "campaign/campaign.h"

#include <algorithm>
#include <cmath>

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

Band scaled(const Band& band, double factor) {
  return {band.low * factor, band.mean * factor, band.high * factor};
}

}  // namespace

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
  out.steps = std::ceil(static_cast<double>(out.tokens) / static_cast<double>(out.tokens_per_step));
  const double work = out.steps * out.step_seconds;
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
  out.interval_steps = std::min(out.interval_steps, out.steps);
  out.interval_seconds = out.interval_steps * out.step_seconds;
  out.checkpoints = std::floor(out.steps / out.interval_steps);

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
