#include "serving/service/fleet_sizing.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/units.h"
#include "design/cluster.h"
#include "serving/service_limits.h"

namespace shardscape {
namespace {

int64_t replicas_of(const Design& engine) { return std::max<int64_t>(1, engine.parallel.dp); }

// The one place that turns the size of a fleet into settings.
void set_engines(ServiceSpec& spec, const FleetCandidate& candidate, const FleetSize& size) {
  const int64_t replicas = size.engines * replicas_of(candidate.design);
  spec.fleet.least_replicas = std::min(spec.fleet.least_replicas, replicas);
  if (!candidate.prefill) {
    spec.replicas = replicas;
    return;
  }
  spec.replicas = 0;
  spec.fleet.decode_replicas = replicas;
  spec.fleet.prefill_replicas = size.prefill * replicas_of(*candidate.prefill);
}

std::string refusals_text(const ServiceRun& run) {
  for (const RequestRecord& request : run.simulation.requests)
    if (request.end != RequestEnd::Finished && request.end != RequestEnd::Pending)
      return grouped(run.results.refused) + " requests are refused, the first one because it is " +
             end_text(request.end);
  return "";
}

std::string engines_text(const FleetSize& size) {
  const std::string engines = grouped(size.engines);
  if (size.prefill > 0) return grouped(size.prefill) + " prefill and " + engines + " decode engines exceed ";
  return engines + (size.engines == 1 ? " engine exceeds " : " engines exceed ");
}

}  // namespace

double dollars_per_hour(const Design& design, double accelerators) {
  const double price = operation_of(design.cluster).price_per_hour;
  return price > 0 ? price * accelerators : kUnknownPrice;
}

FleetSizing::FleetSizing(FleetRunner& runner, const Workload& workload, int64_t most_replicas,
                         std::stop_token stop, std::shared_ptr<PlanCache> cache,
                         std::atomic<int64_t>& simulations)
    : runner_(runner),
      workload_(workload),
      level_(promised_level(runner.entry.candidate.spec)),
      stop_(std::move(stop)),
      cache_(std::move(cache)),
      simulations_(simulations) {
  const auto requests = static_cast<int64_t>(workload.requests.size());
  const auto most = [&](const Design& engine) {
    return std::max<int64_t>(1, std::min(most_replicas / replicas_of(engine), requests));
  };
  most_.engines = most(candidate().design);
  if (candidate().prefill) most_.prefill = most(*candidate().prefill);
}

void FleetSizing::run(bool check_next) {
  FleetEntry& entry = runner_.entry;
  const bool pair = candidate().prefill.has_value();
  FleetSize low{0, 0};
  FleetSize size{pair ? std::clamp<int64_t>(runner_.size.prefill, 1, most_.prefill) : 0,
                 std::clamp<int64_t>(runner_.size.engines, 1, most_.engines)};
  while (!keeps(size)) {
    if (!entry.reason.empty() || stop_.stop_requested()) return fail();
    if (size == most_) return exceed(size);
    low = size;
    size = {std::min(2 * size.prefill, most_.prefill), std::min(2 * size.engines, most_.engines)};
  }
  if (pair) {
    size = least(size, &FleetSize::engines, 0);
    size = cheapest(least(size, &FleetSize::prefill, 0));
  } else {
    size = least(size, &FleetSize::engines, low.engines);
  }
  if (stop_.stop_requested()) return fail();
  entry.monotone = is_monotone(size, check_next);
  if (stop_.stop_requested()) return fail();
  accept(size);
}

bool FleetSizing::kept(const ServiceRun& run) const {
  return run.results.refused == 0 && run.results.finished > 0 && keeps_level(run.results, level_);
}

bool FleetSizing::keeps(const FleetSize& size) {
  if (const auto it = runs_.find(size); it != runs_.end()) return kept(*it->second);
  ServiceSpec spec = candidate().spec;
  set_engines(spec, candidate(), size);
  ++simulations_;
  PrefillEngine prefill;
  if (candidate().prefill) prefill = {&*candidate().prefill, runner_.prefill_clock.get()};
  const auto made = run_requests(candidate().design, spec, workload_, *runner_.clock, stop_, cache_,
                                 RunSteps::Counted, prefill);
  if (const auto* problem = std::get_if<Problem>(&made)) {
    runner_.entry.reason = problem->what;
    return false;
  }
  const ServiceRun& run = *std::get<0>(made);
  runner_.entry.reason = refusals_text(run);
  // Steps and requests are not needed any more.
  auto figures = std::make_unique<ServiceRun>();
  figures->spec = run.spec;
  figures->results = run.results;
  figures->accelerators = run.accelerators;
  figures->cost = run.cost;
  return kept(*runs_.emplace(size, std::move(figures)).first->second);
}

// The least number on an axis above `low` that keeps the level. `size` keeps it.
FleetSize FleetSizing::least(FleetSize size, Axis axis, int64_t low) {
  while (size.*axis - low > 1 && !stop_.stop_requested()) {
    FleetSize middle = size;
    middle.*axis = low + (size.*axis - low) / 2;
    if (keeps(middle))
      size = middle;
    else
      low = middle.*axis;
  }
  return size;
}

double FleetSizing::unit_cost(Axis axis) const {
  const Design& decode = candidate().design;
  const Design& prefill = *candidate().prefill;
  const Design& of = axis == &FleetSize::prefill ? prefill : decode;
  const auto gpus = static_cast<double>(of.world());
  const bool priced = dollars_per_hour(decode, 1) < kUnknownPrice &&
                      dollars_per_hour(prefill, 1) < kUnknownPrice;
  return priced ? dollars_per_hour(of, gpus) : gpus;
}

double FleetSizing::cost(const FleetSize& size) const {
  return unit_cost(&FleetSize::prefill) * static_cast<double>(size.prefill) +
         unit_cost(&FleetSize::engines) * static_cast<double>(size.engines);
}

// The most engines of a kind that cost less.
int64_t FleetSizing::most_below(double cost, Axis axis) const {
  return std::min(static_cast<int64_t>(std::ceil(cost / unit_cost(axis))) - 1, most_.*axis);
}

// corner: keeps the level, and not with one engine fewer of either kind.
FleetSize FleetSizing::cheapest(const FleetSize& corner) {
  FleetSize best = corner;
  const std::pair<Axis, Axis> sides[] = {{&FleetSize::engines, &FleetSize::prefill},
                                         {&FleetSize::prefill, &FleetSize::engines}};
  for (const auto& [fewer, more] : sides)
    for (int64_t number = corner.*fewer - 1; number > 0 && !stop_.stop_requested(); --number) {
      FleetSize size;
      size.*fewer = number;
      size.*more = most_below(cost(best) - unit_cost(fewer), more);
      if (size.*more <= corner.*more || !keeps(size)) break;
      size.*more = most_below(cost(best) - unit_cost(fewer) * static_cast<double>(number), more);
      if (size.*more > corner.*more && keeps(size)) best = least(size, more, corner.*more);
    }
  return best;
}

bool FleetSizing::is_monotone(const FleetSize& size, bool check_next) {
  if (check_next)
    for (const Axis axis : {&FleetSize::engines, &FleetSize::prefill}) {
      FleetSize next = size;
      if (size.*axis == 0 || ++(next.*axis) > most_.*axis) continue;
      if (!keeps(next)) return false;
    }
  return std::all_of(runs_.begin(), runs_.end(), [&](const auto& one) {
    const auto& [of, run] = one;
    return of.prefill < size.prefill || of.engines < size.engines || kept(*run);
  });
}

void FleetSizing::fail() {
  runner_.entry.end = FleetEnd::Unfit;
  runner_.price = {};
}

void FleetSizing::exceed(const FleetSize& size) {
  const ServiceResults& results = runs_.at(size)->results;
  if (const auto target = worst_target(results, level_))
    runner_.entry.reason = engines_text(size) + target_text(*target) + ": " +
                           format_seconds(
                               figure_of(distribution_of(results, target->latency), target->figure));
  fail();
}

void FleetSizing::accept(const FleetSize& size) {
  const ServiceRun& run = *runs_.at(size);
  FleetEntry& entry = runner_.entry;
  runner_.size = size;
  entry.end = FleetEnd::Sized;
  entry.reason.clear();
  entry.replicas = run.spec.replicas;
  entry.prefill_replicas = candidate().prefill ? run.spec.fleet.prefill_replicas : 0;
  entry.accelerators = run.accelerators;
  entry.results = run.results;
  entry.cost = run.cost;
  entry.prefill_accelerators = candidate().prefill ? size.prefill * candidate().prefill->world() : 0;
  double dollars = dollars_per_hour(candidate().design,
                                    static_cast<double>(run.accelerators - entry.prefill_accelerators));
  if (candidate().prefill)
    dollars += dollars_per_hour(*candidate().prefill, static_cast<double>(entry.prefill_accelerators));
  entry.dollars_per_hour = dollars < kUnknownPrice ? std::optional(dollars) : std::nullopt;
  runner_.price = {dollars, static_cast<double>(run.accelerators)};
}

}  // namespace shardscape
