#include "timing/compiled_ops.h"

#include <algorithm>
#include <map>
#include <set>

#include "design/expert_nodes.h"
#include "graph/build.h"
#include "graph/op_spec.h"
#include "graph/op_traits.h"
#include "graph/ring.h"
#include "graph/structure_fields.h"
#include "graph/useful_flops.h"
#include "performance/attention_model.h"
#include "performance/collective_time.h"
#include "performance/op_time.h"
#include "plan/rank_mesh.h"
#include "plan/stage_boundary.h"

namespace shardscape {
namespace {

class Compiler {
 public:
  std::shared_ptr<CompiledGraph> compile(const Graph& graph) {
    auto out = std::make_shared<CompiledGraph>();
    decodes_ = graph.structure.mode == Mode::Decode;
    trains_ = graph.structure.trains();
    for (const Segment& segment : graph.segments) {
      s_ = &segment;
      std::vector<CompiledOp>& ops = out->segments.emplace_back();
      for (size_t id = 0; id < segment.ops.size(); ++id) ops.push_back(compile_op(static_cast<OpId>(id)));
    }
    out->program = ExprProgram::compile(expressions_);
    out->model_flops = ExprProgram::compile(model_flops_);
    std::set<Symbol> symbols(out->program.symbols().begin(), out->program.symbols().end());
    std::set<MeshAxes> groups;
    for (const Segment& segment : graph.segments) {
      for (const Op& op : segment.ops)
        if (const Redistribution* by = redistribution_of(op)) groups.insert(by->group);
      for (const Storage& storage : segment.storages)  // tensors that are offloaded to the host
        for (const Symbol symbol : storage.bytes.symbols())
          if (graph.structure.offload_activations) symbols.insert(symbol);
    }
    const StageBoundary boundary = stage_boundary(graph);  // messages between stages
    std::vector<const Tensor*> crossing{&boundary.message, &boundary.stream};
    if (graph.structure.vision_stage) crossing.push_back(&image_message(graph));
    for (const Tensor* crosses : crossing) {
      const Expr bytes_across = local_bytes(*crosses);
      for (const Symbol symbol : bytes_across.symbols()) symbols.insert(symbol);
    }
    out->reads.symbols.assign(symbols.begin(), symbols.end());
    out->reads.groups.assign(groups.begin(), groups.end());
    return out;
  }

 private:
  uint32_t add(std::initializer_list<Expr> expressions) {
    const auto first = static_cast<uint32_t>(expressions_.size());
    expressions_.insert(expressions_.end(), expressions);
    return first;
  }

  size_t add_model_flops(Expr flops) {
    model_flops_.push_back(std::move(flops));
    return model_flops_.size() - 1;
  }

  struct Shape {
    Expr batch{1}, m{1}, n{1}, k{1};
  };

  // A letter of both operands and the result belongs to the batch. A letter of one operand and the result
  // belongs to m or n. A letter that is not in the result is summed: k.
  Shape shape_of(const Op& op) const {
    const OpSpec spec = *parse_op_spec(op.spec);
    Shape out;
    std::set<char> seen;
    for (size_t i = 0; i < spec.in.size() && i < 2; ++i)
      for (size_t d = 0; d < spec.in[i].size(); ++d) {
        const char letter = spec.in[i][d];
        if (!seen.insert(letter).second) continue;
        const Expr size = local_size(s_->tensor(op.inputs[i]), static_cast<int>(d));
        const bool left = spec.in[0].find(letter) != std::string::npos;
        const bool right = spec.in.size() > 1 && spec.in[1].find(letter) != std::string::npos;
        const bool result = spec.out.find(letter) != std::string::npos;
        Expr& to = !result ? out.k : left && right ? out.batch : left ? out.m : out.n;
        to = to * size;
      }
    return out;
  }

  // The GEMM that a kernel runs for all its members.
  CompiledOp gemm(const Kernel& kernel) {
    const Op& op = s_->op(kernel.op);
    Shape shape = shape_of(op);
    for (const OpId id : kernel.ops) {
      if (id == kernel.op || s_->op(id).kind != OpKind::Einsum) continue;
      const Shape other = shape_of(s_->op(id));
      if (op.grad == GradRole::Input)
        shape.k += other.k;
      else if (op.grad == GradRole::Weight)
        shape.m += other.m;
      else
        shape.n += other.n;
    }
    const uint32_t first = add({shape.batch, shape.batch * shape.m, shape.n, shape.k});
    if (trains_ || s_->tensor(op.inputs[1]).axes.front() != Axis::Experts) return {OpRule::Gemm, first};
    add({s_->scope.of(axis_size(Axis::Experts)), s_->scope.of(axis_size_per_token(Axis::Experts))});
    return {OpRule::ExpertGemm, first};
  }

  CompiledOp attention(OpId id) {
    const Op& op = s_->op(id);
    const Op& forward = s_->op(forward_of(*s_, id));
    const Tensor &q = s_->tensor(forward.inputs[0]), &k = s_->tensor(forward.inputs[1]),
                 &v = s_->tensor(forward.inputs[2]);
    static const Expr window{Symbol::intern("We")}, chunk{Symbol::intern("Wce")},
        documents{Symbol::intern("Nd")};
    const AttentionAttributes& masks = attention_attributes(forward);
    const Expr reach = masks.window || masks.chunk ? s_->scope.of(masks.window ? window : chunk) : Expr();
    CompiledOp out{
        ring_of(op) == Ring::None ? OpRule::Attention : OpRule::Ring,
        add({local_size(q, 0), local_size(q, 2), k.axes.size() == 4 ? local_size(k, 2) : Expr(1),
             local_size(q, 1), local_size(k, 1) * seen_of_cache(*s_, forward), local_size(k, last_dim(k)),
             local_size(v, last_dim(v)), reach, q.sizes[1], masks.packed ? documents : Expr(1)})};
    if (compressed_keys(*s_, forward) >= 0)
      add({compressed_per_query(*s_, forward), compress_ratio()});
    else if (picked_keys(*s_, forward) >= 0)
      add({picked_per_query(*s_, forward)});
    if (ring_of(op) != Ring::None) {
      const RingOps ring = ring_ops(*s_, id);
      add({group_size(redistribution(s_->op(ring.passes.at(0))).group)});
      for (const std::vector<OpId>* moved : {&ring.passes, &ring.sums})
        for (const OpId m : *moved)
          add({Expr(kByteScale) * ring_message_elements(*s_, s_->op(m)) *
               dtype_size(s_->tensor(s_->op(m).inputs[0]).dtype)});
    }
    return out;
  }

  // The shape of the scores as of an attention without values, and the bytes of the scores, which the top-k
  // reads in float32: one for each key, or block of keys.
  CompiledOp index(OpId id) {
    static const Expr blocks{Symbol::intern("Nb")};
    const Op& op = s_->op(id);
    const Tensor &q = s_->tensor(op.inputs[0]), &k = s_->tensor(op.inputs[1]),
                 &picked = s_->tensor(op.outputs[0]);
    Expr scores = attention_attributes(op).block ? blocks : local_size(k, 1);
    for (int d = 0; d < last_dim(picked); ++d) scores = scores * local_size(picked, d);
    return {OpRule::Index,
            add({local_size(q, 0), local_size(q, 2), Expr(1), local_size(q, 1), local_size(k, 1),
                 local_size(k, last_dim(k)), Expr(), Expr(), q.sizes[1],
                 Expr(kByteScale) * (Expr(2 * dtype_bytes(DType::FP32)) * scores + local_bytes(picked)),
                 is_compressed(k.axes[1]) ? compress_ratio() : Expr(1)})};
  }

  Expr compress_ratio() const {
    static const Expr ratio{Symbol::intern("Cr")};
    return s_->scope.of(ratio);
  }

  CompiledOp compile_op(OpId id) {
    const Op& op = s_->op(id);
    CompiledOp out;
    if (const Kernel* kernel = s_->kernel(id); kernel && kernel->op == id) out = compile_kernel(*kernel);
    // Also if another op has the seconds of the kernel.
    if (has_model_flops(op.kind) && op.phase == Phase::Forward)
      out.model_flops = static_cast<int>(add_model_flops(model_flops_of(*s_, op)));
    return out;
  }

  CompiledOp compile_kernel(const Kernel& kernel) {
    const Op& op = s_->op(kernel.op);
    if (op.kind == OpKind::AllToAll && redistribution(op).dim >= 0 && redistribution(op).dim_to >= 0)
      return exchange(op);
    if (is_collective(op.kind)) return timed_collective(op);
    const Expr bytes = Expr(kByteScale) * kernel.moved_bytes;
    switch (op_traits(op.kind).time) {
      case TimeRule::MatrixProduct: return gemm(kernel);
      case TimeRule::Attention: return attention(kernel.op);
      case TimeRule::Index: return index(kernel.op);
      case TimeRule::Scan: {
        if (decodes_) break;  // one token: the kernel reads and writes the state
        const OpTraits& traits = op_traits(op.kind);
        const Expr chunk = s_->scope.of(Expr(Symbol::intern(traits.chunk)));
        const Op& first = op.forward >= 0 ? s_->op(op.forward) : op;
        const Tensor& b = s_->tensor(first.inputs[static_cast<size_t>(traits.state_operand)]);
        return {OpRule::Scan, add({op.flops, chunk, local_size(b, last_dim(b)), bytes})};
      }
      case TimeRule::Routing: return {OpRule::Routing, add({bytes})};
      case TimeRule::Bytes:
      case TimeRule::ScanBytes: break;
    }
    return {OpRule::Bytes, add({bytes})};
  }

  // A rank sends one piece to every rank and receives one from every rank. Each piece is contiguous in
  // memory. If the dimension that is split or joined is inside another one (slots inside the experts of a
  // rank, heads inside tokens), a kernel packs the pieces before the exchange or unpacks them afterwards.
  CompiledOp exchange(const Op& op) {
    const auto outer = [&](TensorId tensor, int dim) {
      Expr out(1);
      const Tensor& t = s_->tensor(tensor);
      for (int d = 0; d < dim; ++d)
        if (t.axes[static_cast<size_t>(d)] != Axis::Batch) out = out * local_size(t, d);
      return out;
    };
    const auto copied = [&](TensorId tensor) {
      return Expr(2 * kByteScale) * local_bytes(s_->tensor(tensor));
    };
    return {OpRule::Exchange,
            add({Expr(kByteScale) * collective_bytes(*s_, op), outer(op.inputs[0], redistribution(op).dim_to),
                 copied(op.inputs[0]), outer(op.outputs[0], redistribution(op).dim), copied(op.outputs[0])})};
  }

  CompiledOp timed_collective(const Op& op) {
    CompiledOp out{OpRule::Collective, add({Expr(kByteScale) * collective_bytes(*s_, op)}), -1,
                   overlapped_gemm(op)};
    out.needs_rs_dgrad = out.overlapped_gemm >= 0 && op.phase == Phase::Backward &&
                         op.kind == OpKind::ReduceScatter && has_frozen_weights(s_->op(out.overlapped_gemm));
    return out;
  }

  // Whether the op multiplies frozen weights, in the forward or for the gradient of its input.
  bool has_frozen_weights(const Op& op) const {
    const Op& forward = op.forward >= 0 ? s_->op(op.forward) : op;
    return std::any_of(forward.inputs.begin(), forward.inputs.end(), [&](TensorId id) {
      const Param* param = s_->param(id);
      return param && param->frozen;
    });
  }

  bool is_read_by_adapter(TensorId id) const {
    return std::any_of(s_->ops.begin(), s_->ops.begin() + s_->backward_begin, [&](const Op& op) {
      return std::find(op.inputs.begin(), op.inputs.end(), id) != op.inputs.end() &&
             (op.kind == OpKind::LoraDropout || (op.kind == OpKind::Einsum && !has_frozen_weights(op)));
    });
  }

  // The adapter of a column-parallel matrix reads the same input. NeMo gathers the input before both, and
  // overlaps neither this gather nor the scatter of its gradient (tp_comm_overlap_disable_qkv in its LoRA
  // runs for MLPerf).
  bool shared_with_adapter(const Op& collective, const Op& gemm) const {
    if (!has_frozen_weights(gemm)) return false;
    if (collective.phase == Phase::Forward) return is_read_by_adapter(collective.inputs[0]);
    if (collective.kind != OpKind::ReduceScatter) return false;
    TensorId of = s_->tensor(collective.outputs[0]).gradient_of;
    return of >= 0 && is_read_by_adapter(of);
  }

  // The first GEMM that reads the gathered tensor, or the GEMM that produced the scattered tensor, as the op
  // that has the seconds of the GEMM's kernel. -1: no GEMM.
  OpId overlapped_gemm(const Op& op) const {
    if (comm_category(redistribution(op).group) != TimeCategory::TensorComm) return -1;
    OpId with = -1;
    const CollectiveResult result = collective_result(collective_of(op.kind));
    if (result == CollectiveResult::Gathered) {
      for (OpId reader = 0; with < 0 && reader < static_cast<OpId>(s_->ops.size()); ++reader) {
        const std::vector<TensorId>& inputs = s_->op(reader).inputs;
        if (std::find(inputs.begin(), inputs.end(), op.outputs[0]) != inputs.end()) with = reader;
      }
    } else if (result == CollectiveResult::Shard) {
      with = s_->tensor(op.inputs[0]).producer;
    }
    if (with < 0) return -1;
    with = timed_op(*s_, with);
    if (s_->op(with).kind != OpKind::Einsum || shared_with_adapter(op, s_->op(with))) return -1;
    return with;
  }

  const Segment* s_ = nullptr;
  bool decodes_ = false, trains_ = true;
  std::vector<Expr> expressions_, model_flops_;
};

}  // namespace

std::shared_ptr<const CompiledGraph> compiled(const Report& report) {
  const Graph& graph = report.graph();
  const Structure read = members_with<&StructureUses::compiled_ops>(graph.structure);
  const auto make = [&] {
    auto out = Compiler().compile(graph);
    out->reads.serial = report.cache->next_serial();
    return out;
  };
  return report.cache->get<CompiledGraph>(CacheKind::CompiledOps, key_of(read), make,
                                          [](const CompiledGraph& made) {
                                            constexpr size_t kOp = 600;
                                            size_t ops = 0;
                                            for (const std::vector<CompiledOp>& of : made.segments)
                                              ops += of.size();
                                            return sizeof made + ops * kOp;
                                          });
}

}  // namespace shardscape
