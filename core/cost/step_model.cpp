#include "cost/step_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "cost/grad_plan.h"
#include "cost/stage_boundary.h"
#include "cost/sync_model.h"

namespace shardscape {
namespace {

struct CategoryInfo {
  std::string_view name, label;
};
constexpr std::array<CategoryInfo, kMemoryCategoryCount> kCategories{{{"parameters", "Parameters"},
                                                                      {"gradients", "Gradients"},
                                                                      {"optimizer", "Optimizer"},
                                                                      {"activations", "Activations"},
                                                                      {"logits", "Logits and loss"}}};

const Expr& microbatches() {
  static const Expr m{Symbol::intern("m")};
  return m;
}
const Expr& in_flight() {
  static const Expr nf{Symbol::intern("nf")};
  return nf;
}

Symbol layers_symbol(const Graph& graph, const char* name, int kind) {
  const bool one_kind = graph.segments.size() == 3;
  return Symbol::intern(one_kind ? name : name + std::to_string(kind));
}

bool is_loss(OpKind kind) {
  return kind == OpKind::ReduceMax || kind == OpKind::SumExp || kind == OpKind::Pick || kind == OpKind::Nll ||
         kind == OpKind::SoftCap;
}

class ShapeBuilder {
 public:
  ShapeBuilder(const Graph& graph, bool first, bool last, bool has_layers) : graph_(graph) {
    shape_.first = first;
    shape_.last = last;
    shape_.has_layers = has_layers;
    states();
    for (const StageSegment& part : stage_segments(graph, first, last, has_layers)) {
      const Segment& segment = graph_.segments[static_cast<size_t>(part.segment)];
      work(segment, part.count);
      saved(segment, graph.structure.interleaved ? Expr(in_flight_symbol(graph, part.segment)) : in_flight() * part.count);
    }
    transfers();
    reductions();
    for (auto& [key, row] : flops_) shape_.flops.push_back(std::move(row));
    const OptimizerCost adam = optimizer_cost(graph_, first, last, has_layers);
    shape_.flops.push_back({OpKind::Optimizer, Phase::Step, adam.flops, adam.flops});
    for (auto& [key, row] : collectives_) shape_.collectives.push_back(std::move(row));
    std::vector<Expr> all;
    for (const Expr* e : shape_.expressions()) all.push_back(*e);
    shape_.program = ExprProgram::compile(all);
  }
  StageShape take() { return std::move(shape_); }

 private:
  void part(MemoryCategory category, const std::string& name, const Expr& bytes) {
    if (bytes.is_zero()) return;
    const auto c = static_cast<size_t>(category);
    shape_.memory[c] += bytes;
    auto& parts = shape_.parts[c];
    const auto it = std::find_if(parts.begin(), parts.end(), [&](const MemoryPart& p) { return p.name == name; });
    if (it == parts.end())
      parts.push_back({name, bytes});
    else
      it->bytes += bytes;
  }

  // Mixed precision: 16-bit parameters keep fp32 master weights beside the two moments of Adam (Micikevicius et al.,
  // arXiv 1710.03740; Rajbhandari et al., arXiv 1910.02054, section 3.1).
  void states() {
    const Structure& s = graph_.structure;
    shape_.parameters = stage_parameters(graph_, shape_.first, shape_.last, shape_.has_layers);
    const StageSync sync = stage_sync(graph_, shape_.first, shape_.last, shape_.has_layers);
    shape_.derived = sync.derived;
    if (sync.strategy == SyncStrategy::Fsdp1) {
      unit_states(sync);
    } else {
      const Expr& p = shape_.parameters;
      const bool sharded = sync.strategy == SyncStrategy::DistributedOptimizer;
      const Expr gradients = sharded ? sync.owned * sync.replicas : p;
      part(MemoryCategory::Parameters, "parameters, " + std::string(dtype_name(s.dtype)), p * Expr(dtype_bytes(s.dtype)));
      part(MemoryCategory::Gradients, "gradients, " + std::string(dtype_name(s.grad_dtype)), gradients * Expr(dtype_bytes(s.grad_dtype)));
      if (dtype_bytes(s.dtype) < 4) part(MemoryCategory::Optimizer, "master weights, float32", sync.owned * Expr(4));
    }
    part(MemoryCategory::Optimizer, "first moment, float32", sync.owned * Expr(4));
    part(MemoryCategory::Optimizer, "second moment, float32", sync.owned * Expr(4));
  }

  // FSDP keeps its shards, and their gradients, in float32; units are gathered in the type of the compute. Under no_sync
  // gradients accumulate whole (Zhao et al., arXiv 2304.11277, section 3.3).
  void unit_states(const StageSync& sync) {
    const DType type = graph_.structure.dtype;
    const std::string name(dtype_name(type));
    part(MemoryCategory::Parameters, "sharded parameters, float32", sync.owned * Expr(4));
    part(MemoryCategory::Parameters, "gathered root and layers, " + name, sync.gathered * Expr(dtype_bytes(type)));
    part(MemoryCategory::Gradients, "sharded gradients, float32", sync.owned * Expr(4));
    const bool whole = graph_.structure.accumulates;
    part(MemoryCategory::Gradients, (whole ? "accumulating gradients, " : "gradients not yet reduced, ") + name,
         (whole ? shape_.parameters : sync.unreduced) * Expr(dtype_bytes(type)));
  }

  void unit_sync() {
    const StageSync sync = stage_sync(graph_, shape_.first, shape_.last, shape_.has_layers);
    const Structure& s = graph_.structure;
    const auto over_replicas = [&](Phase phase, const char* op, DType type, const Expr& count, const SyncUnit& unit) {
      if (!count.is_zero())
        collective(phase, op, group_name(replica_axes(s)), sync.replicas, type, count, count * unit.full);
    };
    for (const SyncUnit& unit : sync.units) {
      const bool root = unit.segment < 0;
      over_replicas(Phase::Forward, "all_gather", s.dtype, root ? sync.root_forward : microbatches() * unit.count, unit);
      over_replicas(Phase::Backward, "all_gather", s.dtype, root ? sync.root_backward : microbatches() * unit.count, unit);
      over_replicas(Phase::Backward, "reduce_scatter", s.grad_dtype, unit.count, unit);
      for (const GradReduction& r : unit.inner) reduction(r, unit.count);
    }
  }

  void work(const Segment& segment, const Expr& count) {
    const Expr times = microbatches() * count;
    for (const Op& op : segment.ops) {
      if (is_collective(op.kind)) {
        const Tensor& t = segment.tensor(op.inputs[0]);
        const Expr elements = collective_elements(segment, op);
        if (is_ring(op.kind)) {
          for (const char* way : {"send", "recv"})
            collective(op.phase, way, group_name(op.group), group_size(op.group), t.dtype, times * ring_messages(op), times * elements);
          continue;
        }
        collective(op.phase, std::string(op_kind_name(op.kind)), group_name(op.group), group_size(op.group), t.dtype, times, times * elements);
      } else if (!op.flops.is_zero()) {
        FlopsRow& row = flops_.try_emplace({op.phase, op.kind}, FlopsRow{op.kind, op.phase, {}, {}}).first->second;
        row.counted += times * op.flops;
        row.useful += times * op.useful_flops;
      }
    }
  }

  void collective(Phase phase, const std::string& op, const std::string& group, const Expr& size, DType dtype,
                  const Expr& count, const Expr& elements) {
    CollectiveRow& row = collectives_.try_emplace({phase, op, group, dtype}, CollectiveRow{phase, op, group, size, dtype, {}, {}, {}}).first->second;
    row.count += count;
    row.elements += elements;
    row.bytes += elements * Expr(dtype_bytes(dtype));
  }

  void saved(const Segment& segment, const Expr& copies) {
    for (const SavedStorage& s : segment.saved) {
      const Op& saver = segment.op(s.saver);
      const bool loss = is_loss(saver.kind);
      const std::string name = saver.block >= 0 ? segment.blocks[static_cast<size_t>(saver.block)].label : segment.name;
      part(loss ? MemoryCategory::Logits : MemoryCategory::Activations, name,
           copies * segment.storages[static_cast<size_t>(s.storage)].bytes);
    }
    // A layer's backward makes its activations again: one layer's worth at a time.
    for (const SavedStorage& s : segment.replayed)
      part(MemoryCategory::Activations, "recomputed in one " + segment.name, segment.storages[static_cast<size_t>(s.storage)].bytes);
  }

  // Every chunk passes the residual stream on and its gradient back, once per microbatch; the ends of the model do one.
  void transfers() {
    const StageBoundary boundary = stage_boundary(graph_);
    static const Expr stages{Symbol::intern("pp")}, chunks{Symbol::intern("v")};
    const int64_t ends = (shape_.last ? 1 : 0) + (shape_.first ? 1 : 0);
    if (ends == 2) return;
    const Expr count = microbatches() * (Expr(2) * (graph_.structure.interleaved ? chunks : Expr(1)) - Expr(ends));
    for (const char* op : {"send", "recv"})
      collective(Phase::Pipeline, op, "pp", stages, boundary.message.dtype, count, count * local_elements(boundary.message));
    if (!boundary.gathered.empty())
      collective(Phase::Pipeline, "all_gather", group_name(boundary.gathered), group_size(boundary.gathered),
                 boundary.stream.dtype, count, count * local_elements(boundary.stream));
  }

  void reductions() {
    const StageSync sync = stage_sync(graph_, shape_.first, shape_.last, shape_.has_layers);
    if (sync.strategy == SyncStrategy::Fsdp1) return unit_sync();
    if (sync.buckets) {
      const bool sharded = sync.strategy == SyncStrategy::DistributedOptimizer;
      const Structure& s = graph_.structure;
      const std::string group = group_name(replica_axes(s));
      const Expr elements = sharded ? sync.owned * sync.replicas : shape_.parameters;
      collective(Phase::Backward, sharded ? "reduce_scatter" : "all_reduce", group, sync.replicas, s.grad_dtype,
                 sync.bucket_count, elements);
      if (sharded) collective(Phase::ParamGather, "all_gather", group, sync.replicas, s.dtype, sync.bucket_count, elements);
    }
    for (const GradReduction& r : plan_grad_reduce(graph_, shape_.first, shape_.last, shape_.has_layers)) {
      reduction(r, Expr(1));
      if (r.scatter)  // every rank updates its part; all get all parts
        collective(Phase::ParamGather, "all_gather", group_name(r.axes), group_size(r.axes), graph_.structure.dtype, Expr(1), r.elements);
    }
  }

  void reduction(const GradReduction& r, const Expr& count) {
    collective(Phase::GradReduce, r.scatter ? "reduce_scatter" : "all_reduce", r.embedding_group ? "embedding" : group_name(r.axes),
               r.embedding_group ? Expr(2) : group_size(r.axes), r.dtype, count, count * r.elements);
  }

  const Graph& graph_;
  StageShape shape_;
  std::map<std::pair<Phase, OpKind>, FlopsRow> flops_;
  std::map<std::tuple<Phase, std::string, std::string, DType>, CollectiveRow> collectives_;
};

Expr whole_model_parameters(const Graph& graph) {
  Expr out;
  std::vector<std::string> tied;
  const size_t kinds = graph.segments.size() - 2;
  for (size_t i = 0; i < graph.segments.size(); ++i) {
    const bool layer = i > 0 && i <= kinds;
    const Expr count = layer ? Expr(model_layers_symbol(graph, static_cast<int>(i) - 1)) : Expr(1);
    for (const Param& p : graph.segments[i].params) {
      if (!p.tied.empty()) {
        if (std::find(tied.begin(), tied.end(), p.tied) != tied.end()) continue;
        tied.push_back(p.tied);
      }
      Expr size = count;
      for (const Expr& dim : graph.segments[i].tensor(p.tensor).sizes) size = size * dim;
      out += size;
    }
  }
  return out.substitute(Symbol::intern("Vp"), Expr(Symbol::intern("V")));
}

}  // namespace

std::string_view memory_category_name(MemoryCategory category) { return kCategories[static_cast<size_t>(category)].name; }
std::string_view memory_category_label(MemoryCategory category) { return kCategories[static_cast<size_t>(category)].label; }

Symbol stage_layers_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "Ls", kind); }
Symbol in_flight_symbol(const Graph& graph, int segment) {
  if (segment == 0) return Symbol::intern("nfe");
  return segment == graph.head() ? Symbol::intern("nfh") : layers_symbol(graph, "Lf", segment - 1);
}
Symbol model_layers_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "L", kind); }

int StepModel::shape_index(bool first, bool last, bool has_layers) {
  return (first ? 1 : 0) + (last ? 2 : 0) + (has_layers ? 4 : 0);
}

std::vector<const Expr*> StageShape::expressions() const {
  std::vector<const Expr*> out{&parameters};
  for (const Expr& e : memory) out.push_back(&e);
  for (const auto& category : parts)
    for (const MemoryPart& p : category) out.push_back(&p.bytes);
  for (const FlopsRow& f : flops) {
    out.push_back(&f.counted);
    out.push_back(&f.useful);
  }
  for (const CollectiveRow& c : collectives)
    for (const Expr* e : {&c.group_size, &c.count, &c.elements, &c.bytes}) out.push_back(e);
  return out;
}

StepModel make_step_model(std::shared_ptr<const Graph> graph) {
  StepModel model;
  model.graph = std::move(graph);
  for (int i = 0; i < 8; ++i)
    model.shapes.push_back(ShapeBuilder(*model.graph, (i & 1) != 0, (i & 2) != 0, (i & 4) != 0).take());
  model.model_parameters = whole_model_parameters(*model.graph);
  return model;
}

}  // namespace shardscape
