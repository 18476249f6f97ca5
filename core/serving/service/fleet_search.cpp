#include "serving/service/fleet_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "model/parallel_loop.h"
#include "model/progress_count.h"
#include "serving/service/fleet_sizing.h"

namespace shardscape {
namespace {

constexpr size_t kShares[] = {16, 4};  // of the requests: the first 1/16, then the first quarter
constexpr size_t kLeastPrefix = 200;   // requests

Workload first_requests(const Workload& all, size_t number) {
  Workload out = all;
  out.requests.resize(std::min(number, out.requests.size()));
  return out;
}

int64_t estimated_engines(double rate, double of_engine) {
  constexpr double kMostEngines = 1e6;
  return of_engine > 0 ? static_cast<int64_t>(std::clamp(std::ceil(rate / of_engine), 1.0, kMostEngines)) : 1;
}

FleetPrice price_per_request(const Design& engine, const EngineFigures& figures, double rate) {
  const auto gpus = static_cast<double>(figures.accelerators);
  return {dollars_per_hour(engine, gpus) / rate, gpus / rate};
}

FleetPrice price_of_pair(const FleetEntry& prefill, const FleetEntry& decode) {
  const double prompts = prefill.figures.prompts_per_second, answers = decode.figures.answers_per_second;
  if (!(prompts > 0) || !(answers > 0)) return {};
  const FleetPrice a = price_per_request(prefill.candidate.design, prefill.figures, prompts);
  const FleetPrice b = price_per_request(decode.candidate.design, decode.figures, answers);
  return {a.dollars + b.dollars, a.accelerators + b.accelerators};
}

std::string kind_of(const FleetCandidate& candidate) {
  return candidate.design.cluster.accelerator +
         (candidate.prefill ? " " + candidate.prefill->cluster.accelerator : "");
}

class Search {
 public:
  Search(FleetSearch& out, const FleetOptions& options, std::stop_token stop,
         std::shared_ptr<PlanCache> cache, const std::function<void(size_t, size_t)>& progress)
      : out_(out), options_(options), stop_(std::move(stop)), cache_(std::move(cache)), count_(progress) {}

  void run(std::vector<FleetCandidate> candidates, const Workload& workload) {
    const WorkloadMeans means = workload_means(workload);
    of_ = candidates.size() + options_.prefill.size();
    runners_ = measured(std::move(candidates), means);
    prune(runners_);
    if (!options_.prefill.empty()) add_pairs(means);
    std::vector<size_t> left = live();
    keep_best(left, options_.simulated, FleetEnd::NotTried, "the estimated cost of a request is higher");
    const size_t all = workload.requests.size();
    for (const size_t share : kShares)
      if (const size_t number = all / share; number >= kLeastPrefix && left.size() > options_.finalists) {
        size_all(left, first_requests(workload, number), false);
        const size_t half = std::max(options_.finalists, (most_of_a_kind(left) + 1) / 2);
        keep_best(left, share == kShares[0] ? half : options_.finalists, FleetEnd::OutOfPlace,
                  "others are cheaper for the first " + grouped(static_cast<Wide>(number)) + " requests");
      }
    size_all(left, workload, true);
    if (!stop_.stop_requested()) collect();
  }

 private:
  // The candidates with their figures.
  std::vector<FleetRunner> measured(std::vector<FleetCandidate> candidates, const WorkloadMeans& means) {
    std::vector<FleetRunner> out(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) out[i].entry.candidate = std::move(candidates[i]);
    parallel_loop(out.size(), [&](size_t i) {
      if (stop_.stop_requested()) return;
      measure_one(out[i], means);
      count_.step(of_ + options_.finalists);
    });
    return out;
  }

  void measure_one(FleetRunner& runner, const WorkloadMeans& means) {
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
    runner.size.engines = estimated_engines(means.rate, rate);
    if (rate > 0) runner.price = price_per_request(candidate.design, entry.figures, rate);
  }

  // Equal candidates: the first one dominates. Dominance is transitive, so each candidate is compared only
  // with those that are not dominated so far.
  static void prune(std::vector<FleetRunner>& runners) {
    const auto mark = [&](size_t worse, size_t better) {
      runners[worse].entry.end = FleetEnd::Dominated;
      runners[worse].entry.reason = runners[better].entry.candidate.layout +
                                    " is at least as good in every figure";
    };
    std::vector<size_t> best;
    for (const size_t b : live(runners)) {
      const auto better = std::find_if(
          best.begin(), best.end(), [&](size_t a) { return replaces(runners[a].entry, runners[b].entry); });
      if (better != best.end()) {
        mark(b, *better);
        continue;
      }
      std::erase_if(best, [&](size_t a) {
        const bool replaced = replaces(runners[b].entry, runners[a].entry);
        if (replaced) mark(a, b);
        return replaced;
      });
      best.push_back(b);
    }
  }

  static bool replaces(const FleetEntry& a, const FleetEntry& b) {
    return dominates(a.figures, b.figures) && a.candidate.spec == b.candidate.spec &&
           a.candidate.design.cluster == b.candidate.design.cluster;
  }

  // Adds the pairs with the lowest estimated costs, and the best one of each two accelerators.
  void add_pairs(const WorkloadMeans& means) {
    std::vector<FleetRunner> prefill = measured(options_.prefill, means);
    prune(prefill);
    struct Pair {
      size_t prefill, decode;
      FleetPrice price;
    };
    std::vector<Pair> pairs;
    const std::vector<size_t> decode = live();
    for (const size_t p : live(prefill))
      for (const size_t d : decode)
        if (prefill[p].entry.candidate.spec == runners_[d].entry.candidate.spec)
          pairs.push_back({p, d, price_of_pair(prefill[p].entry, runners_[d].entry)});
    out_.pairs = static_cast<int64_t>(pairs.size());
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.price < b.price; });
    std::set<std::string> accelerators;
    std::vector<FleetRunner> added;
    for (const Pair& pair : pairs) {
      FleetRunner runner;
      FleetEntry& entry = runner.entry;
      const FleetEntry &first = prefill[pair.prefill].entry, &second = runners_[pair.decode].entry;
      entry.candidate = second.candidate;
      entry.candidate.prefill = first.candidate.design;
      entry.candidate.prefill_layout = first.candidate.layout;
      entry.figures = second.figures;
      entry.prefill_figures = first.figures;
      runner.size = {estimated_engines(means.rate, first.figures.prompts_per_second),
                     estimated_engines(means.rate, second.figures.answers_per_second)};
      runner.price = pair.price;
      if (accelerators.insert(kind_of(entry.candidate)).second || added.size() < options_.simulated)
        added.push_back(std::move(runner));
    }
    parallel_loop(added.size(), [&](size_t i) {
      // Both engines have run before, so there is no problem.
      const FleetCandidate& candidate = added[i].entry.candidate;
      added[i].clock = std::get<0>(service_clock(candidate.design, candidate.spec, cache_));
      added[i].prefill_clock = std::get<0>(service_clock(*candidate.prefill, candidate.spec, cache_));
    });
    for (FleetRunner& runner : added) runners_.push_back(std::move(runner));
  }

  static std::vector<size_t> live(const std::vector<FleetRunner>& runners) {
    std::vector<size_t> out;
    for (size_t i = 0; i < runners.size(); ++i)
      if (runners[i].clock && runners[i].entry.end == FleetEnd::NotTried) out.push_back(i);
    return out;
  }
  std::vector<size_t> live() const { return live(runners_); }

  // The larger one of the numbers of pairs and of other candidates.
  size_t most_of_a_kind(const std::vector<size_t>& left) const {
    const auto pairs = static_cast<size_t>(std::count_if(
        left.begin(), left.end(), [&](size_t i) { return runners_[i].entry.candidate.prefill.has_value(); }));
    return std::max(pairs, left.size() - pairs);
  }

  // The cheapest pairs and the cheapest others, and the cheapest one of each accelerator. Candidates that
  // exceeded the level for the first requests come last.
  void keep_best(std::vector<size_t>& left, size_t most, FleetEnd end, const std::string& reason) {
    std::stable_sort(left.begin(), left.end(),
                     [&](size_t a, size_t b) { return runners_[a].price < runners_[b].price; });
    std::vector<size_t> kept;
    std::set<std::string> accelerators;
    size_t pairs = 0, others = 0;
    for (const size_t i : left) {
      FleetEntry& entry = runners_[i].entry;
      const bool first = accelerators.insert(kind_of(entry.candidate)).second;
      size_t& places = entry.candidate.prefill ? pairs : others;
      if (places < most || first) {
        ++places;
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
    of_ = count_.done() + left.size();
    parallel_loop(left.size(), [&](size_t i) {
      if (stop_.stop_requested()) return;
      FleetRunner& runner = runners_[left[i]];
      runner.entry.reason.clear();
      FleetSizing(runner, workload, options_.most_replicas, stop_, cache_, simulations_).run(final);
      count_.step(of_ + (final ? 0 : options_.finalists));
    });
  }

  void collect() {
    std::vector<size_t> order(runners_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](size_t i) {
      const FleetRunner& runner = runners_[i];
      const bool sized = runner.entry.end == FleetEnd::Sized;
      return std::tuple(static_cast<int>(runner.entry.end), sized ? runner.price : FleetPrice(), i);
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
  std::vector<FleetRunner> runners_;
  ProgressCount count_;
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
