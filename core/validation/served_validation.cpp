#include "validation/served_validation.h"

#include <algorithm>

#include "model/parallel_loop.h"
#include "serving/service/service.h"
#include "serving/service/service_level.h"

namespace shardscape {
namespace {

// Rows that run on the same engine. A clock serves one simulation at a time, so a group runs on one thread.
struct EngineGroup {
  Design design;                  // without the name of the row
  std::optional<Design> prefill;  // likewise
  ServiceSpec spec;
  std::vector<size_t> rows;
  // The acceptance of drafts changes neither steps nor cache.
  bool holds(const EngineGroup& other) const {
    EngineSettings engine = other.spec.engine;
    engine.speculation.acceptance = spec.engine.speculation.acceptance;
    return design == other.design && prefill == other.prefill && spec.engine == engine &&
           memory_share(spec) == memory_share(other.spec);
  }
};

std::vector<EngineGroup> engine_groups(const MeasuredSet& set) {
  std::vector<EngineGroup> out;
  for (size_t i = 0; i < set.rows.size(); ++i) {
    const MeasuredRow& row = set.rows[i];
    if (!row.serving || !row.unmapped.empty() || row.serving->figures.empty()) continue;
    EngineGroup of{row.design, row.serving->prefill, row.serving->spec, {}};
    of.design.name.clear();
    if (of.prefill) of.prefill->name.clear();
    auto group = std::find_if(out.begin(), out.end(),
                              [&](const EngineGroup& other) { return other.holds(of); });
    if (group == out.end()) group = out.insert(out.end(), std::move(of));
    group->rows.push_back(i);
  }
  // The longest first, so that all threads end together.
  std::stable_sort(out.begin(), out.end(),
                   [](const EngineGroup& a, const EngineGroup& b) { return a.rows.size() > b.rows.size(); });
  return out;
}

// client: seconds of a request outside of the engine's steps, which a client measures.
double value_of(const ServedFigure& figure, const ServiceResults& results, double client, double capacity) {
  const auto of = [&](const Distribution& distribution) {
    switch (figure.statistic) {
      case ServedStatistic::Mean: return distribution.mean;
      case ServedStatistic::P50: return distribution.p50;
      case ServedStatistic::P99: return distribution.p99;
    }
    return 0.0;
  };
  switch (figure.quantity) {
    case ServedQuantity::Ttft: return of(results.ttft) + client;
    case ServedQuantity::Tpot: return of(results.tpot);
    case ServedQuantity::Itl: return of(results.itl);
    case ServedQuantity::E2e: return of(results.e2e) + client;
    case ServedQuantity::Throughput: return results.output_per_second;
    case ServedQuantity::Capacity: return capacity;
    case ServedQuantity::TokensPerStep: return results.acceptance_length;
    case ServedQuantity::Preemptions: return static_cast<double>(results.preemptions);
  }
  return 0;
}

struct SimulatedRow {
  ServiceResults results;
  double prompt_tokens = 0;  // mean
};
double mean_prompt(const Workload& workload) {
  double sum = 0;
  for (const Request& request : workload.requests) sum += request.prompt;
  return sum / static_cast<double>(std::max<size_t>(1, workload.requests.size()));
}

// The step times of a group.
struct GroupClocks {
  std::unique_ptr<StepClock> clock, prefill_clock;
  PrefillEngine prefill;  // refers to the group's design and to prefill_clock
};
Result<GroupClocks> clocks_of(const EngineGroup& group, const std::shared_ptr<PlanCache>& cache) {
  GroupClocks out;
  auto made = service_clock(group.design, group.spec, cache);
  if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
  out.clock = std::get<0>(std::move(made));
  if (!group.prefill) return out;
  made = service_clock(*group.prefill, group.spec, cache);
  if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
  out.prefill_clock = std::get<0>(std::move(made));
  out.prefill = {&*group.prefill, out.prefill_clock.get()};
  return out;
}

// The results of a row. A Problem also if the engine refuses a request, because the measured engine did not.
Result<SimulatedRow> results_of(const MeasuredServing& serving, const EngineGroup& group, int64_t blocks,
                                const GroupClocks& clocks, const std::shared_ptr<PlanCache>& cache) {
  ServiceSpec spec = serving.spec;
  // Prefill and decode replicas have caches of their own sizes.
  if (allocated_blocks(spec.engine) == 0 && !group.prefill)
    set_cache_tokens(spec.engine, blocks * cache_block_size(spec.engine));
  if (const auto problem = check_spec(spec)) return *problem;
  Result<Workload> requests = serving.requests ? serving.requests() : make_workload(spec.source);
  if (const auto* problem = std::get_if<Problem>(&requests)) return *problem;
  const auto run = run_requests(group.design, spec, std::get<Workload>(std::move(requests)), *clocks.clock,
                                {}, cache, RunSteps::Counted, clocks.prefill);
  if (const auto* problem = std::get_if<Problem>(&run)) return *problem;
  const ServiceRun& service = *std::get<0>(run);
  for (const RequestRecord& record : service.simulation.requests)
    if (record.end != RequestEnd::Finished)
      return Problem(ProblemCode::EngineSettingInvalid, "max_model_len",
                     std::string("a request is ") + end_text(record.end));
  return SimulatedRow{service.results, mean_prompt(service.workload)};
}

void predict_group(const MeasuredSet& set, const EngineGroup& group, std::vector<ServedPrediction>& out) {
  const auto cache = std::make_shared<PlanCache>();
  const auto refuse = [&](size_t row, const Problem& problem) { out[row].problem = to_string(problem); };
  if (const auto problem = check_spec(group.spec)) {
    for (const size_t i : group.rows) refuse(i, *problem);
    return;
  }
  const auto capacity = service_cache(group.design, group.spec, cache);
  const auto* room = std::get_if<CacheCapacity>(&capacity);
  const int64_t blocks = room ? room->blocks : 0;
  const EngineProfile host = service_profile(group.design, group.spec);
  std::optional<GroupClocks> clocks;
  for (const size_t i : group.rows) {
    const MeasuredServing& serving = *set.rows[i].serving;
    SimulatedRow row;
    const bool simulated = std::any_of(
        serving.figures.begin(), serving.figures.end(),
        [](const ServedFigure& figure) { return figure.quantity != ServedQuantity::Capacity; });
    if (simulated) {
      if (!clocks) {
        auto made = clocks_of(group, cache);
        if (const auto* problem = std::get_if<Problem>(&made)) {
          refuse(i, *problem);
          continue;
        }
        clocks = std::get<GroupClocks>(std::move(made));
      }
      // Without room for two blocks, the run says what takes the memory.
      auto run = results_of(serving, group, blocks >= 2 ? blocks : 0, *clocks, cache);
      if (const auto* problem = std::get_if<Problem>(&run)) {
        refuse(i, *problem);
        continue;
      }
      row = std::get<SimulatedRow>(std::move(run));
    } else if (!room) {
      refuse(i, std::get<Problem>(capacity));
      continue;
    }
    const double client = serving.inferencex_client
                              ? host.request_seconds + host.prompt_seconds * row.prompt_tokens
                              : 0;
    if (serving.kept_level) out[i].keeps_level = keeps_level(row.results, serving.spec.level);
    for (const ServedFigure& figure : serving.figures)
      out[i].values.push_back(
          value_of(figure, row.results, client, room ? static_cast<double>(room->tokens) : 0));
  }
}

}  // namespace

std::vector<ServedPrediction> predict_serving(const MeasuredSet& set) {
  std::vector<ServedPrediction> out(set.rows.size());
  const std::vector<EngineGroup> groups = engine_groups(set);
  parallel_loop(groups.size(), [&](size_t i) { predict_group(set, groups[i], out); });
  return out;
}

}  // namespace shardscape
