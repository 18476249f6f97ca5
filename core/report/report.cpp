#include "report/report.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "cost/sync_model.h"
#include "graph/build.h"
#include "graph/ring.h"
#include "report/rank_mesh.h"

namespace shardscape {
namespace {

std::variant<std::shared_ptr<const StepModel>, Problem> cached_model(const Structure& structure) {
  constexpr size_t kKept = 64;
  static std::mutex mutex;
  static std::map<Structure, std::shared_ptr<const StepModel>> models;
  {
    const std::scoped_lock lock(mutex);
    if (const auto it = models.find(structure); it != models.end()) return it->second;
  }
  auto graph = cached_graph(structure);
  if (auto* problem = std::get_if<Problem>(&graph)) return *problem;
  auto model = std::make_shared<const StepModel>(make_step_model(std::get<0>(std::move(graph))));
  const std::scoped_lock lock(mutex);
  if (models.size() >= kKept) models.clear();
  models.emplace(structure, model);
  return model;
}

Symbol symbol(const char* name) { return Symbol::intern(name); }

// Microbatches whose activations a stage holds at once: GPipe keeps all, 1F1B at most the stages from here to the end
// (Narayanan et al., arXiv 2104.04473, section 2.2). The schedule's own count is held to this by a test.
int64_t in_flight(const Design& d, int64_t stage, int64_t microbatches) {
  if (d.parallel.schedule == ScheduleKind::GPipe) return microbatches;
  return std::min(d.parallel.pp - stage, microbatches);
}

class ReportMaker {
 public:
  ReportMaker(Report& report, std::stop_token stop, std::optional<int64_t> position)
      : r_(report), stop_(std::move(stop)), position_(position) {}

  void run() {
    const Design& d = r_.design;
    r_.problems = validate(d);
    r_.accelerator = find_accelerator(d.cluster.accelerator);
    if (has_errors(r_.problems)) return;
    auto model = cached_model(structure_of(d));
    if (auto* problem = std::get_if<Problem>(&model)) {
      r_.problems.push_back(*problem);
      return;
    }
    const auto step = std::get<0>(std::move(model));
    r_.binding = bind_symbols(d);
    r_.derived = derived_symbols(d);
    r_.ranks = d.world();
    r_.microbatches = *r_.binding.get(symbol("m"));
    r_.tokens_per_step = d.workload.batch * d.workload.seq;
    if (differs_by_position(*step->graph)) {
      r_.ring_position = position_.value_or(ring_ranks(d) - 1);
      r_.binding.set(symbol("ic"), *r_.ring_position);
    }
    for (int kind : layer_kinds(*step->graph)) {
      int64_t count = 0;
      for (int64_t layer = 0; layer < d.model.layers; ++layer) count += kind_of(*step->graph, layer) == kind;
      r_.binding.set(model_layers_symbol(*step->graph, kind), count);
    }
    if (!value(step->model_parameters, r_.binding, r_.model_parameters.value)) return;
    r_.model_parameters.formula = &step->model_parameters;
    stages(*step);
    if (has_errors(r_.problems) || stop_.stop_requested()) return;
    r_.model = step;
    totals();
  }

 private:
  static std::vector<int> layer_kinds(const Graph& graph) {
    std::vector<int> kinds(graph.segments.size() - 2);
    for (size_t k = 0; k < kinds.size(); ++k) kinds[k] = static_cast<int>(k);
    return kinds;
  }
  static int kind_of(const Graph& graph, int64_t layer) {
    return graph.layer_pattern[static_cast<size_t>(layer) % graph.layer_pattern.size()];
  }

  bool value(const Expr& expr, const Binding& binding, Wide& out) {
    auto result = evaluate(expr, binding);
    if (auto* error = std::get_if<EvalError>(&result)) {
      Problem p;
      p.where = "design";
      p.what = error->message;
      p.accepted = "sizes that divide evenly and stay within 128 bits";
      r_.problems.push_back(p);
      return false;
    }
    out = std::get<Wide>(result);
    return true;
  }

  void stages(const StepModel& step) {
    const Graph& graph = *step.graph;
    const std::vector<int64_t> layers = layers_per_virtual_stage(r_.design);
    const int64_t pp = r_.design.parallel.pp;
    r_.stages.resize(static_cast<size_t>(pp));
    int64_t layer = 0;
    for (size_t k = 0; k < layers.size(); ++k) {
      r_.stages[k % r_.stages.size()].chunks.push_back({layer, layers[k]});
      layer += layers[k];
    }
    for (int64_t p = 0; p < pp; ++p) {
      StageReport& s = r_.stages[static_cast<size_t>(p)];
      s.stage = static_cast<int>(p);
      std::vector<std::vector<int64_t>> counts;  // per chunk, of each kind of layer
      for (const StageChunk& chunk : s.chunks) {
        s.layers += chunk.layers;
        std::vector<int64_t>& of = counts.emplace_back(graph.segments.size() - 2, 0);
        for (int64_t i = 0; i < chunk.layers; ++i) ++of[static_cast<size_t>(kind_of(graph, chunk.first_layer + i))];
      }
      s.shape = StepModel::shape_index(p == 0, p == pp - 1, s.layers > 0);
      s.binding = r_.binding;
      s.binding.set(symbol("p"), p);
      for (int kind : layer_kinds(graph)) {
        int64_t sum = 0;
        for (const auto& of : counts) sum += of[static_cast<size_t>(kind)];
        s.binding.set(stage_layers_symbol(graph, kind), sum);
      }
      const StageShape& shape = step.shapes[static_cast<size_t>(s.shape)];
      if (graph.structure.interleaved) {
        if (!interleaved_in_flight(s, shape, graph, counts)) return;
      } else {
        s.in_flight = in_flight(r_.design, p, r_.microbatches);
      }
      s.binding.set(symbol("nf"), s.in_flight);
      if (stop_.stop_requested()) return;
      fill(s, shape, graph);
      if (has_errors(r_.problems)) return;
    }
  }

  // Binds what the stage holds at the moment at which that takes most memory.
  bool interleaved_in_flight(StageReport& s, const StageShape& shape, const Graph& graph,
                             const std::vector<std::vector<int64_t>>& layers) {
    // Between warm-up and cool-down the schedule repeats itself every pp microbatches: three groups hold a whole period.
    const auto stages = static_cast<int64_t>(r_.stages.size()), enough = std::min(r_.microbatches, 3 * stages);
    const std::vector<Action> actions = make_stage_schedule(r_.design.parallel.schedule, s.stage, static_cast<int>(stages),
                                                            static_cast<int>(enough), static_cast<int>(s.chunks.size()));
    s.in_flight = microbatches_in_flight({1, 1, {actions}}).front();
    // Of each segment in the order of the graph.
    std::vector<std::vector<int64_t>> held;
    for (size_t c = 0; c < layers.size(); ++c) {
      held.push_back({shape.first && c == 0 ? 1 : 0});
      held.back().insert(held.back().end(), layers[c].begin(), layers[c].end());
      held.back().push_back(shape.last && c + 1 == layers.size() ? 1 : 0);
    }
    Wide most = -1;
    Binding fullest;
    for (const std::vector<int64_t>& moment : fullest_moments(actions, held)) {
      for (size_t i = 0; i < moment.size(); ++i) s.binding.set(in_flight_symbol(graph, static_cast<int>(i)), moment[i]);
      Wide activations, logits;
      if (!value(shape.memory[static_cast<size_t>(MemoryCategory::Activations)], s.binding, activations) ||
          !value(shape.memory[static_cast<size_t>(MemoryCategory::Logits)], s.binding, logits))
        return false;
      if (activations + logits <= most) continue;
      most = activations + logits;
      fullest = s.binding;
    }
    s.binding = fullest;
    return true;
  }

  void fill(StageReport& s, const StageShape& shape, const Graph& graph) {
    std::vector<int> kinds;
    for (const StageChunk& chunk : s.chunks)
      for (int64_t i = 0; i < chunk.layers; ++i) kinds.push_back(kind_of(graph, chunk.first_layer + i));
    bind_sync(s.binding, graph, shape.first, shape.last, kinds);
    if (const auto error = define(s.binding, shape.derived)) {
      Problem p;
      p.where = "sync";
      p.what = error->message;
      p.accepted = "sizes that stay within 64 bits";
      r_.problems.push_back(p);
      return;
    }
    std::vector<EvalFault> faults;
    const std::vector<Wide> values = shape.program.evaluate(s.binding, &faults);
    const std::vector<const Expr*> expressions = shape.expressions();
    for (size_t i = 0; i < faults.size(); ++i) {
      Wide ignored;
      if (faults[i] != EvalFault::None && !value(*expressions[i], s.binding, ignored)) return;
    }
    size_t at = 0;
    auto next = [&] {
      const Quantity q{expressions[at], values[at]};
      ++at;
      return q;
    };
    s.parameters = next();
    for (Quantity& q : s.memory) {
      q = next();
      s.memory_total += q.value;
    }
    for (int c = 0; c < kMemoryCategoryCount; ++c)
      for (const MemoryPart& part : shape.parts[c]) s.parts[c].push_back({part.name, next()});
    for (const FlopsRow& row : shape.flops) {
      FlopsValue f{row.kind, row.phase, next(), next()};
      s.flops_total += f.counted.value;
      s.useful_flops_total += f.useful.value;
      s.flops.push_back(f);
    }
    for (const CollectiveRow& row : shape.collectives) {
      const auto size = static_cast<int64_t>(next().value);
      CollectiveValue c{row.phase, row.op, row.group, size, row.dtype, next(), next(), next()};
      if (c.count.value == 0) continue;  // a unit that is never gathered again
      if (c.op != "recv") s.bytes_sent_total += c.bytes.value;
      s.collectives.push_back(std::move(c));
    }
  }

  // FLOPs grow evenly along a ring: the mean over its ranks is that of the first and the last.
  double mean_flops(const StageReport& s) {
    if (!r_.ring_position) return to_double(s.flops_total);
    Wide sum = 0;
    for (const int64_t position : {int64_t{0}, ring_ranks(r_.design) - 1}) {
      Binding binding = s.binding;
      binding.set(symbol("ic"), position);
      for (const FlopsValue& f : s.flops) {
        Wide counted = 0;
        if (value(*f.counted.formula, binding, counted)) sum += counted;
      }
    }
    return to_double(sum) / 2;
  }

  void totals() {
    const double ranks_per_stage = static_cast<double>(r_.ranks) / static_cast<double>(r_.stages.size());
    for (const StageReport& s : r_.stages) {
      if (s.memory_total > r_.stages[static_cast<size_t>(r_.peak_stage)].memory_total) r_.peak_stage = s.stage;
      r_.step_flops += mean_flops(s) * ranks_per_stage;
      r_.step_comm_bytes += to_double(s.bytes_sent_total) * ranks_per_stage;
    }
    r_.fits = r_.accelerator && r_.stages[static_cast<size_t>(r_.peak_stage)].memory_total <= r_.accelerator->memory_bytes;
  }

  Report& r_;
  std::stop_token stop_;
  std::optional<int64_t> position_;
};

}  // namespace

std::shared_ptr<const Report> make_report(const Design& design, std::stop_token stop, std::optional<int64_t> ring_position) {
  const auto begin = std::chrono::steady_clock::now();
  auto report = std::make_shared<Report>();
  report->design = design;
  ReportMaker(*report, stop, ring_position).run();
  if (stop.stop_requested()) return nullptr;
  report->elapsed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

const std::vector<DerivedSymbol>& stage_derived(const Report& report, const StageReport& stage) {
  return report.model->shapes[static_cast<size_t>(stage.shape)].derived;
}

int stage_of_rank(const Report& report, int64_t rank) {
  return static_cast<int>(mesh_of(report).coordinate(rank, MeshAxis::Pp));
}

std::string rank_text(const Report& report, int64_t rank) {
  const DeviceMesh mesh = mesh_of(report);
  std::string out;
  for (MeshAxis axis : {MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Dp, MeshAxis::Pp}) {
    if (axis == MeshAxis::Cp && mesh.degree(axis) == 1) continue;
    out += (out.empty() ? "" : ", ") + std::string(mesh_axis_name(axis)) + " " + std::to_string(mesh.coordinate(rank, axis));
  }
  return out;
}

}  // namespace shardscape
