#include "explore/goodput_search.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "model/parallel_loop.h"

namespace shardscape {
namespace {

// Knobs that do not change the engine: the scheduler decides on the batch and the lengths of a step.
const std::set<std::string> kFreeKnobs{"batch", "microbatch", "context_length", "seq", "mode"};

// The best point of each engine, by the values of the other axes.
class Engines {
 public:
  Engines(const Space& space, int objective) : space_(space), objective_(objective) {
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

  size_t size() const { return best_.size(); }
  std::vector<Point> best(size_t most) const {
    std::vector<Point> out;
    for (const auto& [key, point] : best_) out.push_back(point);
    std::sort(out.begin(), out.end(), [this](const Point& a, const Point& b) { return better(a, b); });
    if (out.size() > most) out.resize(most);
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

// The estimate of a design; 0 with a reason if its engine cannot run.
void estimate(GoodputEntry& entry, std::unique_ptr<StepClock>& clock, const GoodputOptions& goodput,
              const WorkloadMeans& means, const std::shared_ptr<PlanCache>& cache) {
  auto made = service_clock(entry.design, goodput.spec, cache);
  if (const auto* problem = std::get_if<Problem>(&made)) {
    entry.reason = problem->what;
    return;
  }
  clock = std::get<0>(std::move(made));
  const auto figures = engine_figures(engine_design(entry.design), goodput.spec, means, *clock, cache);
  if (const auto* problem = std::get_if<Problem>(&figures))
    entry.reason = problem->what;
  else
    entry.estimated = std::get<0>(figures).requests_per_second /
                      static_cast<double>(std::get<0>(figures).accelerators);
}

}  // namespace

Result<GoodputResult> search_goodput(const std::shared_ptr<const Space>& space, const SearchOptions& options,
                                     const GoodputOptions& goodput, const SearchCallbacks& callbacks,
                                     std::stop_token stop) {
  if (auto problem = check(*space, goodput)) return *std::move(problem);
  const auto workload = make_workload(goodput.spec.source);
  if (const auto* problem = std::get_if<Problem>(&workload)) return *problem;
  const WorkloadMeans means = workload_means(std::get<0>(workload));
  Engines engines(*space, options.result.objective);
  SearchCallbacks first = callbacks;
  first.points = [&](std::span<const Point> points) {
    for (const Point& point : points) engines.add(point);
    if (callbacks.points) callbacks.points(points);
  };
  auto searched = search(space, options, first, stop);
  if (const auto* problem = std::get_if<Problem>(&searched)) return *problem;
  GoodputResult out;
  out.search = std::get<SearchResult>(std::move(searched));
  out.engines = engines.size();
  for (const Point& point : engines.best(goodput.considered)) {
    GoodputEntry entry;
    entry.point = point;
    entry.design = space->design_at(point.index);
    out.entries.push_back(std::move(entry));
  }
  const auto cache = std::make_shared<PlanCache>();
  std::vector<std::unique_ptr<StepClock>> clocks(out.entries.size());
  with_loop_threads(options.threads, [&] {
    parallel_loop(out.entries.size(), [&](size_t i) {
      if (!stop.stop_requested()) estimate(out.entries[i], clocks[i], goodput, means, cache);
    });
    std::vector<size_t> order(out.entries.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return out.entries[a].estimated > out.entries[b].estimated; });
    std::erase_if(order, [&](size_t i) { return !out.entries[i].reason.empty(); });
    if (order.size() > goodput.evaluated) order.resize(goodput.evaluated);
    parallel_loop(order.size(), [&](size_t at) {
      if (stop.stop_requested()) return;
      GoodputEntry& entry = out.entries[order[at]];
      const auto found = largest_rate(entry.design, goodput.spec, *clocks[order[at]], stop, cache);
      if (const auto* problem = std::get_if<Problem>(&found)) {
        entry.reason = problem->what;
        return;
      }
      entry.found = std::get<0>(found);
      entry.simulated = true;
    });
  });
  if (stop.stop_requested()) out.entries.clear();
  std::stable_sort(out.entries.begin(), out.entries.end(), [](const GoodputEntry& a, const GoodputEntry& b) {
    return a.simulated != b.simulated ? a.simulated : a.per_gpu() > b.per_gpu();
  });
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
  return Json{{"search", Json::parse(result_json(result.search))},
              {"service_level", level_text(promised_level(options.spec))},
              {"engines", result.engines},
              {"goodput", list}}
             .dump(2) +
         "\n";
}

}  // namespace shardscape
