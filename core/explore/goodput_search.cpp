#include "explore/goodput_search.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/json_text.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

// Knobs that do not change the engine: the scheduler decides on the batch and the lengths of a step.
const std::set<std::string> kFreeKnobs{"batch", "microbatch", "context_length", "seq", "mode"};

// The best point of each engine, by the values of the other axes.
class EnginesOfSettings {
 public:
  EnginesOfSettings(const Space& space, int objective) : space_(space), objective_(objective) {
    for (size_t a = 0; a < space.axes().size(); ++a)
      if (!kFreeKnobs.contains(space.axes()[a].id)) axes_.push_back(a);
  }

  void add(const Point& point) {
    if (trains(space_.design_at(point.index))) return;
    const std::vector<int> values = space_.values_at(point.index);
    std::vector<int> key;
    for (const size_t a : axes_) key.push_back(values[a]);
    const auto [it, fresh] = best_.try_emplace(std::move(key), point);
    if (!fresh && better(point, it->second)) it->second = point;
  }

  std::vector<Point> best() const {
    std::vector<Point> out;
    for (const auto& [key, point] : best_) out.push_back(point);
    std::sort(out.begin(), out.end(), [this](const Point& a, const Point& b) { return better(a, b); });
    return out;
  }

 private:
  bool better(const Point& a, const Point& b) const {
    const auto at = static_cast<size_t>(objective_);
    const double x = score(objective_, a.values[at]), y = score(objective_, b.values[at]);
    return x != y ? x < y : a.index < b.index;
  }
  const Space& space_;
  int objective_;
  std::vector<size_t> axes_;
  std::map<std::vector<int>, Point> best_;
};

std::optional<Problem> check(const Space& space, const GoodputOptions& goodput) {
  if (!promised_level(goodput.spec).any())
    return Problem(ProblemCode::EngineSettingInvalid, "slo", "goodput needs a service level", level_help());
  if (space.axis("mode") < 0 && trains(space.spec().base))
    return Problem(ProblemCode::EngineSettingInvalid, "mode", "designs that train answer no requests",
                   "decode or prefill");
  if (const auto problem = check_spec(goodput.spec)) return problem;
  return check_has_rate(goodput.spec);
}

// Steps 2 and 3 of the search.
class Ranking {
 public:
  Ranking(GoodputResult& out, const GoodputOptions& goodput, const WorkloadMeans& means, std::stop_token stop)
      : out_(out), goodput_(goodput), means_(means), stop_(std::move(stop)) {}

  // known: entries that an earlier run or a shard has computed.
  void run(const std::vector<GoodputEntry>& known, int threads) {
    for (const GoodputEntry& entry : known) {
      const auto [it, fresh] = known_.try_emplace(entry.point.index, &entry);
      if (!fresh && entry.simulated) it->second = &entry;
    }
    out_.engines = out_.engine_points.size();
    const size_t number = std::min(goodput_.considered, out_.engines);
    std::vector<GoodputEntry> entries(number);
    std::vector<char> done(number, 0);
    clocks_.resize(number);
    with_loop_threads(threads, [&] {
      parallel_loop(number, [&](size_t i) {
        if (stop_.stop_requested()) return;
        entries[i].point = out_.engine_points[i];
        entries[i].design = out_.search.space->design_at(entries[i].point.index);
        estimate(entries[i], clocks_[i]);
        done[i] = 1;
      });
      std::vector<size_t> order;
      for (size_t i = 0; i < number; ++i)
        if (done[i] && entries[i].reason.empty()) order.push_back(i);
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return entries[a].estimated > entries[b].estimated; });
      if (order.size() > goodput_.evaluated) order.resize(goodput_.evaluated);
      parallel_loop(order.size(), [&](size_t at) {
        if (!stop_.stop_requested()) simulate_one(entries[order[at]], clocks_[order[at]]);
      });
    });
    out_.entries.clear();
    for (size_t i = 0; i < number; ++i)
      if (done[i]) out_.entries.push_back(std::move(entries[i]));
    std::stable_sort(out_.entries.begin(), out_.entries.end(),
                     [](const GoodputEntry& a, const GoodputEntry& b) {
                       return a.simulated != b.simulated ? a.simulated : a.per_gpu() > b.per_gpu();
                     });
  }

 private:
  const GoodputEntry* known(const GoodputEntry& entry) const {
    const auto it = known_.find(entry.point.index);
    return it != known_.end() ? it->second : nullptr;
  }

  // The estimate of a design; 0 with a reason if its engine cannot run.
  void estimate(GoodputEntry& entry, std::unique_ptr<StepClock>& clock) {
    if (const GoodputEntry* of = known(entry)) {
      entry.estimated = of->estimated;
      // A reason with an estimate is of a simulation, which then runs again.
      if (!(of->estimated > 0)) entry.reason = of->reason;
      return;
    }
    auto made = service_clock(entry.design, goodput_.spec, cache_);
    if (const auto* problem = std::get_if<Problem>(&made)) {
      entry.reason = problem->what;
      return;
    }
    clock = std::get<0>(std::move(made));
    const auto figures = engine_figures(engine_design(entry.design), goodput_.spec, means_, *clock, cache_);
    if (const auto* problem = std::get_if<Problem>(&figures))
      entry.reason = problem->what;
    else
      entry.estimated = std::get<0>(figures).requests_per_second /
                        static_cast<double>(std::get<0>(figures).accelerators);
  }

  void simulate_one(GoodputEntry& entry, std::unique_ptr<StepClock>& clock) {
    if (const GoodputEntry* of = known(entry); of && of->simulated) {
      entry.found = of->found;
      entry.simulated = true;
      return;
    }
    if (!clock) {
      // The estimate came from a file.
      auto made = service_clock(entry.design, goodput_.spec, cache_);
      if (const auto* problem = std::get_if<Problem>(&made)) {
        entry.reason = problem->what;
        return;
      }
      clock = std::get<0>(std::move(made));
    }
    const auto found = largest_rate(entry.design, goodput_.spec, *clock, stop_, cache_);
    if (stop_.stop_requested()) return;
    if (const auto* problem = std::get_if<Problem>(&found)) {
      entry.reason = problem->what;
      return;
    }
    entry.found = std::get<0>(found);
    entry.simulated = true;
  }

  GoodputResult& out_;
  const GoodputOptions& goodput_;
  const WorkloadMeans means_;
  std::stop_token stop_;
  std::shared_ptr<PlanCache> cache_ = std::make_shared<PlanCache>();
  std::map<Wide, const GoodputEntry*> known_;
  std::vector<std::unique_ptr<StepClock>> clocks_;
};

}  // namespace

Result<GoodputResult> search_goodput(const std::shared_ptr<const Space>& space, const SearchOptions& options,
                                     const GoodputOptions& goodput, const SearchCallbacks& callbacks,
                                     std::stop_token stop, const GoodputResult* resume,
                                     const std::function<void(const GoodputResult&)>& checkpoint) {
  if (auto problem = check(*space, goodput)) return *std::move(problem);
  const auto workload = make_workload(goodput.spec.source);
  if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
  EnginesOfSettings engines(*space, options.result.objective);
  if (resume)
    for (const Point& point : resume->engine_points) engines.add(point);
  SearchCallbacks first = callbacks;
  first.points = [&](std::span<const Point> points) {
    for (const Point& point : points) engines.add(point);
    if (callbacks.points) callbacks.points(points);
  };
  // Entries of the run before are still known.
  const auto so_far = [&](const SearchResult& result) {
    GoodputResult out{result, {}, 0, engines.best()};
    out.engines = out.engine_points.size();
    if (resume) out.entries = resume->entries;
    return out;
  };
  if (checkpoint) first.checkpoint = [&](const SearchResult& result) { checkpoint(so_far(result)); };
  auto searched = search(space, options, first, stop);
  if (const auto* problem = std::get_if<Problem>(&searched)) return *problem;
  GoodputResult out = so_far(std::get<SearchResult>(searched));
  if (checkpoint) checkpoint(out);
  Ranking(out, goodput, workload_means(std::get<0>(workload)), std::move(stop))
      .run(resume ? resume->entries : std::vector<GoodputEntry>(), options.threads);
  return out;
}

Result<GoodputResult> merge_goodput(const std::vector<GoodputResult>& parts, const GoodputOptions& goodput,
                                    std::stop_token stop) {
  std::vector<SearchResult> searches;
  searches.reserve(parts.size());
  for (const GoodputResult& part : parts) searches.push_back(part.search);
  auto merged = merge_results(searches);
  if (const auto* problem = std::get_if<Problem>(&merged)) return *problem;
  GoodputResult out;
  out.search = std::get<SearchResult>(std::move(merged));
  if (auto problem = check(*out.search.space, goodput)) return *std::move(problem);
  const auto workload = make_workload(goodput.spec.source);
  if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
  EnginesOfSettings engines(*out.search.space, out.search.options.objective);
  std::vector<GoodputEntry> known;
  for (const GoodputResult& part : parts) {
    for (const Point& point : part.engine_points) engines.add(point);
    known.insert(known.end(), part.entries.begin(), part.entries.end());
  }
  out.engine_points = engines.best();
  Ranking(out, goodput, workload_means(std::get<0>(workload)), std::move(stop)).run(known, 0);
  return out;
}

std::string goodput_json(const GoodputResult& result, const GoodputOptions& options) {
  using Json = nlohmann::ordered_json;
  const auto known = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json list = Json::array();
  for (const GoodputEntry& entry : result.entries) {
    Json settings = Json::object();
    const Space& space = *result.search.space;
    const std::vector<int> values = space.values_at(entry.point.index);
    for (size_t a = 0; a < space.axes().size(); ++a)
      settings[space.axes()[a].id] = space.axes()[a].values[static_cast<size_t>(values[a])];
    Json one{{"settings", settings},
             {"estimated_requests_per_second_and_gpu", entry.estimated},
             {"simulated", entry.simulated},
             {"reason", entry.reason}};
    if (entry.simulated)
      one.update({{"requests_per_second_and_gpu", entry.per_gpu()},
                  {"rate", entry.found.rate},
                  {"accelerators", entry.found.accelerators},
                  {"limited_by", entry.found.by_throughput ? "throughput" : "service level"},
                  {"ttft_p99_seconds", entry.found.results.ttft.p99},
                  {"tpot_p99_seconds", entry.found.results.tpot.p99},
                  {"dollars_per_million_output_tokens", known(entry.found.cost.dollars)},
                  {"kwh_per_million_output_tokens", known(entry.found.cost.kwh)}});
    list.push_back(std::move(one));
  }
  return json_document(Json{{"search", Json::parse(result_json(result.search))},
                            {"service_level", level_text(promised_level(options.spec))},
                            {"engines", result.engines},
                            {"goodput", list}});
}

}  // namespace shardscape
