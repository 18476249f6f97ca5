#include "serving/service/rate_sweep.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/real_text.h"
#include "base/units.h"
#include "model/parallel_loop.h"
#include "model/progress_count.h"
#include "serving/service/largest_rate.h"

namespace shardscape {
namespace {

constexpr int kTenths = 12;  // the usual rates, in tenths of the throughput
constexpr int kRateHalvings = 4;

// Three significant digits: rates that people read and type again.
double readable(double rate) { return parse_real(real_text(rate, 3)).value_or(rate); }

class Sweeper {
 public:
  Sweeper(RateSweep& out, std::stop_token stop, std::shared_ptr<PlanCache> cache,
          const std::function<void(size_t, size_t)>& progress)
      : out_(out), stop_(std::move(stop)), cache_(std::move(cache)), progress_(progress) {}

  // Simulates the rates, concurrently, and adds them to the points.
  std::optional<Problem> add(const std::vector<double>& rates) {
    std::vector<RatePoint> points(rates.size());
    std::vector<std::optional<Problem>> problems(rates.size());
    const size_t before = out_.points.size();
    ProgressCount count(progress_, before);
    parallel_loop(rates.size(), [&](size_t i) {
      if (stop_.stop_requested()) return;
      ServiceSpec spec = out_.spec;
      spec.source.rate = rates[i];
      problems[i] = simulate(spec, points[i]);
      points[i].rate = rates[i];
      count.step(before + rates.size());
    });
    for (std::optional<Problem>& problem : problems)
      if (problem) return std::move(problem);
    if (stop_.stop_requested()) return std::nullopt;
    out_.points.insert(out_.points.end(), points.begin(), points.end());
    std::sort(out_.points.begin(), out_.points.end(),
              [](const RatePoint& a, const RatePoint& b) { return a.rate < b.rate; });
    find_knee();
    return std::nullopt;
  }

  std::optional<Problem> simulate(const ServiceSpec& spec, RatePoint& point) const {
    const auto made = run_service(out_.design, spec, stop_, cache_, RunSteps::Counted);
    if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
    const ServiceRun& run = *std::get<0>(made);
    point.results = run.results;
    point.cost = run.cost;
    point.keeps_limits = keeps_level(run.results, promised_level(spec));
    return std::nullopt;
  }

  // The middle of the gap above the knee; nothing: all rates keep the limits, or none does.
  std::optional<double> above_knee() const {
    if (!out_.knee || *out_.knee + 1 == out_.points.size()) return std::nullopt;
    const double low = out_.points[*out_.knee].rate, high = out_.points[*out_.knee + 1].rate;
    const double middle = readable((low + high) / 2);
    return middle > low && middle < high ? std::optional(middle) : std::nullopt;
  }

 private:
  void find_knee() {
    out_.knee.reset();
    if (!promised_level(out_.spec).any()) return;
    for (size_t i = 0; i < out_.points.size() && out_.points[i].keeps_limits; ++i) out_.knee = i;
  }

  RateSweep& out_;
  std::stop_token stop_;
  std::shared_ptr<PlanCache> cache_;
  const std::function<void(size_t, size_t)>& progress_;
};

std::optional<Problem> check(const ServiceSpec& spec, const std::vector<double>& rates) {
  if (auto problem = check_has_rate(spec)) return problem;
  for (const double rate : rates)
    if (!(rate > 0) || !std::isfinite(rate))
      return Problem(ProblemCode::EngineSettingInvalid, "rate", "the value is " + significant(rate),
                     "a number above 0");
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const RateSweep>> sweep_rates(
    const Design& design, const ServiceSpec& spec, std::vector<double> rates, std::stop_token stop,
    std::shared_ptr<PlanCache> cache, const std::function<void(size_t done, size_t of)>& progress) {
  if (auto problem = check(spec, rates)) return *std::move(problem);
  auto out = std::make_shared<RateSweep>();
  out->design = design;
  out->spec = spec;
  Sweeper sweeper(*out, stop, cache ? std::move(cache) : std::make_shared<PlanCache>(), progress);
  const bool usual = rates.empty();
  if (usual) {
    ServiceSpec full = spec;
    full.source.arrivals = ArrivalKind::AllAtOnce;
    RatePoint most;
    if (auto problem = sweeper.simulate(full, most)) return *std::move(problem);
    if (stop.stop_requested()) return std::shared_ptr<const RateSweep>(std::move(out));
    if (most.results.finished == 0)
      return Problem(ProblemCode::WorkloadInvalid, "requests", "the service refuses every request",
                     "requests that fit into the model length and the cache");
    for (int tenths = 1; tenths <= kTenths; ++tenths)
      rates.push_back(readable(0.1 * tenths * most.results.requests_per_second));
  }
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  if (auto problem = sweeper.add(rates)) return *std::move(problem);
  for (int i = 0; usual && i < kRateHalvings && !stop.stop_requested(); ++i) {
    const std::optional<double> rate = sweeper.above_knee();
    if (!rate) break;
    if (auto problem = sweeper.add({*rate})) return *std::move(problem);
  }
  return std::shared_ptr<const RateSweep>(std::move(out));
}

}  // namespace shardscape
