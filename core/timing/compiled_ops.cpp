#include "timing/compiled_ops.h"

#include <algorithm>
#include <map>
#include <set>

#include "design/expert_nodes.h"
#include "graph/build.h"
#include "graph/gemm_kernels.h"
#include "graph/op_spec.h"
#include "graph/ring.h"
#include "graph/useful_flops.h"
#include "performance/attention_model.h"
#include "performance/collective_time.h"
#include "performance/op_time.h"
#include "plan/rank_mesh.h"
#include "plan/stage_boundary.h"
#include "timing/profile_kernels.h"

namespace shardscape {
namespace {

class Compiler {
 public:
  std::shared_ptr<CompiledGraph> compile(const Graph& graph) {
    auto out = std::make_shared<CompiledGraph>();
    expert_bias_ = profile_kernels(graph.structure).expert_bias;
    for (const Segment& segment : graph.segments) {
      s_ = &segment;
      kernels_ = gemm_kernels(segment);
      std::vector<CompiledOp>& ops = out->segments.emplace_back();
      for (size_t id = 0; id < segment.ops.size(); ++id) ops.push_back(compile_op(static_cast<OpId>(id)));
    }
    out->program = ExprProgram::compile(expressions_);
    out->whole = ExprProgram::compile(whole_);
    std::set<Symbol> symbols(out->program.symbols().begin(), out->program.symbols().end());
    std::set<MeshAxes> groups;
    for (const Segment& segment : graph.segments) {
      for (const Op& op : segment.ops)
        if (const Redistribution* by = redistribution_of(op)) groups.insert(by->group);
      for (const Storage& storage : segment.storages)  // what goes to the host and back
        for (const Symbol symbol : storage.bytes.symbols())
          if (graph.structure.offload_activations) symbols.insert(symbol);
    }
    const StageBoundary boundary = stage_boundary(graph);  // and what crosses it
    for (const Tensor* crosses : {&boundary.message, &boundary.stream}) {
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

  size_t add_whole(Expr flops) {
    whole_.push_back(std::move(flops));
    return whole_.size() - 1;
  }

  struct Shape {
    Expr batch{1}, m{1}, n{1}, k{1};
  };

  // Letters of both operands and the result are a batch; of one operand and the result rows or columns; the
  // rest is summed.
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

  // First of a kernel: the product of all of them.
  CompiledOp product(OpId id) {
    const Op& op = s_->op(id);
    if (kernels_[static_cast<size_t>(id)] != id) return {};
    const std::vector<OpId> members = kernel_members(kernels_, id);
    Shape shape = shape_of(op);
    for (size_t i = 1; i < members.size(); ++i) {
      const Shape other = shape_of(s_->op(members[i]));
      if (op.grad == GradRole::Input)
        shape.k += other.k;
      else if (op.grad == GradRole::Weight)
        shape.m += other.m;
      else
        shape.n += other.n;
    }
    return {OpRule::Product, add({shape.batch, shape.batch * shape.m, shape.n, shape.k})};
  }

  // A sum of gradients that one product makes already.
  bool is_gemm_sum(const Op& op) const {
    if (op.kind != OpKind::Add || op.phase == Phase::Forward) return false;
    OpId kernel = -1;
    for (const TensorId in : op.inputs) {
      const OpId producer = s_->tensor(in).producer;
      if (producer < 0 || s_->op(producer).kind != OpKind::Einsum || s_->op(producer).grad != GradRole::Input)
        return false;
      const OpId of = kernels_[static_cast<size_t>(producer)];
      if (kernel >= 0 && of != kernel) return false;
      kernel = of;
    }
    return kernel >= 0;
  }

  CompiledOp attention(OpId id) {
    const Op& op = s_->op(id);
    const Op& forward = op.grad != GradRole::None && op.forward >= 0 ? s_->op(op.forward) : op;
    const Tensor &q = s_->tensor(forward.inputs[0]), &k = s_->tensor(forward.inputs[1]),
                 &v = s_->tensor(forward.inputs[2]);
    static const Expr reach{Symbol::intern("We")};
    CompiledOp out{ring_of(op) == Ring::None ? OpRule::Attention : OpRule::Ring,
                   add({local_size(q, 0), local_size(q, 2), k.axes.size() == 4 ? local_size(k, 2) : Expr(1),
                        local_size(q, 1), local_size(k, 1), local_size(k, last_dim(k)),
                        local_size(v, last_dim(v)), attention_attributes(forward).window ? reach : Expr()})};
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

  CompiledOp compile_op(OpId id) {
    const Op& op = s_->op(id);
    const bool forward = op.phase == Phase::Forward;
    CompiledOp out;
    if (is_ring(op.kind) || is_relabelling(op.kind) || is_cache_view(*s_, op))
      return out;  // with its attention; a view
    if (op.kind == OpKind::AllToAll && redistribution(op).dim >= 0 && redistribution(op).dim_to >= 0)
      return exchange(op);
    if (is_collective(op.kind))
      return {OpRule::Collective, add({Expr(kByteScale) * collective_bytes(*s_, op)}), -1, matmul_with(id)};
    switch (op.kind) {
      case OpKind::Einsum:
        out = product(id);
        if (forward) out.whole = static_cast<int>(add_whole(model_flops_of(*s_, op)));
        return out;
      case OpKind::Attention:
        out = attention(id);
        if (forward) out.whole = static_cast<int>(add_whole(model_flops_of(*s_, op)));
        return out;
      case OpKind::Ssd: {
        static const Expr chunk{Symbol::intern("Qe")};
        const Op& first = op.forward >= 0 ? s_->op(op.forward) : op;
        const Tensor& b = s_->tensor(first.inputs[3]);
        return {OpRule::Scan,
                add({op.flops, chunk, local_size(b, static_cast<int>(b.axes.size()) - 1), bytes(op)})};
      }
      default: break;
    }
    if (const double moved = expert_bias(op); moved > 0)
      return {OpRule::Bytes,
              add({Expr(static_cast<int64_t>(kByteScale * moved)) * elements(s_->tensor(op.inputs[0]))})};
    if (is_gemm_sum(op) || is_gemm_epilogue(op) || dropout_sum(id) >= 0) return out;
    Expr moved = bytes(op);
    // The kernel of the sum reads what is dropped itself, and writes the mask.
    if (op.kind == OpKind::Add)
      for (OpId j = 0; j < id; ++j)
        if (dropout_sum(j) == id)
          moved += Expr(kByteScale) *
                   (s_->op(j).written_bytes - local_bytes(s_->tensor(s_->op(j).outputs[0])));
    // A kernel that makes something again for its backward does not write it.
    if (is_recomputation(op) && s_->op(op.forward).recomputed_in_backward)
      moved = Expr(kByteScale) * op.read_bytes;
    return {op.kind == OpKind::Dispatch || op.kind == OpKind::Combine ? OpRule::Routing : OpRule::Bytes,
            add({std::move(moved)})};
  }

  // A rank sends and gets one piece per rank, each in one stretch of memory. Where the dimension that is
  // split or joined lies inside another one (slots inside the experts of a rank, heads inside tokens), a
  // kernel packs the pieces or puts them in place.
  CompiledOp exchange(const Op& op) {
    const auto outer = [&](TensorId tensor, int dim) {
      Expr out(1);
      const Tensor& t = s_->tensor(tensor);
      for (int d = 0; d < dim; ++d)
        if (t.axes[static_cast<size_t>(d)] != Axis::Batch)
          out = out * local_size(t, d);  // lies behind the tokens in memory
      return out;
    };
    const auto copied = [&](TensorId tensor) {
      return Expr(2 * kByteScale) * local_bytes(s_->tensor(tensor));
    };
    return {OpRule::Exchange,
            add({Expr(kByteScale) * collective_bytes(*s_, op), outer(op.inputs[0], redistribution(op).dim_to),
                 copied(op.inputs[0]), outer(op.outputs[0], redistribution(op).dim), copied(op.outputs[0])})};
  }

  // What reads a gathered tensor, or made one that is scattered: the first op of that product's kernel. -1:
  // no product.
  OpId matmul_with(OpId id) const {
    const Op& op = s_->op(id);
    if (comm_category(redistribution(op).group) != TimeCategory::TensorComm) return -1;
    const auto kernel = [&](OpId product) { return kernels_[static_cast<size_t>(product)]; };
    if (op.kind == OpKind::AllGather) {
      for (size_t j = static_cast<size_t>(id) + 1; j < s_->ops.size(); ++j) {
        const Op& reader = s_->ops[j];
        if (std::find(reader.inputs.begin(), reader.inputs.end(), op.outputs[0]) != reader.inputs.end())
          return reader.kind == OpKind::Einsum ? kernel(static_cast<OpId>(j)) : -1;
      }
      return -1;
    }
    if (op.kind != OpKind::ReduceScatter) return -1;
    OpId maker = s_->tensor(op.inputs[0]).producer;
    if (maker >= 0 && is_gemm_sum(s_->op(maker))) maker = s_->tensor(s_->op(maker).inputs[0]).producer;
    return maker >= 0 && s_->op(maker).kind == OpKind::Einsum ? kernel(maker) : -1;
  }

  // The sum that drops elements of its operand in the same kernel (bias_dropout_add): the only reader of the
  // forward dropout. -1: none.
  OpId dropout_sum(OpId id) const {
    const Op& op = s_->op(id);
    if (op.kind != OpKind::Dropout || op.grad != GradRole::None) return -1;
    OpId out = -1;
    for (size_t j = static_cast<size_t>(id) + 1; j < s_->ops.size(); ++j) {
      const Op& reader = s_->ops[j];
      if (std::find(reader.inputs.begin(), reader.inputs.end(), op.outputs[0]) == reader.inputs.end())
        continue;
      if (out >= 0 || reader.kind != OpKind::Add || reader.phase != op.phase) return -1;
      out = static_cast<OpId>(j);
    }
    return out;
  }

  static Expr elements(const Tensor& t) {
    Expr out(1);
    for (size_t d = 0; d < t.axes.size(); ++d) out = out * local_size(t, static_cast<int>(d));
    return out;
  }

  // Bytes per element that kernels move which add the last bias of experts, or differentiate it; 0: the
  // product does.
  double expert_bias(const Op& op) const {
    if (op.kind != OpKind::BiasAdd || op.inputs.empty()) return 0;
    const std::vector<Axis>& axes = s_->tensor(op.inputs[0]).axes;
    return axes.size() == 3 && axes.front() == Axis::Experts && axes.back() == Axis::Hidden
               ? expert_bias_[op.grad == GradRole::None ? 0 : 1]
               : 0;
  }

  // A bias that is added where the product writes its result: an epilogue of it, or of what reads it next.
  bool is_gemm_epilogue(const Op& op) const {
    if (op.kind != OpKind::BiasAdd || op.grad != GradRole::None) return false;
    return s_->tensor(op.outputs[0]).storage == s_->tensor(op.inputs[0]).storage;
  }

  static Expr bytes(const Op& op) { return Expr(kByteScale) * (op.read_bytes + op.written_bytes); }

  const Segment* s_ = nullptr;
  std::vector<OpId> kernels_;
  std::vector<Expr> expressions_, whole_;
  std::array<double, 2> expert_bias_{};  // ProfileKernels::expert_bias
};

}  // namespace

std::shared_ptr<const CompiledGraph> compiled(const Report& report) {
  const Graph& graph = report.graph();
  Structure read = structure_of_segments(graph.structure);
  read.offload_activations = graph.structure.offload_activations;
  read.scatter_gather = graph.structure.scatter_gather;
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
