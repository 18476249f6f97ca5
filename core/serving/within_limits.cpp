#include "serving/within_limits.h"

#include <algorithm>

#include "design/limits.h"

namespace shardscape {
namespace {

// The largest batch of the context that keeps the limits; 0: none.
int64_t batch_within(const ServingSweep& sweep, int64_t context, int64_t largest, std::stop_token stop,
                     const std::shared_ptr<PlanCache>& cache) {
  int64_t low = 0, high = 0;  // low keeps the limits, high does not; 0: not known
  for (const ServedPoint& p : sweep.points)
    if (p.context == context && keeps_limits(p, sweep.limits)) low = std::max(low, p.batch);
  for (const ServedPoint& p : sweep.points)
    if (p.context == context && p.batch > low && (high == 0 || p.batch < high)) high = p.batch;
  if (low >= largest && low > 0) return low;  // memory is the limit
  const int64_t unit = least_batch(sweep.design);
  if (high == 0 || unit < 1 || unit > kMaxBatch) return low;
  int64_t below = low / unit, above = (high + unit - 1) / unit;
  while (above - below > 1 && !stop.stop_requested()) {
    const int64_t middle = below + (above - below) / 2, batch = middle * unit;
    ServedPoint p{batch, context, {}, {}};
    if (sweep.limits.ttft)
      p.prefill = swept_phase(serving_design(sweep.design, Mode::Prefill, batch, context), stop, cache);
    if (!sweep.limits.ttft || (p.prefill.valid() && !breaks_ttft(p, sweep.limits)))
      p.decode = swept_phase(serving_design(sweep.design, Mode::Decode, batch, context), stop, cache);
    (keeps_limits(p, sweep.limits) ? below : above) = middle;
  }
  return std::max(low, below * unit);
}

}  // namespace

bool breaks_ttft(const ServedPoint& point, const ServiceLimits& limits) {
  return limits.ttft && point.prefill.valid() && point.prefill.figures.seconds > *limits.ttft;
}

bool breaks_tpot(const ServedPoint& point, const ServiceLimits& limits) {
  return limits.tpot && point.decode.valid() && point.decode.figures.seconds > *limits.tpot;
}

bool keeps_limits(const ServedPoint& point, const ServiceLimits& limits) {
  const auto fits = [](const SweptPhase& phase) { return phase.valid() && phase.fits; };
  return fits(point.decode) && !breaks_tpot(point, limits) &&
         (!limits.ttft || (fits(point.prefill) && !breaks_ttft(point, limits)));
}

void find_within_limits(ServingSweep& sweep, const ServiceLimits& limits, std::stop_token stop,
                        std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  sweep.limits = limits;
  sweep.within.clear();
  std::erase_if(sweep.points, [](const ServedPoint& p) { return p.within && !p.requested && !p.largest; });
  for (ServedPoint& p : sweep.points) p.within = false;
  if (!limits.any()) return;
  std::vector<std::pair<int64_t, int64_t>> found;
  std::vector<ServedPoint> added;
  for (const auto& [context, largest] : sweep.largest) {
    const int64_t batch = batch_within(sweep, context, largest, stop, cache);
    found.emplace_back(context, batch);
    const bool known = std::any_of(
        sweep.points.begin(), sweep.points.end(),
        [&, of = context](const ServedPoint& p) { return p.context == of && p.batch == batch; });
    if (batch > 0 && !known) {
      added.push_back(served_point(sweep.design, batch, context, stop, cache));
      added.back().requested = false;
    }
    if (stop.stop_requested()) return;
  }
  const auto before = [](const ServedPoint& a, const ServedPoint& b) {
    return std::pair(a.context, a.batch) < std::pair(b.context, b.batch);
  };
  for (ServedPoint& p : added)
    sweep.points.insert(std::upper_bound(sweep.points.begin(), sweep.points.end(), p, before), std::move(p));
  for (ServedPoint& p : sweep.points)
    p.within = std::find(found.begin(), found.end(), std::pair(p.context, p.batch)) != found.end();
  sweep.within = std::move(found);
}

RunningCost output_cost(const Design& design, const ServedPoint& point) {
  return running_cost(design.cluster, design.world(),
                      point.decode.valid() ? point.decode.figures.tokens_per_second : 0);
}

}  // namespace shardscape
