#include "explore/fleet_candidates.h"

#include <algorithm>
#include <set>

#include "base/units.h"
#include "design/cluster.h"
#include "explore/layout.h"
#include "serving/service/service_fleet.h"

namespace shardscape {
namespace {

constexpr int64_t kMostEngine = 1024;        // accelerators of an engine
constexpr size_t kMostCombinations = 256;    // of settings
constexpr size_t kMostCandidates = 100'000;  // of a search

Problem problem_of(std::string where, std::string what, std::string accepted) {
  return {ProblemCode::EngineSettingInvalid, std::move(where), std::move(what), std::move(accepted)};
}

// What the search itself finds, and rules for pools whose sizes it does not know.
const std::set<std::string> kFound{"engine",          "replicas",       "prefill_replicas",
                                   "decode_replicas", "prefill_design", "least_prefill_replicas"};

struct Combination {
  ServiceSpec spec;
  std::string text;
};

// Every combination of the values.
Result<std::vector<Combination>> combinations(const ServiceSpec& spec, const FleetSpace& space) {
  std::vector<Combination> out{{spec, ""}};
  for (const auto& [id, values] : space.settings) {
    const ServiceSetting* setting = find_setting(id);
    if (!setting || !fleet_varies(*setting))
      return problem_of(id, "it is no setting that a fleet search varies",
                        "a setting of the engine, or router");
    if (const auto problem = check_engine(spec, *setting)) return *problem;
    if (out.size() * values.size() > kMostCombinations)
      return problem_of(id, "the settings have more than 256 combinations", "fewer values");
    std::vector<Combination> more;
    for (const Combination& one : out)
      for (const std::string& value : values) {
        Combination next = one;
        if (const auto problem = set_setting(next.spec, *setting, value)) return *problem;
        if (const auto problem = check_spec(next.spec)) return *problem;
        next.text += (next.text.empty() ? "" : ", ") + id + " " + value;
        more.push_back(std::move(next));
      }
    if (more.empty()) return problem_of(id, "it has no value", setting->accepted());
    out = std::move(more);
  }
  return out;
}

// The design in decode on an accelerator, with one sequence per replica.
Result<Design> on_accelerator(const Design& design, const std::string& id) {
  Design out = design;
  out.workload.mode = Mode::Decode;
  out.workload.microbatch = 1;
  if (id.empty() || id == design.cluster.accelerator) return out;
  if (const auto problem = set_knob(out, *find_knob("accelerator"), id)) return *problem;
  ClusterSpec cluster;
  const ClusterSpec before = cluster;
  cluster.accelerator = out.cluster.accelerator;
  follow_node_size(cluster, before);
  cluster.pue = design.cluster.pue;
  out.cluster = cluster;
  return out;
}

bool same_degrees(const ParallelSpec& a, const ParallelSpec& b) {
  return a.tp == b.tp && a.pp == b.pp && a.dp == b.dp && a.cp == b.cp && a.ep == b.ep && a.dcp == b.dcp &&
         a.expert_tp() == b.expert_tp();
}

// The layouts of one engine on so many accelerators.
std::vector<Design> layouts_on(const Design& base, int64_t gpus, Evaluator& evaluator, int64_t& invalid,
                               const std::stop_token& stop) {
  Design start = base;
  start.workload.batch = gpus;
  LayoutOptions options;
  options.gpus = gpus;
  SpaceSpec spec = layout_space(start, options);
  std::erase_if(spec.dimensions, [](const auto& dimension) {
    const std::string& id = dimension.first;
    return id != "tp" && id != "pp" && id != "dp" && id != "ep" && id != "etp";
  });
  const auto made = Space::make(spec);
  std::vector<Design> out;
  if (std::holds_alternative<Problem>(made)) return out;
  const Space& space = *std::get<0>(made);
  for (Wide i = 0; i < space.size() && !stop.stop_requested(); ++i) {
    Design design = space.design_at(i);
    if (design.world() != gpus || engine_design(design) != design) continue;
    if (!evaluator.first_error(design).empty())
      ++invalid;
    else if (!space.repeats(design, space.values_at(i)))
      out.push_back(std::move(design));
  }
  return out;
}

std::vector<int64_t> usual_sizes(const Design& design) {
  std::vector<int64_t> out;
  for (int64_t size = 1; size <= std::max(scaleup_domain(design), design.cluster.gpus_per_node); size *= 2)
    if (size <= 2 * std::max<int64_t>(1, design.cluster.gpus_per_node)) out.push_back(size);
  return out;
}

// Makes the candidates of all accelerators and sizes of an engine.
class Engines {
 public:
  Engines(const Design& design, std::vector<Combination> settings, std::stop_token stop)
      : design_(design), settings_(std::move(settings)), stop_(std::move(stop)) {}

  std::optional<Problem> add(std::vector<std::string> accelerators, const std::vector<int64_t>& sizes,
                             const char* where, std::vector<FleetCandidate>& list) {
    for (const int64_t gpus : sizes)
      if (gpus < 1 || gpus > kMostEngine)
        return problem_of(where, "an engine of " + grouped(gpus) + " GPUs", "1 to 1,024");
    if (accelerators.empty()) accelerators.push_back(design_.cluster.accelerator);
    for (const std::string& id : accelerators) {
      const auto made = on_accelerator(design_, id);
      if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
      const Design& base = std::get<0>(made);
      std::vector<Design> engines;
      if (base.cluster.accelerator == design_.cluster.accelerator) add_given(base, engines);
      for (const int64_t gpus : sizes.empty() ? usual_sizes(base) : sizes)
        for (Design& engine : layouts_on(base, gpus, evaluator_, invalid_, stop_))
          if (std::none_of(engines.begin(), engines.end(), [&](const Design& other) {
                return same_degrees(engine.parallel, other.parallel);
              }))
            engines.push_back(std::move(engine));
      add_all(engines, list);
      if (list.size() > kMostCandidates)
        return problem_of(where, "the search has more than 100,000 candidates", "fewer values");
    }
    return std::nullopt;
  }

  // The engine of one design.
  std::optional<Problem> add_one(const Design& design, const char* where, std::vector<FleetCandidate>& list) {
    std::vector<Design> engines;
    const auto made = on_accelerator(design, "");
    add_given(std::get<0>(made), engines);
    if (engines.empty()) return problem_of(where, "its engine is not valid in decode", "a valid design");
    add_all(engines, list);
    return std::nullopt;
  }

  int64_t invalid() const { return invalid_; }

 private:
  void add_given(const Design& design, std::vector<Design>& engines) {
    Design given = engine_design(design);
    given.workload.batch = given.world();
    if (evaluator_.first_error(given).empty()) engines.push_back(std::move(given));
  }
  void add_all(const std::vector<Design>& engines, std::vector<FleetCandidate>& list) const {
    for (const Design& engine : engines)
      for (const Combination& one : settings_)
        list.push_back({engine, one.spec, engine_layout_text(engine), one.text});
  }

  const Design& design_;
  std::vector<Combination> settings_;
  std::stop_token stop_;
  Evaluator evaluator_;
  int64_t invalid_ = 0;
};

}  // namespace

std::string engine_layout_text(const Design& engine) {
  const ParallelSpec& p = engine.parallel;
  std::string out;
  const std::pair<const char*, int64_t> degrees[] = {{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp},
                                                     {"dp", p.dp}, {"ep", p.ep}, {"dcp", p.dcp}};
  for (const auto& [name, degree] : degrees)
    if (degree > 1) out += (out.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(degree);
  if (p.ep > 1 && p.folds_experts()) out += ", etp " + std::to_string(p.expert_tp());
  return out.empty() ? "1 GPU" : out;
}

bool fleet_varies(const ServiceSetting& setting) {
  return (setting.group == SettingGroup::Engine || setting.group == SettingGroup::Fleet) &&
         !kFound.contains(setting.id);
}

Result<FleetCandidates> fleet_candidates(const Design& design, const ServiceSpec& spec,
                                         const FleetSpace& space, std::stop_token stop) {
  auto settings = combinations(spec, space);
  if (const auto* problem = std::get_if<Problem>(&settings)) return *problem;
  FleetCandidates out;
  Engines engines(design, std::get<0>(std::move(settings)), stop);
  if (auto problem = engines.add(space.accelerators, space.engine_gpus, "engine_gpus", out.list))
    return *std::move(problem);
  const std::pair<const char*, bool> of_pairs[] = {
      {"prefill_accelerators", !space.prefill_accelerators.empty()},
      {"prefill_engine_gpus", !space.prefill_gpus.empty()},
      {"prefill_design", !space.prefill_design.empty()}};
  for (const auto& [where, given] : of_pairs)
    if (given && !space.disaggregate)
      return problem_of(where, "no engine computes prompts only",
                        "pairs of prefill and decode engines: disaggregate");
  std::optional<Problem> problem;
  if (space.disaggregate && !space.prefill_design.empty()) {
    const auto read = prefill_design(design, space.prefill_design);
    if (const auto* wrong = std::get_if<Problem>(&read)) return *wrong;
    problem = engines.add_one(std::get<0>(read), "prefill_design", out.prefill);
  } else if (space.disaggregate) {
    problem = engines.add(
        space.prefill_accelerators.empty() ? space.accelerators : space.prefill_accelerators,
        space.prefill_gpus.empty() ? space.engine_gpus : space.prefill_gpus, "prefill_engine_gpus",
        out.prefill);
  }
  if (problem) return *std::move(problem);
  out.invalid = engines.invalid();
  if (stop.stop_requested()) out.list.clear();
  return out;
}

}  // namespace shardscape
