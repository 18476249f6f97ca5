#include "plan/step_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "grad_sync/grad_plan.h"
#include "grad_sync/stage_gradients.h"
#include "grad_sync/sync_model.h"
#include "model/library.h"
#include "model/parallel_loop.h"
#include "plan/cache_bytes.h"
#include "plan/op_work.h"
#include "plan/stage_transfers.h"

namespace shardscape {
namespace {

struct CategoryInfo {
  std::string_view name, label;
};
constexpr std::array<CategoryInfo, kAllMemoryCategories> kCategories{{{"parameters", "Parameters"},
                                                                      {"gradients", "Gradients"},
                                                                      {"optimizer", "Optimizer"},
                                                                      {"activations", "Activations"},
                                                                      {"logits", "Logits and loss"},
                                                                      {"kv_cache", "KV cache"},
                                                                      {"buffers", "Buffers"},
                                                                      {"runtime", "Runtime"}}};

// Equal words stand for equal expressions.
void add_to(CacheKey& key, const Expr& expr) {
  key.add(static_cast<int64_t>(expr.terms().size()));
  for (const Term& term : expr.terms()) {
    for (const int64_t word :
         {term.coefficient.num(), term.coefficient.den(), static_cast<int64_t>(term.powers.size())})
      key.add(word);
    for (const Power& power : term.powers) {
      key.add(int64_t{power.symbol.id()});
      key.add(int64_t{power.exponent});
    }
  }
}

const Expr& in_flight() {
  static const Expr nf{Symbol::intern("nf")};
  return nf;
}

class ShapeBuilder {
 public:
  ShapeBuilder(const Graph& graph, ModelStart first, bool last, bool has_layers)
      : graph_(graph), sync_(stage_sync(graph, first, last, has_layers)) {
    shape_.first = first;
    shape_.last = last;
    shape_.has_layers = has_layers;
    states();
  }
  // layers: the work of all layers of a stage.
  ShapeBuilder& all(const OpWork& layers) {
    const Graph& graph = graph_;
    const ModelStart first = shape_.first;
    const bool last = shape_.last, has_layers = shape_.has_layers;
    if (has_layers) work_ = layers;
    for (const StageSegment& part : stage_segments(graph, first, last, has_layers)) {
      const Segment& segment = graph_.segments[static_cast<size_t>(part.segment)];
      const bool layer = segment.kind == SegmentKind::Layer, chunks = graph.structure.chunkwise();
      tables(segment, part.count);
      const int kind = part.segment - 1;
      if (!layer) {
        const bool head = segment.kind == SegmentKind::Head;
        const CheckpointPolicy policy = end_policy(segment);
        OpWork work;
        for (const Op& op : segment.ops) work.count(graph, segment, op);
        work_.add(work, microbatches() * part.count);
        saved(segment, policy, part.count * (chunks ? Expr(end_in_flight_symbol(head)) : in_flight()));
        deferred(segment, policy, part.count * Expr(end_deferred_symbol(head)));
        if (head) continue;  // its replay and its backward follow its forward: buffers hold what they make
        for (const SavedStorage& s : segment.replayed)
          this->part(MemoryCategory::Activations, "recomputed in one " + segment.name,
                     segment.storages[static_cast<size_t>(s.storage)].bytes);
        continue;
      }
      cached(segment, part.count);
      for (LayerClass of : layer_classes(graph.structure)) {
        const Expr count(layer_count_symbol(graph, kind, of)),
            copies = chunks ? Expr(layers_in_flight_symbol(graph, kind, of)) : in_flight() * count;
        if (of.offloaded)
          offloaded(segment, kind, of, count, copies);
        else
          saved(segment, of.checkpoint_policy, copies);
        deferred(segment, of.checkpoint_policy, Expr(layers_deferred_symbol(graph, kind, of)));
      }
      replayed(segment, kind);
    }
    for (const TransferRow& row : stage_transfers(graph_, first, last))
      collective(Phase::Pipeline, row.op, row.group, row.group_size, row.dtype, row.count, row.elements);
    reductions();
    for (auto& [key, row] : work_.flops) shape_.flops.push_back(std::move(row));
    const OptimizerCost adam = optimizer_cost(graph_, sync_.owned, sync_.muon.owned, first, last, has_layers);
    if (graph.structure.trains() && updates_on_device(graph.structure))
      shape_.flops.push_back({OpKind::Optimizer, Phase::Step, DType::FP32, adam.flops, adam.flops});
    if (const Expr& flops = sync_.muon.flops; !flops.is_zero())
      shape_.flops.push_back({OpKind::Optimizer, Phase::Step, DType::BF16, flops, flops});
    for (auto& [key, row] : work_.collectives) shape_.collectives.push_back(std::move(row));
    std::vector<Expr> all;
    for (const Expr* e : shape_.expressions()) all.push_back(*e);
    shape_.program = ExprProgram::compile(all);
    return *this;
  }
  StageShape take() { return std::move(shape_); }

 private:
  Expr microbatches() const { return chunk_microbatches(graph_.structure); }

  void part(MemoryCategory category, const std::string& name, const Expr& bytes,
            PartKind kind = PartKind::Other) {
    if (bytes.is_zero()) return;
    const auto c = static_cast<size_t>(category);
    shape_.memory[c] += bytes;
    auto& parts = shape_.parts[c];
    const auto it = std::find_if(parts.begin(), parts.end(),
                                 [&](const MemoryPart& p) { return p.name == name; });
    if (it == parts.end())
      parts.push_back({name, bytes, kind});
    else
      it->bytes += bytes;
  }

  // Mixed precision: 16-bit parameters have fp32 master weights and the two moments of Adam (Micikevicius et
  // al., arXiv 1710.03740; Rajbhandari et al., arXiv 1910.02054, section 3.1).
  void states() {
    const Structure& s = graph_.structure;
    shape_.parameters = stage_parameters(graph_, shape_.first, shape_.last, shape_.has_layers);
    const StageSync& sync = sync_;
    shape_.derived = sync.derived;
    if (!s.trains()) return weights();
    frozen_ = frozen_parameters(graph_, shape_.first, shape_.last, shape_.has_layers);
    if (is_fsdp(sync.strategy)) {
      unit_states(sync);
    } else {
      const Expr wide = float32_parameters(false);
      const bool sharded = is_deepspeed(sync.strategy) || sync.strategy == SyncStrategy::DistributedOptimizer;
      if (is_deepspeed(sync.strategy)) {
        zero_states(sync);
      } else {
        const Expr only_quantized = s.fp8_params ? quantized_weights(graph_, shape_.first, shape_.last,
                                                                     shape_.has_layers)
                                                 : Expr();
        const Expr four_bit = four_bit_parameters();
        part(MemoryCategory::Parameters, "parameters, " + std::string(dtype_name(s.dtype)),
             (shape_.parameters - wide - only_quantized - four_bit) * Expr(dtype_bytes(s.dtype)));
        part(MemoryCategory::Parameters, "parameters, float32", wide * Expr(4));
        if (adds_gradients_after_pass(graph_))
          part(MemoryCategory::Gradients, "gradients of a pass, " + std::string(dtype_name(s.dtype)),
               (shape_.parameters - frozen_) * Expr(dtype_bytes(s.dtype)));
        if (adds_gradients_after_pass(graph_) && ModelLibrary::instance().profile(s.profile)->reducer_buckets)
          part(MemoryCategory::Gradients, "reducer buckets, " + std::string(dtype_name(s.dtype)),
               bucket_bytes(graph_, s.dtype, shape_.first, shape_.last, shape_.has_layers));
        part(MemoryCategory::Gradients, "gradients, " + std::string(dtype_name(s.grad_dtype)),
             sync.buffers * Expr(dtype_bytes(s.grad_dtype)));
        if (s.sync == SyncStrategy::DdpBuckets)
          part(MemoryCategory::Gradients, "reducer buckets, " + std::string(dtype_name(s.grad_dtype)),
               bucket_bytes(graph_, s.grad_dtype, shape_.first, shape_.last, shape_.has_layers));
      }
      part(MemoryCategory::Parameters, "quantized weights, " + std::string(dtype_name(s.compute)),
           quantized_weight_bytes(graph_, shape_.first, shape_.last, shape_.has_layers));
      if (dtype_bytes(s.dtype) < 4 && s.master_weights)
        optimizer_state(PartKind::MasterWeights, "master weights, float32", "Phm",
                        sharded ? sync.owned : sync.owned - float32_parameters(true), Expr(4));
    }
    const std::string moment(dtype_name(s.moment_dtype));
    for (const bool second : {false, true})
      optimizer_state(PartKind::AdamMoment, (second ? "second moment, " : "first moment, ") + moment, "Ph",
                      second ? sync.owned - sync.muon.owned : sync.owned, dtype_size(s.moment_dtype));
    if (!s.offload_optimizer) return;
    const OffloadedStep step = offloaded_step(graph_, sync_.owned);
    host(Phase::Step, HostOp::Store, "gradients", Expr(1), step.gradient_bytes);
    host(Phase::Step, HostOp::Load, "parameters", Expr(1), step.parameter_bytes);
  }

  // Inference stores weights once: in the formats of the checkpoint, otherwise quantized where the matrix
  // products read them quantized.
  void weights() {
    const Structure& s = graph_.structure;
    Expr quantized, bytes;
    std::map<DType, Expr> stored;  // in the formats of the checkpoint
    for (const StageParam& p : stage_params(graph_, shape_.first, shape_.last, shape_.has_layers)) {
      const Tensor& t = p.segment->tensor(p.param->tensor);
      const bool formatted = p.param->format != WeightFormat::Plain;
      if (!p.param->quantized && !formatted) continue;
      quantized += p.count * local_elements(t);
      if (formatted)
        stored[stored_type(p.param->format)] += p.count * p.param->stored_bytes;
      else
        bytes += p.count * local_elements(t) * quantized_size(t);
    }
    const Expr wide = float32_parameters(false);
    part(MemoryCategory::Parameters, "parameters, " + std::string(dtype_name(s.dtype)),
         (shape_.parameters - wide - quantized) * Expr(dtype_bytes(s.dtype)));
    part(MemoryCategory::Parameters, "parameters, float32", wide * Expr(4));
    part(MemoryCategory::Parameters, "parameters, " + std::string(dtype_name(s.compute)), bytes);
    for (const auto& [type, size] : stored)
      part(MemoryCategory::Parameters, "stored weights, " + std::string(dtype_name(type)), size);
  }

  // Tables that are no parameters: the experts of every token id.
  void tables(const Segment& segment, const Expr& layers) {
    for (const Buffer& b : segment.buffers)
      if (const Tensor& t = segment.tensor(b.tensor); !b.counted)
        part(MemoryCategory::Parameters, "tables, " + std::string(dtype_name(t.dtype)),
             layers * local_bytes(t));
  }

  // One scale covers a square block of a quantized weight (DeepSeek-V3, arXiv 2412.19437, section 3.3.2).
  // Mixers are an exception: the sizes of their weights need not be multiples of a block.
  Expr quantized_size(const Tensor& weight) const {
    const DType type = graph_.structure.compute;
    const bool mixer = std::any_of(weight.axes.begin(), weight.axes.end(),
                                   [](Axis a) { return a >= Axis::SsmInner && a <= Axis::SsmHeadDim; });
    if (type != DType::FP8Block || mixer) return dtype_size(type);
    const int64_t block = quantization_block(type);
    return Expr(dtype_bytes(DType::FP8)) + Expr(Rational(dtype_bytes(DType::FP32), block * block));
  }

  // Every served sequence has its own cache during the whole step.
  void cached(const Segment& segment, const Expr& layers) {
    for (TensorId id : segment.caches) {
      const Tensor& t = segment.tensor(id);
      const int block = segment.op(t.producer).block;
      part(MemoryCategory::KvCache, segment.blocks[static_cast<size_t>(block)].label,
           microbatches() * layers * local_bytes(t));
    }
  }

  // host: the symbol of the blocks of these elements in the host, if a part of the states is there.
  void optimizer_state(PartKind kind, const std::string& name, const char* host, const Expr& elements,
                       const Expr& size) {
    const Structure& s = graph_.structure;
    Expr moved = s.offload_optimizer ? elements : Expr();
    if (s.offload_part) {
      const Symbol blocks = Symbol::intern(host);
      const bool known = std::any_of(shape_.derived.begin(), shape_.derived.end(),
                                     [&](const DerivedSymbol& d) { return d.symbol == blocks; });
      if (!known) shape_.derived.push_back(offloaded_blocks(blocks, elements));
      moved = offloaded_elements(s, elements, blocks);
    }
    if (!moved.is_zero()) shape_.host_memory.push_back({name, bytes_of(moved, size), kind});
    part(MemoryCategory::Optimizer, name, bytes_of(elements - moved, size), kind);
  }

  // The scale of a last block of 8-bit moments that is not full counts as a share of four bytes, rounded up.
  Expr bytes_of(const Expr& elements, const Expr& size) {
    if (size != dtype_size(DType::Int8Block) || elements.is_zero()) return elements * size;
    const Symbol scales = Symbol::intern("Qs" + std::to_string(shape_.derived.size()));
    shape_.derived.push_back({scales, DerivedRule::CeilDiv, elements, Expr(256 / dtype_bytes(DType::FP32))});
    return elements + Expr(scales);
  }

  // Parameters that stay in float32 although the other parameters have 16 bits. Sharded states do not
  // separate the two types: the error is a fraction of a percent. trained: only those that gradients train.
  Expr float32_parameters(bool trained) const {
    Expr out;
    for (const StageParam& p : stage_params(graph_, shape_.first, shape_.last, shape_.has_layers)) {
      const Tensor& t = p.segment->tensor(p.param->tensor);
      if (trained && p.param->gradient < 0) continue;
      if (t.dtype != graph_.structure.dtype && !is_quantized(t.dtype)) out += p.count * local_elements(t);
    }
    return out;
  }

  // Adds the frozen weights that are stored in 4 bits, and returns their elements.
  Expr four_bit_parameters() {
    Expr out;
    for (const StageParam& p : stage_params(graph_, shape_.first, shape_.last, shape_.has_layers)) {
      const Tensor& t = p.segment->tensor(p.param->tensor);
      if (t.dtype != DType::NF4 && t.dtype != DType::NF4Double) continue;
      const Expr elements = p.count * local_elements(t);
      out += elements;
      part(MemoryCategory::Parameters, "frozen parameters, " + std::string(dtype_name(t.dtype)),
           elements * dtype_size(t.dtype));
    }
    return out;
  }

  // Frozen parameters where replicas shard parameters: shards in the data type, as checkpoints are loaded.
  // Those of a tower are whole.
  void frozen_states(const StageSync& sync) {
    const Expr bytes(dtype_bytes(graph_.structure.dtype));
    const std::string name(dtype_name(graph_.structure.dtype));
    part(MemoryCategory::Parameters, "sharded frozen parameters, " + name, sync.frozen * bytes,
         PartKind::Sharded);
    part(MemoryCategory::Parameters, "frozen parameters, " + name, (frozen_ - sync.frozen_elements) * bytes);
  }

  // PyTorch's FSDP stores float32 shards and gathers units in the compute type. Under no_sync whole gradients
  // accumulate (Zhao et al., arXiv 2304.11277, section 3.3). Megatron-FSDP stores float32 master weights, and
  // shards in the compute type unless no pass frees parameters (optim_grads).
  void unit_states(const StageSync& sync) {
    const Structure& s = graph_.structure;
    const std::string name(dtype_name(s.dtype));
    const bool torch = is_torch_fsdp(s.sync), always_whole = !s.reshards && s.stays_after_backward,
               whole = s.accumulates;
    const DType held = unreduced_dtype(s), stored = torch ? DType::FP32 : s.dtype,
                reduced = torch ? DType::FP32 : s.grad_dtype;
    if (torch || !always_whole)
      part(MemoryCategory::Parameters, "sharded parameters, " + std::string(dtype_name(stored)),
           sync.owned * Expr(dtype_bytes(stored)), PartKind::Sharded);
    part(MemoryCategory::Parameters, "gathered root and layers, " + name,
         sync.gathered * Expr(dtype_bytes(s.dtype)));
    frozen_states(sync);
    const auto sharded_gradients = [&] {
      part(MemoryCategory::Gradients, "sharded gradients, " + std::string(dtype_name(reduced)),
           sync.owned * Expr(dtype_bytes(reduced)), PartKind::Sharded);
    };
    // The last part is always allocated (fixed_bytes.cpp).
    if (torch) sharded_gradients();
    part(MemoryCategory::Gradients,
         (whole ? "accumulating gradients, " : "gradients not yet reduced, ") + std::string(dtype_name(held)),
         (whole ? shape_.parameters - frozen_ : sync.unreduced) * Expr(dtype_bytes(held)));
    if (torch) return;
    sharded_gradients();
    if (dtype_bytes(s.dtype) < 4 && s.master_weights)
      optimizer_state(PartKind::MasterWeights, "master weights, float32", "Ph", sync.owned, Expr(4));
  }

  // DeepSpeed stores gradients in the type of the parameters (Rajbhandari et al., arXiv 1910.02054, section
  // 5). From stage 2 on it also has a buffer of the size of a reduce bucket (contiguous_gradients).
  void zero_states(const StageSync& sync) {
    const std::string name(dtype_name(graph_.structure.dtype));
    const Expr bytes(dtype_bytes(graph_.structure.dtype));
    if (shards_parameters(sync.strategy)) {
      part(MemoryCategory::Parameters, "sharded parameters, " + name, sync.owned * bytes, PartKind::Sharded);
      part(MemoryCategory::Parameters, "gathered parameters, largest, " + name, sync.gathered * bytes);
      frozen_states(sync);
    } else {
      const Expr four_bit = four_bit_parameters();
      part(MemoryCategory::Parameters, "parameters, " + name, (shape_.parameters - four_bit) * bytes);
    }
    if (shards_gradients(sync.strategy)) {
      part(MemoryCategory::Gradients, "sharded gradients, " + name, sync.owned * bytes, PartKind::Sharded);
      part(MemoryCategory::Gradients, "reduce bucket, " + name, Expr(Symbol::intern("Zb")) * bytes);
    } else {
      part(MemoryCategory::Gradients, "gradients, " + name, sync.buffers * bytes);
    }
  }

  void collective(Phase phase, CommOp op, const std::string& group, const Expr& size, DType dtype,
                  const Expr& count, const Expr& elements) {
    work_.collective(phase, op, group, size, dtype, count, elements);
  }

  void saved(const Segment& segment, CheckpointPolicy checkpoint_policy, const Expr& copies) {
    for (const SavedStorage& s : saved_by(segment, checkpoint_policy)) {
      const Op& saver = segment.op(s.saver);
      const bool loss = is_loss(saver.kind);
      const std::string name = saver.block >= 0 ? segment.blocks[static_cast<size_t>(saver.block)].label
                                                : segment.name;
      part(loss ? MemoryCategory::Logits : MemoryCategory::Activations, name,
           copies * segment.storages[static_cast<size_t>(s.storage)].bytes);
    }
  }

  // Saved tensors between the input-gradient part and the deferred weight gradient.
  void deferred(const Segment& segment, CheckpointPolicy checkpoint_policy, const Expr& copies) {
    if (!graph_.structure.split_backward) return;
    Expr bytes;
    for (const SavedStorage& s : deferred_in(segment, checkpoint_policy))
      bytes += segment.storages[static_cast<size_t>(s.storage)].bytes;
    part(segment.kind == SegmentKind::Head ? MemoryCategory::Logits : MemoryCategory::Activations,
         "saved for deferred weight gradients, " + segment.name, copies * bytes);
  }

  // Copies of every microbatch: to the host after the forward of the layer, back before its backward.
  void offloaded(const Segment& segment, int kind, LayerClass of, const Expr& count, const Expr& copies) {
    Expr bytes;
    for (const SavedStorage& s : saved_by(segment, of.checkpoint_policy))
      bytes += segment.storages[static_cast<size_t>(s.storage)].bytes;
    part(MemoryCategory::Activations, "offloaded, in transit",
         Expr(offloaded_layers_on_device_symbol(graph_, kind, of)) * bytes);
    shape_.host_memory.push_back({"activations of " + segment.name, copies * bytes});
    host(Phase::Forward, HostOp::Store, "activations", microbatches() * count, bytes);
    host(Phase::Backward, HostOp::Load, "activations", microbatches() * count, bytes);
  }

  void host(Phase phase, HostOp op, const char* what, const Expr& count, const Expr& bytes) {
    auto it = std::find_if(shape_.host.begin(), shape_.host.end(), [&](const HostRow& r) {
      return r.phase == phase && r.op == op && r.what == what;
    });
    if (it == shape_.host.end()) it = shape_.host.insert(it, HostRow{phase, op, what, {}, {}});
    it->count += count;
    it->bytes += count * bytes;
  }

  // Activations that the backward recomputes, for one layer at a time or for a group of layers. Inside a
  // group, the inputs of the inner layers are results of the replay.
  void replayed(const Segment& segment, int kind) {
    const bool groups = graph_.structure.recompute_groups;
    const std::string name = groups ? "recomputed in one group" : "recomputed in one " + segment.name;
    const Expr copies = counts_replayed(graph_) ? Expr(layers_replayed_symbol(graph_, kind)) : Expr(1);
    const Expr inner = groups ? Expr(inner_replayed_symbol(graph_, kind)) : Expr();
    for (const SavedStorage& s : segment.replayed)
      part(MemoryCategory::Activations, name,
           (holds_input(segment, s.storage) ? copies - inner : copies) *
               segment.storages[static_cast<size_t>(s.storage)].bytes);
    const auto input = static_cast<size_t>(segment.tensor(segment.input).storage);
    if (groups) part(MemoryCategory::Activations, name, inner * segment.storages[input].bytes);
  }

  void reductions() {
    const StageSync& sync = sync_;
    for (const SyncRow& row : sync.rows)
      collective(row.phase, row.op, group_name(row.axes), group_size(graph_.structure, row.axes), row.dtype,
                 row.count, row.elements);
    for (const SyncUnit& unit : sync.units)
      for (const GradReduction& r : unit.inner) reduction(r, unit.reductions);
    for (const GradReduction& r :
         plan_grad_reduce(graph_, sync_.owned, shape_.first, shape_.last, shape_.has_layers))
      reduction(r, Expr(1));
    // All-reduces of one number: the gradient norm once a step, and the loss of every microbatch.
    for (const MuonWork::Gather& gather : sync.muon.gathers)
      collective(Phase::Step, CollectiveKind::AllGather, group_name(gather.axes),
                 group_size(graph_.structure, gather.axes), DType::BF16, Expr(1), gather.elements);
    for (const MeshAxes& norm : norm_groups(graph_))
      collective(Phase::Step, CollectiveKind::AllReduce, group_name(norm), group_size(graph_.structure, norm),
                 DType::FP32, Expr(1), Expr(1));
    if (const MeshAxes loss = loss_group(graph_); shape_.last && !loss.empty())
      collective(Phase::Forward, CollectiveKind::AllReduce, group_name(loss),
                 group_size(graph_.structure, loss), DType::FP32, microbatches(), microbatches());
  }

  void reduction(const GradReduction& r, const Expr& count) {
    collective(Phase::GradReduce, CollectiveKind::AllReduce, r.group(),
               r.pair() ? Expr(2) : group_size(graph_.structure, r.axes), r.dtype, count, count * r.elements);
  }

  const Graph& graph_;
  const StageSync sync_;
  Expr frozen_;  // parameters that gradients do not train
  StageShape shape_;
  OpWork work_;  // of a step
};

}  // namespace

std::string_view host_op_name(HostOp op) {
  switch (op) {
    case HostOp::Store: return "store";
    case HostOp::Load: return "load";
  }
  return {};
}

std::string_view memory_category_name(MemoryCategory category) {
  return kCategories[static_cast<size_t>(category)].name;
}
std::string_view memory_category_label(MemoryCategory category) {
  return kCategories[static_cast<size_t>(category)].label;
}

int StepModel::shape_index(ModelStart first, bool last, bool has_layers) {
  const bool one = first.tower != first.embedding;
  return (one           ? first.embedding
          : first.tower ? 1
                        : 0) +
         (last ? 2 : 0) + (has_layers ? 4 : 0) + (one ? 8 : 0);
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
  for (const HostRow& h : host)
    for (const Expr* e : {&h.count, &h.bytes}) out.push_back(e);
  for (const MemoryPart& p : host_memory) out.push_back(&p.bytes);
  return out;
}

namespace {

int shapes_of(const Graph& graph) { return graph.structure.vision_stage ? kStageShapes : kStageShapes / 2; }

// Of the shape with this index.
ModelStart start_of(int index) {
  const bool bit = (index & 1) != 0;
  return (index & 8) != 0 ? ModelStart(!bit, bit) : ModelStart(bit);
}

}  // namespace

StepModel make_step_model(std::shared_ptr<const Graph> graph) {
  StepModel model;
  model.graph = std::move(graph);
  model.shapes.resize(static_cast<size_t>(shapes_of(*model.graph)));
  const OpWork layers = work_of_layers(*model.graph);
  parallel_loop(model.shapes.size(), [&](size_t shape) {
    const int i = static_cast<int>(shape);
    model.shapes[shape] = ShapeBuilder(*model.graph, start_of(i), (i & 2) != 0, (i & 4) != 0)
                              .all(layers)
                              .take();
  });
  model.model_buffers = count_buffers(*model.graph);
  model.parts = count_parts(*model.graph);
  for (const PartParameters& part : model.parts) model.model_parameters += part.parameters;
  // A token of text does not pass the vision tower.
  for (ModelPart part : {ModelPart::Language, ModelPart::Mtp})
    model.active_parameters += model.parts[static_cast<size_t>(part)].active;
  for (ModelPart part : {ModelPart::Language, ModelPart::Vision, ModelPart::Projector})
    model.released_parameters += model.parts[static_cast<size_t>(part)].parameters;
  count_cache(*model.graph, model);
  for (int kind = 0; kind < model.graph->kinds(); ++kind)
    model.state_bytes += Expr(model_layers_symbol(*model.graph, kind)) *
                         model.graph->segments[static_cast<size_t>(kind) + 1].state_bytes;
  return model;
}

StepModel make_bound_model(std::shared_ptr<const Graph> graph) {
  StepModel model;
  model.states = std::make_shared<const StateShapes>(graph);
  model.graph = std::move(graph);
  const int shapes = shapes_of(*model.graph);
  model.shapes.resize(static_cast<size_t>(shapes));
  for (int i = 0; i < shapes; ++i) {
    StageShape& shape = model.shapes[static_cast<size_t>(i)];
    shape.first = start_of(i);
    shape.last = (i & 2) != 0;
    shape.has_layers = (i & 4) != 0;
  }
  return model;
}

const SharedSyncBasis& StateShapes::basis(PlanCache& cache) const {
  std::call_once(based_, [&] { basis_ = shared_sync_basis(*graph_, cache); });
  return *basis_;
}

const StateShapes::Shape& StateShapes::at(int index, PlanCache& cache) const {
  std::shared_ptr<const Shape>& out = shapes_[static_cast<size_t>(index)];
  std::call_once(made_[static_cast<size_t>(index)], [&] { out = make(index, cache); });
  return *out;
}

std::shared_ptr<const StateShapes::Shape> StateShapes::make(int index, PlanCache& cache) const {
  StageShape built = ShapeBuilder(*graph_, start_of(index), (index & 2) != 0, (index & 4) != 0).take();
  CacheKey key;
  key.add(basis(cache).serial);
  std::vector<Expr> parts;
  std::vector<MemoryCategory> categories;
  for (int c = 0; c < kStateCategories; ++c)
    for (MemoryPart& p : built.parts[c]) {
      key.add(int64_t{c});
      add_to(key, p.bytes);
      parts.push_back(std::move(p.bytes));
      categories.push_back(static_cast<MemoryCategory>(c));
    }
  // Optimizer states on the host follow, without a category: a plan checks whether their bytes are whole.
  for (MemoryPart& p : built.host_memory) {
    if (p.kind == PartKind::Other) continue;
    key.add(int64_t{kStateCategories});
    add_to(key, p.bytes);
    parts.push_back(std::move(p.bytes));
  }
  key.add(int64_t{-1});  // end of the parts
  for (const DerivedSymbol& d : built.derived) {
    key.add(int64_t{d.symbol.id()});
    key.add(static_cast<int64_t>(d.rule));
    add_to(key, d.a);
    add_to(key, d.b);
  }
  const auto make = [&] {
    auto out = std::make_shared<Shape>();
    out->serial = cache.next_serial();
    out->categories = std::move(categories);
    out->parts = ExprProgram::compile(parts);
    out->derived = std::move(built.derived);
    std::set<Symbol> read = basis(cache).symbols;
    read.insert(out->parts.symbols().begin(), out->parts.symbols().end());
    for (const DerivedSymbol& d : out->derived)
      for (const Expr* e : {&d.a, &d.b})
        for (const Symbol s : e->symbols()) read.insert(s);
    out->read.assign(read.begin(), read.end());
    return out;
  };
  return cache.get<Shape>(CacheKind::StateShape, key, make, [](const Shape& made) {
    constexpr size_t kExpression = 400;
    return sizeof made + (made.parts.size() + 2 * made.derived.size()) * kExpression;
  });
}

}  // namespace shardscape
