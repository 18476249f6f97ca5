#include "explore/fleet_candidates.h"

#include <algorithm>
#include <string_view>

#include "base/units.h"
#include "design/cluster.h"
#include "explore/layout.h"

namespace shardscape {
namespace {

constexpr int64_t kMostEngine = 1024;        // accelerators of an engine
constexpr size_t kMostCombinations = 256;    // of settings
constexpr size_t kMostCandidates = 100'000;  // of a search

Problem problem_of(std::string where, std::string what, std::string accepted) {
  return {ProblemCode::EngineSettingInvalid, std::move(where), std::move(what), std::move(accepted)};
}

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
    if (more.size() > kMostCombinations)
      return problem_of(id, "the settings have more than 256 combinations", "fewer values");
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
  const std::string_view id = setting.id;
  return (setting.group == SettingGroup::Engine || setting.group == SettingGroup::Fleet) && id != "engine" &&
         id != "replicas";
}

Result<FleetCandidates> fleet_candidates(const Design& design, const ServiceSpec& spec,
                                         const FleetSpace& space, std::stop_token stop) {
  const auto settings = combinations(spec, space);
  if (const auto* problem = std::get_if<Problem>(&settings)) return *problem;
  for (const int64_t gpus : space.engine_gpus)
    if (gpus < 1 || gpus > kMostEngine)
      return problem_of("engine_gpus", "an engine of " + grouped(gpus) + " GPUs", "1 to 1,024");
  std::vector<std::string> accelerators = space.accelerators;
  if (accelerators.empty()) accelerators.push_back(design.cluster.accelerator);
  FleetCandidates out;
  Evaluator evaluator;
  for (const std::string& id : accelerators) {
    const auto made = on_accelerator(design, id);
    if (const auto* problem = std::get_if<Problem>(&made)) return *problem;
    const Design& base = std::get<0>(made);
    std::vector<Design> engines;
    if (base.cluster.accelerator == design.cluster.accelerator) {
      Design given = engine_design(base);
      given.workload.batch = given.world();
      if (evaluator.first_error(given).empty()) engines.push_back(std::move(given));
    }
    for (const int64_t gpus : space.engine_gpus.empty() ? usual_sizes(base) : space.engine_gpus)
      for (Design& engine : layouts_on(base, gpus, evaluator, out.invalid, stop))
        if (std::none_of(engines.begin(), engines.end(),
                         [&](const Design& other) { return same_degrees(engine.parallel, other.parallel); }))
          engines.push_back(std::move(engine));
    for (const Design& engine : engines)
      for (const Combination& one : std::get<0>(settings))
        out.list.push_back({engine, one.spec, engine_layout_text(engine), one.text});
    if (out.list.size() > kMostCandidates)
      return problem_of("engine_gpus", "the search has more than 100,000 candidates", "fewer values");
  }
  if (stop.stop_requested()) out.list.clear();
  return out;
}

}  // namespace shardscape
