#include "plan/report.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>

#include "design/cluster.h"
#include "design/fields.h"
#include "design/layer_sizes.h"
#include "design/vision.h"
#include "grad_sync/sync_model.h"
#include "graph/build.h"
#include "graph/carried_tensors.h"
#include "graph/chunk_layers.h"
#include "graph/ring.h"
#include "plan/bound_plan.h"
#include "plan/stage_boundary.h"
#include "plan/stage_layers.h"
#include "plan/step_memory.h"

namespace shardscape {
namespace {

// Rough size of the expressions of a step model, in bytes.
size_t bytes_of_model(const StepModel& model) {
  constexpr size_t kExpression = 400;
  size_t out = sizeof model;
  for (const StageShape& shape : model.shapes) {
    out += sizeof shape;
    for (const Expr* expression : shape.expressions()) out += expression->is_zero() ? 0 : kExpression;
  }
  return out;
}

size_t bytes_of_plan(const SharedPlan& plan) {
  constexpr size_t kAction = 200;
  return sizeof plan + (plan.placed ? plan.placed->actions.size() * kAction : 0);
}

// model_kind: StepModel, or BoundModel for bound plans.
template <CacheKind model_kind>
Result<std::shared_ptr<const StepModel>> cached_model(const Structure& structure, PlanCache& cache) {
  const auto make = model_kind == CacheKind::StepModel ? make_step_model : make_bound_model;
  std::optional<Problem> problem;
  auto model = cache.get<StepModel>(
      model_kind, key_of(structure),
      [&]() -> std::shared_ptr<const StepModel> {
        auto graph = cached_graph(structure, cache);
        if (auto* failed = std::get_if<Problem>(&graph)) {
          problem = std::move(*failed);
          return nullptr;
        }
        auto made = std::make_shared<StepModel>(make(std::get<0>(std::move(graph))));
        made->serial = cache.next_serial();
        return made;
      },
      bytes_of_model);
  if (!model) return *problem;
  return model;
}

Symbol symbol(const char* name) { return Symbol::intern(name); }

// Adds the members of a policy that the structure determines. The other members are not needed:
// `microbatches` changes no plan, and the limits are fields of the design (FieldUses::sync_plan).
void add_policy(CacheKey& key, const SyncPolicy& policy) {
  const auto& [strategy, param_dtype, quantized_dtype, grad_dtype, microbatches, overlap, every_microbatch,
               bucket_bytes, first_bucket_bytes, param_alignment, bucket_alignment, bucket_elements,
               recompute, zero, sharding, stays_after_backward] = policy;
  for (const int64_t word :
       {static_cast<int64_t>(strategy), static_cast<int64_t>(param_dtype),
        static_cast<int64_t>(quantized_dtype.value_or(param_dtype)), static_cast<int64_t>(grad_dtype),
        static_cast<int64_t>(sharding), param_alignment, bucket_alignment, int64_t{overlap},
        int64_t{every_microbatch}, int64_t{recompute}, int64_t{stays_after_backward}})
    key.add(word);
}

class ReportMaker {
 public:
  ReportMaker(Report& report, std::stop_token stop, std::optional<int64_t> position)
      : r_(report), stop_(std::move(stop)), position_(position) {}

  void run() {
    const Design& d = r_.design;
    r_.problems = validate(d);
    r_.accelerator = accelerator_of(d.cluster);
    if (has_errors(r_.problems)) return;
    if (auto problem = step_memory_short(d)) {
      r_.problems.push_back(*std::move(problem));
      return;
    }
    const auto step = bind<CacheKind::StepModel>();
    if (!step) return;
    r_.derived = derived_symbols(d);
    for (const Segment& segment : step->graph->segments)
      for (const DerivedSymbol& blocks : segment.derived) add_derived(blocks);
    for (const auto& [quantity, formula] : {std::pair{&r_.model_parameters, &step->model_parameters},
                                            {&r_.active_parameters, &step->active_parameters},
                                            {&r_.model_buffers, &step->model_buffers},
                                            {&r_.window_bytes, &step->window_bytes},
                                            {&r_.state_bytes, &step->state_bytes}}) {
      if (!value(*formula, r_.binding, quantity->value)) return;
      quantity->formula = formula;
    }
    if (!cache_bytes(*step)) return;
    stages(*step);
    if (has_errors(r_.problems) || stop_.stop_requested()) return;
    r_.model = step;
    totals();
  }

  // Makes a bound plan; see plan/bound_plan.h.
  bool run_bound_plan() {
    const Design& d = r_.design;
    r_.accelerator = accelerator_of(d.cluster);
    r_.model = bind<CacheKind::BoundModel>();
    if (!r_.model) return false;
    place_layers();
    for (StageReport& s : r_.stages) {
      s.representative = first_of_class(s);
      if (s.representative != s.stage) continue;
      s.binding = r_.binding;
      count_layers(s, r_.graph(), r_.design, false);
      if (!bind_states(s)) return false;
    }
    return true;
  }

 private:
  // Makes the model of the design's structure and binds its numbers. Returns nullptr after adding a problem.
  template <CacheKind model_kind>
  std::shared_ptr<const StepModel> bind() {
    const Design& d = r_.design;
    auto model = cached_model<model_kind>(structure_of(d), *r_.cache);
    if (auto* problem = std::get_if<Problem>(&model)) {
      r_.problems.push_back(*problem);
      return nullptr;
    }
    const auto step = std::get<0>(std::move(model));
    r_.binding = bind_symbols(d);
    for (const Segment& segment : step->graph->segments)
      if (const auto error = define(r_.binding, segment.derived)) {
        r_.problems.emplace_back(ProblemCode::SizeOverflow, "design", error->message,
                                 "sizes that stay within 64 bits");
        return nullptr;
      }
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
    return step;
  }

  // Segments have some of these symbols in common.
  void add_derived(const DerivedSymbol& added) {
    const bool known = std::any_of(r_.derived.begin(), r_.derived.end(),
                                   [&](const DerivedSymbol& d) { return d.symbol == added.symbol; });
    if (!known) r_.derived.push_back(added);
  }

  int kind_of(const Graph& graph, int64_t layer) const { return graph.layer_kind(layer, r_.design.model); }

  bool value(const Expr& expr, const Binding& binding, Wide& out) {
    auto result = evaluate(expr, binding);
    if (auto* error = std::get_if<EvalError>(&result)) {
      r_.problems.emplace_back(ProblemCode::SizeOverflow, "design", error->message,
                               "sizes that divide evenly and stay within 128 bits");
      return false;
    }
    out = std::get<Wide>(result);
    return true;
  }

  // A compressed key takes a share of its bytes per token.
  bool cache_bytes(const StepModel& step) {
    int64_t tokens = std::max<int64_t>(1, r_.design.model.compress_ratio);
    for (const LayerVariant& kind : kinds_with_sizes(r_.design))
      tokens = std::lcm(tokens, std::max<int64_t>(1, layer_model(r_.design.model, kind).compress_ratio));
    Wide bytes = 0;
    if (!value(Expr(tokens) * step.kv_cache_bytes, r_.binding, bytes)) return false;
    r_.kv_cache_bytes = {&step.kv_cache_bytes, (bytes + tokens - 1) / tokens};
    r_.kv_cache_per_token = to_double(bytes) / static_cast<double>(tokens);
    return true;
  }

  ModelStart start_of(StagePlace at) const {
    return model_start(pipeline_layout(r_.design.parallel).virtual_stage(at), has_vision_stage(r_.design));
  }

  void place_layers() {
    const std::vector<int64_t> layers = layers_per_virtual_stage(r_.design);
    const PipelineLayout places = pipeline_layout(r_.design.parallel);
    r_.stages.resize(static_cast<size_t>(places.stages));
    std::vector<StageChunk> chunks;  // by virtual stage
    for (int64_t layer = 0; const int64_t count : layers) {
      chunks.push_back({layer, count});
      layer += count;
    }
    for (int64_t p = 0; p < places.stages; ++p) {
      StageReport& s = r_.stages[static_cast<size_t>(p)];
      s.stage = s.representative = static_cast<int>(p);
      for (int64_t c = 0; c < places.chunks; ++c)
        s.chunks.push_back(chunks[static_cast<size_t>(places.virtual_stage({p, c}))]);
      for (const StageChunk& chunk : s.chunks) s.layers += chunk.layers;
      for (int64_t c = 0; c < places.chunks; ++c)
        if (const ModelStart start = start_of({p, c})) s.first = start;
      s.last = places.holds_last(p);
      s.shape = StepModel::shape_index(s.first, s.last, s.layers > 0);
    }
  }

  int first_of_class(const StageReport& s) const {
    const PipelineLayout places = pipeline_layout(r_.design.parallel);
    const Graph& graph = r_.graph();
    const ModelSpec& model = r_.design.model;
    const bool carries = !made_carried(graph).empty();
    const auto same_class = [&](const StageReport& other) {
      for (size_t c = 0; c < s.chunks.size(); ++c) {
        const StageChunk &a = s.chunks[c], &b = other.chunks[c];
        const StagePlace here{s.stage, static_cast<int64_t>(c)}, there{other.stage, static_cast<int64_t>(c)};
        if (a.layers != b.layers || start_of(here) != start_of(there) ||
            places.last(here) != places.last(there))
          return false;
        for (int64_t i = 0; i < a.layers && !graph.one_kind(); ++i)
          if (kind_of(graph, a.first_layer + i) != kind_of(graph, b.first_layer + i)) return false;
        if (carries &&
            (carried_across(graph, model, a.first_layer) != carried_across(graph, model, b.first_layer) ||
             carried_across(graph, model, a.first_layer + a.layers) !=
                 carried_across(graph, model, b.first_layer + b.layers)))
          return false;
      }
      return true;
    };
    for (int i = 0; i < s.stage; ++i)
      if (const StageReport& other = r_.stages[static_cast<size_t>(i)];
          other.representative == i && other.shape == s.shape && same_class(other))
        return i;
    return s.stage;
  }

  // Adds the inputs of a gradient-sync plan that are not sizes to the key: limits, and the layers of each
  // chunk.
  void add_plan_limits(CacheKey& key, const StageReport& s) const {
    add_fields<&FieldUses::sync_plan>(key, r_.design.parallel);
    const Graph& graph = r_.graph();
    for (const StageChunk& chunk : s.chunks) {
      key.add(chunk.layers);
      for (int64_t i = 0; i < chunk.layers && !graph.one_kind(); ++i)
        key.add(int64_t{kind_of(graph, chunk.first_layer + i)});
    }
  }

  // Binds the states of the stage and their derived symbols. Equal states are made once.
  bool bind_states(StageReport& s) {
    const Graph& graph = r_.graph();
    const StateShapes::Shape& shape = r_.model->states->at(s.shape, *r_.cache);
    CacheKey key;
    key.add(shape.serial);
    key.add(int64_t{s.shape});
    for (const Symbol symbol : shape.read) key.add(s.binding.get(symbol).value_or(-1));
    const bool plans = !is_fsdp(graph.structure.sync) && (graph.structure.dp || graph.structure.cp);
    if (plans) {
      key.add(int64_t{needs_plan(graph.structure)});
      add_policy(key, sync_policy(graph.structure));
      add_plan_limits(key, s);
    }
    s.states = r_.cache->get<StageStates>(
        CacheKind::StageStates, key, [&] { return make_states(s, shape, plans); },
        [](const StageStates& made) {
          return sizeof made + made.parts.size() * 16 + made.bound.size() * 16;
        });
    for (const auto& [symbol, value] : s.states->bound) s.binding.set(symbol, value);
    return s.states->whole;
  }

  // The sync plan, cached by all inputs of stage_plan. The key omits the number of microbatches, because only
  // totals depend on that number. Null: the plan has too many collectives; the report names the knob.
  std::shared_ptr<const SharedPlan> shared_plan(const StageReport& s) {
    const Graph& graph = r_.graph();
    const SharedSyncBasis& basis = r_.model->states->basis(*r_.cache);
    CacheKey key;
    key.add(basis.serial);
    for (const Symbol symbol : basis.symbols) key.add(s.binding.get(symbol).value_or(-1));
    add_policy(key, sync_policy(graph.structure));
    for (const bool flag : {s.first.tower, s.first.embedding, s.last}) key.add(int64_t{flag});
    add_plan_limits(key, s);
    const auto make = [&] {
      auto planned = stage_plan(basis.basis, graph.structure, s.binding, r_.design.parallel, s.first, s.last,
                                chunk_kinds(graph, s, r_.design.model));
      if (std::holds_alternative<Problem>(planned)) return std::shared_ptr<const SharedPlan>();
      StagePlan plan = std::get<StagePlan>(std::move(planned));
      PlanTotals totals = plan_totals(graph.structure, plan);
      return std::make_shared<const SharedPlan>(SharedPlan{
          std::move(totals), std::make_shared<const PlacedPlan>(place_plan(basis.basis, std::move(plan)))});
    };
    return r_.cache->get<SharedPlan>(CacheKind::SyncPlan, key, make, bytes_of_plan);
  }

  // plans: whether gradient sync has a plan.
  std::shared_ptr<const StageStates> make_states(StageReport& s, const StateShapes::Shape& shape,
                                                 bool plans) {
    const Graph& graph = r_.graph();
    auto out = std::make_shared<StageStates>();
    Binding binding = s.binding;
    const Binding before = binding;
    if (plans) {
      const std::shared_ptr<const SharedPlan> plan = shared_plan(s);
      out->whole = plan != nullptr;
      if (!plan) return out;
      if (needs_plan(graph.structure)) bind_plan(binding, graph.structure, r_.design.parallel, plan->totals);
      out->plan = plan->placed;
    }
    std::vector<EvalFault> faults;
    std::vector<Wide> values;
    out->whole = !define(binding, shape.derived);
    if (out->whole) values = shape.parts.evaluate(binding, &faults);
    for (const EvalFault fault : faults) out->whole = out->whole && fault == EvalFault::None;
    if (!out->whole) return out;
    for (size_t i = 0; i < shape.categories.size(); ++i)
      out->parts.push_back({shape.categories[i], static_cast<int64_t>(values[i])});
    for (const auto& [symbol, value] : binding.items())
      if (before.get(symbol) != value) out->bound.emplace_back(symbol, value);
    return out;
  }

  void stages(const StepModel& step) {
    const Graph& graph = *step.graph;
    const PipelineLayout places = pipeline_layout(r_.design.parallel);
    place_layers();
    const bool forward_only = r_.design.parallel.forward_only;
    // Microbatches in flight are counted in the schedule, on as few microbatches as reach all its states.
    const int seen = representative_microbatches(r_.design.parallel, static_cast<int>(r_.microbatches));
    for (StageReport& s : r_.stages) {
      const int64_t p = s.stage;
      s.binding = r_.binding;
      s.binding.set(symbol("p"), p);
      const StageShape& shape = step.shapes[static_cast<size_t>(s.shape)];
      const StageLayers layers_here = count_layers(s, graph, r_.design);
      bind_nothing_recomputed(s.binding, graph);
      if (graph.structure.vectors > 0) bind_vectors(s, graph);
      bind_carried(s, graph);
      if (places.layout == ChunkLayout::Vee) s.binding.set(messages_symbol(), places.messages(p));
      const std::vector<Action> actions = make_stage_schedule(r_.design.parallel, s.stage, seen,
                                                              r_.cache.get());
      s.in_flight = microbatches_in_flight({.actions = {actions}, .forward_only = forward_only}).front();
      if (graph.structure.chunkwise() && !bind_layers_in_flight(s, shape, graph, layers_here, actions))
        return;
      s.binding.set(symbol("nf"), s.in_flight);
      if (!bind_largest(s, shape, layers_here.groups) || !bind_largest(s, shape, layers_here.transits))
        return;
      if (stop_.stop_requested()) return;
      fill(s, shape, graph);
      if (has_errors(r_.problems)) return;
    }
  }

  // Vectors per token in the messages of the stage. Validation refuses stages of several chunks.
  void bind_vectors(StageReport& s, const Graph& graph) {
    const StageChunk& chunk = s.chunks.front();
    const auto bind = [&](Symbol symbol, bool sent) {
      Wide vectors = 1;
      value(message_vectors(graph, r_.design.model, chunk.first_layer, s.layers, sent), s.binding, vectors);
      s.binding.set(symbol, static_cast<int64_t>(vectors));
    };
    if (!s.last) bind(vectors_sent_symbol(), true);
    if (!s.first) bind(vectors_received_symbol(), false);
  }

  // Messages of the stage with carried tensors, per microbatch.
  void bind_carried(StageReport& s, const Graph& graph) {
    const size_t tensors = made_carried(graph).size();
    const PipelineLayout places = pipeline_layout(r_.design.parallel);
    std::vector<int64_t> sent(tensors), received(tensors);
    for (size_t c = 0; c < s.chunks.size() && tensors > 0; ++c) {
      const StagePlace here{s.stage, static_cast<int64_t>(c)};
      const StageChunk& chunk = s.chunks[c];
      const auto count = [&](int64_t layer, std::vector<int64_t>& to) {
        const int across = carried_across(graph, r_.design.model, layer);
        for (size_t i = 0; i < tensors; ++i) to[i] += across >> i & 1;
      };
      // No carried tensor exists in front of the embedding.
      const ModelStart start = start_of(here);
      if (places.sends(here) && !start.tower_alone()) count(chunk.first_layer + chunk.layers, sent);
      if (places.receives(here) && !start.embedding) count(chunk.first_layer, received);
    }
    for (size_t i = 0; i < tensors; ++i) {
      s.binding.set(carried_sent_symbol(static_cast<int>(i)), sent[i]);
      s.binding.set(carried_received_symbol(static_cast<int>(i)), received[i]);
    }
  }

  bool activations(const StageReport& s, const StageShape& shape, Wide& bytes) {
    Wide saved, logits;
    if (!value(shape.memory[static_cast<size_t>(MemoryCategory::Activations)], s.binding, saved) ||
        !value(shape.memory[static_cast<size_t>(MemoryCategory::Logits)], s.binding, logits))
      return false;
    bytes = saved + logits;
    return true;
  }

  // Binds the candidate with the most bytes of activations and logits.
  bool bind_largest(StageReport& s, const StageShape& shape, const std::set<SymbolCounts>& candidates) {
    Wide most = -1;
    const Binding without = s.binding;
    Binding fullest = s.binding;
    for (const SymbolCounts& candidate : candidates) {
      s.binding = without;
      for (const auto& [symbol, count] : candidate) s.binding.set(symbol, count);
      Wide bytes;
      if (!activations(s, shape, bytes)) return false;
      if (bytes <= most) continue;
      most = bytes;
      fullest = s.binding;
    }
    s.binding = fullest;
    return true;
  }
  // Binds the layers in flight at the peak candidate with the most bytes. Tensors that exist for one layer at
  // a time are the same at all candidates.
  bool bind_layers_in_flight(StageReport& s, const StageShape& shape, const Graph& graph,
                             const StageLayers& layers, const std::vector<Action>& actions) {
    const PipelineLayout places = pipeline_layout(r_.design.parallel);
    // Per segment in the order of the graph: layers in flight by class.
    std::vector<Symbol> symbols{end_in_flight_symbol(false)};
    for (int kind : layer_kinds(graph))
      for (LayerClass of : layer_classes(graph.structure))
        symbols.push_back(layers_in_flight_symbol(graph, kind, of));
    symbols.push_back(end_in_flight_symbol(true));
    std::vector<std::vector<int64_t>> held, deferred;
    for (size_t c = 0; c < layers.chunks.size(); ++c) {
      const StagePlace at{s.stage, static_cast<int64_t>(c)};
      held.push_back({start_of(at) ? 1 : 0});
      held.back().insert(held.back().end(), layers.chunks[c].begin(), layers.chunks[c].end());
      held.back().push_back(places.last(at) ? 1 : 0);
    }
    if (graph.structure.split_backward) {
      // The same symbols for microbatches with deferred weight gradients.
      const size_t quantities = symbols.size();
      symbols.push_back(end_deferred_symbol(false));
      for (int kind : layer_kinds(graph))
        for (LayerClass of : layer_classes(graph.structure))
          symbols.push_back(layers_deferred_symbol(graph, kind, of));
      symbols.push_back(end_deferred_symbol(true));
      for (std::vector<int64_t>& of : held) {
        std::vector<int64_t>& later = deferred.emplace_back(quantities, 0);
        later.insert(later.end(), of.begin(), of.end());
        of.resize(2 * quantities, 0);
      }
    }
    std::set<SymbolCounts> candidates;
    for (const std::vector<int64_t>& counts : pareto_peaks(actions, held, deferred)) {
      SymbolCounts candidate;
      for (size_t i = 0; i < counts.size(); ++i) candidate[symbols[i]] = counts[i];
      candidates.insert(std::move(candidate));
    }
    return bind_largest(s, shape, candidates);
  }

  void fill(StageReport& s, const StageShape& shape, const Graph& graph) {
    if (auto problem = bind_sync(s.binding, graph, r_.design.parallel, shape.first, shape.last,
                                 chunk_kinds(graph, s, r_.design.model))) {
      r_.problems.push_back(*std::move(problem));
      return;
    }
    if (const auto error = define(s.binding, shape.derived)) {
      r_.problems.emplace_back(ProblemCode::SizeOverflow, "sync", error->message,
                               "sizes that stay within 64 bits");
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
      for (const MemoryPart& part : shape.parts[c]) s.parts[c].push_back({part.name, next(), part.kind});
    for (const FlopsRow& row : shape.flops) {
      FlopsValue f{row.kind, row.phase, row.compute, next(), next()};
      s.flops_total += f.counted.value;
      s.useful_flops_total += f.useful.value;
      s.flops.push_back(f);
    }
    for (const CollectiveRow& row : shape.collectives) {
      const auto size = static_cast<int64_t>(next().value);
      CollectiveValue c{row.phase, row.op, row.group, size, row.dtype, next(), next(), next()};
      // Skip units that are never gathered again, and parameters of kinds of layers that the stage does not
      // have.
      if (c.count.value == 0 || c.elements.value == 0) continue;
      if (c.op.part() != CommPart::Receive) s.bytes_sent_total += c.bytes.value;
      s.collectives.push_back(std::move(c));
    }
    for (const HostRow& row : shape.host) s.host.push_back({row.phase, row.op, row.what, next(), next()});
    std::erase_if(s.host, [](const HostValue& h) { return h.count.value == 0; });
    for (const MemoryPart& part : shape.host_memory) s.host_memory.push_back({part.name, next(), part.kind});
  }

  // FLOPs grow linearly along a ring: their mean over the ranks is the mean of the first and the last rank.
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
      r_.step_flops += mean_flops(s) * ranks_per_stage;
      r_.step_comm_bytes += to_double(s.bytes_sent_total) * ranks_per_stage;
    }
  }

  Report& r_;
  std::stop_token stop_;
  std::optional<int64_t> position_;
};

}  // namespace

std::shared_ptr<Report> make_report(const Design& design, std::shared_ptr<PlanCache> cache,
                                    std::stop_token stop, std::optional<int64_t> ring_position) {
  const auto begin = std::chrono::steady_clock::now();
  auto report = std::make_shared<Report>();
  report->design = effective_design(design);
  report->cache = std::move(cache);
  ReportMaker(*report, stop, ring_position).run();
  if (stop.stop_requested()) return nullptr;
  report->elapsed_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                           .count();
  return report;
}

std::shared_ptr<Report> make_report(const Design& design, std::stop_token stop,
                                    std::optional<int64_t> ring_position) {
  return make_report(design, std::make_shared<PlanCache>(), stop, ring_position);
}

bool make_bound_plan(const Design& design, std::shared_ptr<PlanCache> cache, Report& out) {
  out.design = design;
  out.cache = std::move(cache);
  return ReportMaker(out, {}, {}).run_bound_plan();
}

std::vector<std::vector<int>> chunk_kinds(const Graph& graph, const StageReport& stage,
                                          const ModelSpec& model) {
  std::vector<std::vector<int>> kinds;
  for (const StageChunk& chunk : stage.chunks) {
    std::vector<int>& of = kinds.emplace_back();
    for (int64_t i = 0; i < chunk.layers; ++i) of.push_back(graph.layer_kind(chunk.first_layer + i, model));
  }
  return kinds;
}

std::string FlopsValue::name() const {
  const bool newton_schulz = kind == OpKind::Optimizer && compute == DType::BF16;  // of Muon
  return std::string(op_kind_name(kind)) +
         (is_quantized(compute) || newton_schulz ? "_" + std::string(dtype_name(compute)) : "");
}

const std::vector<DerivedSymbol>& stage_derived(const Report& report, const StageReport& stage) {
  return report.model->shapes[static_cast<size_t>(stage.shape)].derived;
}

}  // namespace shardscape
