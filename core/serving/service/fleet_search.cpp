#include "serving/service/fleet_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "design/cluster.h"
#include "model/parallel_loop.h"
#include "serving/service_limits.h"

namespace shardscape {
namespace {

constexpr size_t kShares[] = {16, 4};  // of the requests: the first 1/16, then the first quarter
constexpr size_t kLeastPrefix = 200;   // requests
constexpr double kUnknown = std::numeric_limits<double>::infinity();

// The one place that turns the size of a fleet into settings. Pools of prefill and decode engines in a fixed
// ratio are scaled here, too.
void set_engines(ServiceSpec& spec, const Design& engine, int64_t engines) {
  spec.replicas = engines * std::max<int64_t>(1, engine.parallel.dp);
}

// Orders costs: dollars where the price is known, then accelerators.
struct Price {
  double dollars = kUnknown, accelerators = kUnknown;
  friend auto operator<=>(const Price&, const Price&) = default;
};

double dollars_per_hour(const Design& design, int64_t accelerators) {
  const double price = operation_of(design.cluster).price_per_hour;
  return price > 0 ? price * static_cast<double>(accelerators) : kUnknown;
}

// A candidate in the search.
struct Runner {
  FleetEntry entry;
  std::unique_ptr<StepClock> clock;
  int64_t engines = 0;  // of the last sizing, or estimated
  Price price;          // of the last sizing, or estimated per request
};

std::string refusals_text(const ServiceRun& run) {
  for (const RequestRecord& request : run.simulation.requests)
    if (request.end != RequestEnd::Finished && request.end != RequestEnd::Pending)
      return grouped(run.results.refused) + " requests are refused, the first one because it is " +
             end_text(request.end);
  return "";
}

// The sizing of one candidate with some requests.
class Sizing {
 public:
  Sizing(Runner& runner, const Workload& workload, int64_t most_replicas, std::stop_token stop,
         std::shared_ptr<PlanCache> cache, std::atomic<int64_t>& simulations)
      : runner_(runner),
        workload_(workload),
        level_(promised_level(runner.entry.candidate.spec)),
        stop_(std::move(stop)),
        cache_(std::move(cache)),
        simulations_(simulations) {
    const int64_t dp = std::max<int64_t>(1, runner.entry.candidate.design.parallel.dp);
    const auto requests = static_cast<int64_t>(workload.requests.size());
    most_ = std::max<int64_t>(1, std::min(most_replicas / dp, requests));
  }

  // check_next: also simulates one more engine than needed.
  void run(bool check_next) {
    FleetEntry& entry = runner_.entry;
    int64_t low = 0, high = std::clamp<int64_t>(runner_.engines, 1, most_);
    while (!keeps(high)) {
      if (!entry.reason.empty() || stop_.stop_requested()) return fail();
      if (high == most_) return exceed(high);
      low = high;
      high = std::min(2 * high, most_);
    }
    while (high - low > 1 && !stop_.stop_requested()) {
      const int64_t middle = low + (high - low) / 2;
      (keeps(middle) ? high : low) = middle;
    }
    if (stop_.stop_requested()) return fail();
    entry.monotone = !(check_next && high < most_) || keeps(high + 1);
    for (const auto& [engines, run] : runs_)
      if (engines > high && !kept(*run)) entry.monotone = false;
    if (stop_.stop_requested()) return fail();
    accept(high);
  }

 private:
  bool kept(const ServiceRun& run) const {
    return run.results.refused == 0 && run.results.finished > 0 && keeps_level(run.results, level_);
  }

  bool keeps(int64_t engines) {
    if (const auto it = runs_.find(engines); it != runs_.end()) return kept(*it->second);
    const FleetCandidate& candidate = runner_.entry.candidate;
    ServiceSpec spec = candidate.spec;
    set_engines(spec, candidate.design, engines);
    ++simulations_;
    const auto made = run_requests(candidate.design, spec, workload_, *runner_.clock, stop_, cache_,
                                   RunSteps::Counted);
    if (const auto* problem = std::get_if<Problem>(&made)) {
      runner_.entry.reason = problem->what;
      return false;
    }
    const ServiceRun& run = *std::get<0>(made);
    runner_.entry.reason = refusals_text(run);
    // Requests are not needed any more.
    auto figures = std::make_unique<ServiceRun>();
    figures->spec = run.spec;
    figures->results = run.results;
    figures->accelerators = run.accelerators;
    figures->cost = run.cost;
    return kept(*runs_.emplace(engines, std::move(figures)).first->second);
  }

  void fail() {
    runner_.entry.end = FleetEnd::Unfit;
    runner_.price = {};
  }
  void exceed(int64_t engines) {
    const ServiceResults& results = runs_.at(engines)->results;
    if (const auto target = worst_target(results, level_))
      runner_.entry.reason = grouped(engines) + (engines == 1 ? " engine exceeds " : " engines exceed ") +
                             target_text(*target) + ": " +
                             format_seconds(
                                 figure_of(distribution_of(results, target->latency), target->figure));
    fail();
  }
  void accept(int64_t engines) {
    const ServiceRun& run = *runs_.at(engines);
    FleetEntry& entry = runner_.entry;
    runner_.engines = engines;
    entry.end = FleetEnd::Sized;
    entry.replicas = run.spec.replicas;
    entry.accelerators = run.accelerators;
    entry.results = run.results;
    entry.cost = run.cost;
    const double dollars = dollars_per_hour(entry.candidate.design, run.accelerators);
    entry.dollars_per_hour = dollars < kUnknown ? std::optional(dollars) : std::nullopt;
    runner_.price = {dollars, static_cast<double>(run.accelerators)};
  }

  Runner& runner_;
  const Workload& workload_;
  ServiceLevel level_;
  int64_t most_ = 1;
  std::stop_token stop_;
  std::shared_ptr<PlanCache> cache_;
  std::atomic<int64_t>& simulations_;
  std::map<int64_t, std::unique_ptr<ServiceRun>> runs_;  // by number of engines; figures only
};

Workload first_requests(const Workload& all, size_t number) {
  Workload out = all;
  out.requests.resize(std::min(number, out.requests.size()));
  return out;
}

class Search {
 public:
  Search(FleetSearch& out, const FleetOptions& options, std::stop_token stop,
         std::shared_ptr<PlanCache> cache, const std::function<void(size_t, size_t)>& progress)
      : out_(out), options_(options), stop_(std::move(stop)), cache_(std::move(cache)), progress_(progress) {}

  void run(std::vector<FleetCandidate> candidates, const Workload& workload) {
    runners_.resize(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) runners_[i].entry.candidate = std::move(candidates[i]);
    measure(workload_means(workload));
    prune();
    std::vector<size_t> left = live();
    keep_best(left, options_.simulated, FleetEnd::NotTried, "the estimated cost of a request is higher");
    const size_t all = workload.requests.size();
    for (const size_t share : kShares)
      if (const size_t number = all / share; number >= kLeastPrefix && left.size() > options_.finalists) {
        size_all(left, first_requests(workload, number), false);
        const size_t half = std::max(options_.finalists, (left.size() + 1) / 2);
        keep_best(left, share == kShares[0] ? half : options_.finalists, FleetEnd::OutOfPlace,
                  "others are cheaper for the first " + grouped(static_cast<Wide>(number)) + " requests");
      }
    size_all(left, workload, true);
    if (!stop_.stop_requested()) collect();
  }

 private:
  void step(size_t more) {
    if (progress_) progress_(++done_, of_ + more);
  }

  // The figures of every candidate.
  void measure(const WorkloadMeans& means) {
    of_ = runners_.size();
    parallel_loop(runners_.size(), [&](size_t i) {
      if (stop_.stop_requested()) return;
      measure_one(runners_[i], means);
      step(options_.finalists);
    });
  }

  void measure_one(Runner& runner, const WorkloadMeans& means) {
    FleetEntry& entry = runner.entry;
    const FleetCandidate& candidate = entry.candidate;
    const auto unfit = [&](const Problem& problem) {
      entry.end = FleetEnd::Unfit;
      entry.reason = problem.what;
    };
    if (const auto problem = check_spec(candidate.spec)) return unfit(*problem);
    auto clock = service_clock(candidate.design, candidate.spec, cache_);
    if (const auto* problem = std::get_if<Problem>(&clock)) return unfit(*problem);
    runner.clock = std::get<0>(std::move(clock));
    const auto figures = engine_figures(candidate.design, candidate.spec, means, *runner.clock, cache_);
    if (const auto* problem = std::get_if<Problem>(&figures)) return unfit(*problem);
    entry.figures = std::get<0>(figures);
    const double rate = entry.figures.requests_per_second;
    if (!(rate > 0)) {
      runner.engines = 1;
      return;
    }
    constexpr double kMostEngines = 1e6;
    runner.engines = static_cast<int64_t>(std::clamp(std::ceil(means.rate / rate), 1.0, kMostEngines));
    runner.price = {dollars_per_hour(candidate.design, entry.figures.accelerators) / rate,
                    static_cast<double>(entry.figures.accelerators) / rate};
  }

  // Equal candidates: the first one dominates.
  void prune() {
    const std::vector<size_t> all = live();
    std::vector<std::pair<size_t, size_t>> dominated;
    for (const size_t b : all)
      for (const size_t a : all) {
        const FleetCandidate &x = runners_[a].entry.candidate, &y = runners_[b].entry.candidate;
        const EngineFigures &f = runners_[a].entry.figures, &g = runners_[b].entry.figures;
        if (a == b || x.spec != y.spec || x.design.cluster != y.design.cluster || !dominates(f, g) ||
            (a > b && dominates(g, f)))
          continue;
        dominated.emplace_back(b, a);
        break;
      }
    for (const auto& [b, a] : dominated) {
      runners_[b].entry.end = FleetEnd::Dominated;
      runners_[b].entry.reason = runners_[a].entry.candidate.layout + " is at least as good in every figure";
    }
  }

  std::vector<size_t> live() const {
    std::vector<size_t> out;
    for (size_t i = 0; i < runners_.size(); ++i)
      if (runners_[i].clock && runners_[i].entry.end == FleetEnd::NotTried) out.push_back(i);
    return out;
  }

  // The cheapest ones, and the cheapest one of each accelerator. Candidates that exceeded the level for the
  // first requests come last.
  void keep_best(std::vector<size_t>& left, size_t most, FleetEnd end, const std::string& reason) {
    std::stable_sort(left.begin(), left.end(),
                     [&](size_t a, size_t b) { return runners_[a].price < runners_[b].price; });
    std::vector<size_t> kept;
    std::set<std::string> accelerators;
    for (const size_t i : left) {
      FleetEntry& entry = runners_[i].entry;
      const bool first = accelerators.insert(entry.candidate.design.cluster.accelerator).second;
      if (kept.size() < most || first) {
        kept.push_back(i);
        continue;
      }
      const bool unfit = entry.end == FleetEnd::Unfit;
      entry.end = unfit ? FleetEnd::Unfit : end;
      if (!unfit) entry.reason = reason;
    }
    left = std::move(kept);
  }

  void size_all(const std::vector<size_t>& left, const Workload& workload, bool final) {
    of_ = done_ + left.size();
    parallel_loop(left.size(), [&](size_t i) {
      if (stop_.stop_requested()) return;
      Runner& runner = runners_[left[i]];
      runner.entry.reason.clear();
      Sizing(runner, workload, options_.most_replicas, stop_, cache_, simulations_).run(final);
      step(final ? 0 : options_.finalists);
    });
  }

  void collect() {
    std::vector<size_t> order(runners_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](size_t i) {
      const Runner& runner = runners_[i];
      const bool sized = runner.entry.end == FleetEnd::Sized;
      return std::tuple(static_cast<int>(runner.entry.end), sized ? runner.price : Price(), i);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    for (const size_t i : order) {
      out_.sized += runners_[i].entry.end == FleetEnd::Sized;
      out_.entries.push_back(std::move(runners_[i].entry));
    }
    out_.simulations = simulations_;
  }

  FleetSearch& out_;
  const FleetOptions& options_;
  std::stop_token stop_;
  std::shared_ptr<PlanCache> cache_;
  const std::function<void(size_t, size_t)>& progress_;
  std::vector<Runner> runners_;
  std::atomic<size_t> done_ = 0;
  size_t of_ = 0;
  std::atomic<int64_t> simulations_ = 0;
};

}  // namespace

Result<std::shared_ptr<const FleetSearch>> search_fleet(
    std::vector<FleetCandidate> candidates, const ServiceSpec& spec, const FleetOptions& options,
    std::stop_token stop, std::shared_ptr<PlanCache> cache,
    const std::function<void(size_t done, size_t of)>& progress) {
  if (!promised_level(spec).any())
    return Problem(ProblemCode::EngineSettingInvalid, "slo", "no limit is given, so any fleet suffices",
                   level_help());
  if (candidates.empty())
    return Problem(ProblemCode::EngineSettingInvalid, "accelerator", "no layout of an engine is valid",
                   "other accelerators, or more GPUs of an engine");
  if (const auto problem = check_spec(spec)) return *problem;
  const auto workload = make_workload(spec.source);
  if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
  auto out = std::make_shared<FleetSearch>();
  out->spec = spec;
  out->requests = static_cast<int64_t>(std::get<0>(workload).requests.size());
  if (!cache) cache = std::make_shared<PlanCache>();
  Search(*out, options, std::move(stop), std::move(cache), progress)
      .run(std::move(candidates), std::get<0>(workload));
  return std::shared_ptr<const FleetSearch>(std::move(out));
}

}  // namespace shardscape
