#include "timing/op_seconds.h"

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

// Quantized blocks have scales, so bytes are whole numbers only in multiples of this many.
constexpr int64_t kParts = 128;

enum class Rule : uint8_t { Nothing, Product, Attention, Ring, Scan, Collective, Exchange, Routing, Bytes };

// An op as the machine model sees it: the formula, and the index of its numbers in the program.
struct CompiledOp {
  Rule rule = Rule::Nothing;
  uint32_t first = 0;
  int whole = -1;  // index of the op's model FLOPs, all ranks together; -1: not counted
  // Of a gather or scatter over tp: the matrix product that it can overlap.
  OpId beside = -1;
};

struct CompiledGraph {
  std::vector<std::vector<CompiledOp>> segments;
  ExprProgram program, whole;  // whole: model FLOPs
  OpReads reads;
};

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
        if (!op.group.empty()) groups.insert(op.group);
      for (const Storage& storage : segment.storages)  // offloaded bytes
        for (const Symbol symbol : storage.bytes.symbols())
          if (graph.structure.offload_activations) symbols.insert(symbol);
    }
    const StageBoundary boundary = stage_boundary(graph);  // bytes of messages between stages
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

  // Letters in both operands and the result are batch dimensions. Letters in one operand and the result are
  // rows or columns. All other letters are summed.
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

  // Returns the GEMM of the whole kernel for the first op of a kernel, and nothing for its other ops.
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
    return {Rule::Product, add({shape.batch, shape.batch * shape.m, shape.n, shape.k})};
  }

  // A sum of gradients that one GEMM already computes.
  bool made_by_one_product(const Op& op) const {
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
    CompiledOp out{op.ring == Ring::None ? Rule::Attention : Rule::Ring,
                   add({local_size(q, 0), local_size(q, 2), k.axes.size() == 4 ? local_size(k, 2) : Expr(1),
                        local_size(q, 1), local_size(k, 1), local_size(k, last_dim(k)),
                        local_size(v, last_dim(v)), forward.window ? reach : Expr()})};
    if (op.ring != Ring::None) {
      const RingOps ring = ring_ops(*s_, id);
      add({group_size(s_->op(ring.passes.at(0)).group)});
      for (const std::vector<OpId>* moved : {&ring.passes, &ring.sums})
        for (const OpId m : *moved)
          add({Expr(kParts) * ring_message_elements(*s_, s_->op(m)) *
               dtype_size(s_->tensor(s_->op(m).inputs[0]).dtype)});
    }
    return out;
  }

  CompiledOp compile_op(OpId id) {
    const Op& op = s_->op(id);
    const bool forward = op.phase == Phase::Forward;
    CompiledOp out;
    if (is_ring(op.kind) || is_relabelling(op.kind) || is_cache_view(*s_, op))
      return out;  // rings count with their attention; a view moves nothing
    if (op.kind == OpKind::AllToAll && op.dim >= 0 && op.dim_to >= 0) return exchange(op);
    if (is_collective(op.kind))
      return {Rule::Collective, add({Expr(kParts) * collective_bytes(*s_, op)}), -1, matmul_with(id)};
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
        return {Rule::Scan,
                add({op.flops, chunk, local_size(b, static_cast<int>(b.axes.size()) - 1), bytes(op)})};
      }
      default: break;
    }
    if (const double moved = expert_bias(op); moved > 0)
      return {Rule::Bytes,
              add({Expr(static_cast<int64_t>(kParts * moved)) * elements(s_->tensor(op.inputs[0]))})};
    if (made_by_one_product(op) || written_into_product(op) || sum_behind(id) >= 0) return out;
    Expr moved = bytes(op);
    // The kernel of the sum also reads the dropped operand and writes the mask.
    if (op.kind == OpKind::Add)
      for (OpId j = 0; j < id; ++j)
        if (sum_behind(j) == id)
          moved += Expr(kParts) * (s_->op(j).written_bytes - local_bytes(s_->tensor(s_->op(j).outputs[0])));
    // A kernel that recomputes its input for the backward does not write it.
    if (is_recomputation(op) && s_->op(op.forward).recomputed_in_backward)
      moved = Expr(kParts) * op.read_bytes;
    return {op.kind == OpKind::Dispatch || op.kind == OpKind::Combine ? Rule::Routing : Rule::Bytes,
            add({std::move(moved)})};
  }

  // A rank sends and receives one contiguous piece per rank. Where the split or joined dimension lies inside
  // another dimension (slots inside the experts of a rank, heads inside tokens), a kernel packs or unpacks
  // the pieces.
  CompiledOp exchange(const Op& op) {
    const auto outer = [&](TensorId tensor, int dim) {
      Expr out(1);
      const Tensor& t = s_->tensor(tensor);
      for (int d = 0; d < dim; ++d)
        if (t.axes[static_cast<size_t>(d)] != Axis::Batch)
          out = out * local_size(t, d);  // in memory, batch lies inside the token dimension
      return out;
    };
    const auto copied = [&](TensorId tensor) { return Expr(2 * kParts) * local_bytes(s_->tensor(tensor)); };
    return {Rule::Exchange, add({Expr(kParts) * collective_bytes(*s_, op), outer(op.inputs[0], op.dim_to),
                                 copied(op.inputs[0]), outer(op.outputs[0], op.dim), copied(op.outputs[0])})};
  }

  // The matrix product that reads a gathered tensor, or that makes a scattered tensor: the first op of its
  // kernel. -1: none.
  OpId matmul_with(OpId id) const {
    const Op& op = s_->op(id);
    if (comm_category(op.group) != TimeCategory::TensorComm) return -1;
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
    if (maker >= 0 && made_by_one_product(s_->op(maker)))
      maker = s_->tensor(s_->op(maker).inputs[0]).producer;
    return maker >= 0 && s_->op(maker).kind == OpKind::Einsum ? kernel(maker) : -1;
  }

  // The sum whose kernel also applies dropout to its operand (bias_dropout_add): the only reader of the
  // forward dropout. -1: none.
  OpId sum_behind(OpId id) const {
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

  // Bytes per element that the kernels for the last bias of experts, or for its gradient, move. 0: the GEMM
  // handles the bias.
  double expert_bias(const Op& op) const {
    if (op.kind != OpKind::BiasAdd || op.inputs.empty()) return 0;
    const std::vector<Axis>& axes = s_->tensor(op.inputs[0]).axes;
    return axes.size() == 3 && axes.front() == Axis::Experts && axes.back() == Axis::Hidden
               ? expert_bias_[op.grad == GradRole::None ? 0 : 1]
               : 0;
  }

  // A bias that is added where the GEMM writes its result: in the GEMM's epilogue, or in the kernel that
  // reads the result next.
  bool written_into_product(const Op& op) const {
    if (op.kind != OpKind::BiasAdd || op.grad != GradRole::None) return false;
    return s_->tensor(op.outputs[0]).storage == s_->tensor(op.inputs[0]).storage;
  }

  static Expr bytes(const Op& op) { return Expr(kParts) * (op.read_bytes + op.written_bytes); }

  const Segment* s_ = nullptr;
  std::vector<OpId> kernels_;
  std::vector<Expr> expressions_, whole_;
  std::array<double, 2> expert_bias_{};  // ProfileKernels::expert_bias
};

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

CollectiveKind collective_kind(OpKind kind) {
  switch (kind) {
    case OpKind::AllGather: return CollectiveKind::AllGather;
    case OpKind::ReduceScatter: return CollectiveKind::ReduceScatter;
    case OpKind::AllToAll: return CollectiveKind::AllToAll;
    default: return CollectiveKind::AllReduce;
  }
}

class Timer {
 public:
  Timer(const Report& report, const Machine& machine)
      : report_(report),
        machine_(machine),
        mesh_(mesh_of(report)),
        compiled_(compiled(report)),
        values_(compiled_->program.evaluate(report.stages.front().binding)),
        position_(report.ring_position.value_or(0)),
        kernels_(profile_kernels(report.graph().structure)) {}

  static double model_flops(const Report& report) {
    const Graph& graph = report.graph();
    const std::shared_ptr<const CompiledGraph> compiled_graph = compiled(report);
    const std::vector<Wide> values = compiled_graph->whole.evaluate(report.stages.front().binding);
    double out = 0;
    for (size_t i = 0; i < graph.segments.size(); ++i) {
      double flops = 0, copies = 1;
      for (const CompiledOp& op : compiled_graph->segments[i])
        if (op.whole >= 0) flops += to_double(values[static_cast<size_t>(op.whole)]);
      if (graph.segments[i].kind == SegmentKind::Layer)
        copies = static_cast<double>(
            report.binding.get(model_layers_symbol(graph, static_cast<int>(i) - 1)).value_or(0));
      const double passes = graph.structure.trains() ? 3 : 1;  // forward, and the gradients of both operands
      out += copies * flops * passes;
    }
    return out;
  }

  OpSeconds run() {
    OpSeconds out;
    const Graph& graph = report_.graph();
    for (size_t i = 0; i < graph.segments.size(); ++i) {
      const Segment& segment = graph.segments[i];
      std::vector<OpTime>& times = out.ops.emplace_back();
      for (size_t id = 0; id < segment.ops.size(); ++id) {
        const CompiledOp& op = compiled_->segments[i][id];
        times.push_back(time(segment, segment.ops[id], static_cast<OpId>(id), op));
      }
      if (graph.structure.ep_local) pipeline_nodes(segment, compiled_->segments[i], times);
      if (report_.design.parallel.tp_comm_overlap && report_.design.parallel.sequence_parallel)
        overlap(compiled_->segments[i], times);
    }
    return out;
  }

 private:
  double value(uint32_t at) const { return to_double(values_[at]); }
  int64_t whole(uint32_t at) const { return std::max<int64_t>(1, static_cast<int64_t>(values_[at])); }
  double bytes(uint32_t at) const { return value(at) / static_cast<double>(kParts); }
  // One kernel sends tokens to other nodes and forwards them inside the nodes, chunk by chunk (DeepEP,
  // csrc/kernels/legacy/internode.cu). Therefore the shorter of the two exchanges of a dispatch or combine
  // takes no time of its own.
  static void pipeline_nodes(const Segment& segment, const std::vector<CompiledOp>& ops,
                             std::vector<OpTime>& times) {
    double across = 0, inside = 0;  // seconds of the current dispatch or combine that are not hidden yet
    for (size_t id = 0; id < ops.size(); ++id) {
      if (ops[id].rule == Rule::Product) across = inside = 0;
      if (segment.ops[id].kind != OpKind::AllToAll) continue;
      const bool local = segment.ops[id].group == MeshAxes{MeshAxis::EpLocal};
      if (!local && segment.ops[id].group != MeshAxes{MeshAxis::EpNode}) continue;
      double &own = local ? inside : across, &other = local ? across : inside;
      const double hidden = std::min(times[id].seconds, other);
      times[id].seconds -= hidden;
      other -= hidden;
      own += times[id].seconds;
    }
  }

  // Megatron's --tp-comm-overlap (Transformer Engine's user buffers): the GEMM runs in n pieces, one per
  // rank's share, with n - 1 messages. The first piece of a gather is local, and so is the last piece of a
  // scatter. Exposed is n - 1 times the excess of a message over a piece. A GEMM hides one collective.
  void overlap(const std::vector<CompiledOp>& ops, std::vector<OpTime>& times) const {
    const auto pieces = static_cast<double>(report_.design.parallel.tp);
    if (pieces < 2) return;
    std::set<OpId> taken;
    for (size_t id = 0; id < ops.size(); ++id) {
      if (ops[id].beside < 0 || !taken.insert(ops[id].beside).second) continue;
      const double message = times[id].seconds / (pieces - 1),
                   piece = times[static_cast<size_t>(ops[id].beside)].seconds / pieces;
      times[id].seconds = (pieces - 1) * std::max(0.0, message - piece);
    }
  }

  const GroupSpan& span(const MeshAxes& axes) {
    auto [it, fresh] = spans_.try_emplace(axes);
    if (fresh) it->second = span_of(mesh_, axes, machine_.network);
    return it->second;
  }

  OpTime time(const Segment& segment, const Op& op, OpId id, const CompiledOp& of) {
    OpTime out;
    switch (of.rule) {
      case Rule::Nothing: break;
      case Rule::Product: {
        const Tensor& result = segment.tensor(op.outputs.front());
        // With fewer tokens than experts, some experts have no tokens: one GEMM for each of the others.
        const int64_t rows = whole(of.first + 1), batch = std::min(whole(of.first), rows);
        MatmulShape shape{batch,
                          (rows + batch - 1) / batch,
                          whole(of.first + 2),
                          whole(of.first + 3),
                          op.compute,
                          result.dtype,
                          result.role == TensorRole::ParameterGradient};
        const int64_t kernels = kernels_.separate_experts ? shape.batch : 1;
        shape.batch /= kernels;
        shape.concurrent_expert = kernels > 1;
        return {static_cast<double>(kernels) * matmul_seconds(machine_, shape), 0, 0, TimeCategory::Products};
      }
      case Rule::Attention: {
        AttentionShape shape = attention(segment, op, of);
        // Where ranks hold parts of the queries, use the mean over the ranks.
        if (shape.causal) shape.first_query = (shape.keys - shape.queries) / 2;
        return {attention_seconds(machine_, shape), 0, 0, TimeCategory::Attention, {}, {},
                1 - computed_share(shape)};
      }
      case Rule::Ring: return ring(segment, op, id, of);
      case Rule::Scan: {
        const int64_t chunk = whole(of.first + 1), state = whole(of.first + 2);
        const double products = value(of.first) / (2.0 * static_cast<double>(chunk) *
                                                   static_cast<double>(chunk) * static_cast<double>(state));
        const MatmulShape shape{std::max<int64_t>(1, static_cast<int64_t>(products)), chunk, chunk, state,
                                op.compute};
        return {
            std::max(matmul_seconds(machine_, shape), memory_bound_seconds(machine_, bytes(of.first + 3))), 0,
            0, TimeCategory::Attention};
      }
      case Rule::Collective: {
        const CollectiveEstimate estimate = collective_estimate(machine_, collective_kind(op.kind),
                                                                bytes(of.first), span(op.group));
        return {estimate.seconds,        0,  estimate.seconds,
                comm_category(op.group), {}, link_share(machine_, estimate)};
      }
      case Rule::Exchange: {
        const CollectiveEstimate estimate = collective_estimate(machine_, CollectiveKind::AllToAll,
                                                                bytes(of.first), span(op.group));
        out = {estimate.seconds,        0,  estimate.seconds,
               comm_category(op.group), {}, link_share(machine_, estimate)};
        if (!machine_.training || moves_tokens_in_place(report_.design))
          return out;  // inference engines have kernels that fuse this
        for (const uint32_t at : {of.first + 1, of.first + 3})
          if (whole(at) > 1) out.seconds += memory_bound_seconds(machine_, bytes(at + 1));
        if (out.seconds > estimate.seconds)
          out = {out.seconds,  estimate.seconds, estimate.seconds, TimeCategory::MemoryBound,
                 out.category, out.links};
        return out;
      }
      case Rule::Routing: {
        return {moves_tokens_in_place(report_.design) ? memory_bound_seconds(machine_, bytes(of.first))
                                                      : routing_seconds(machine_, bytes(of.first)),
                0, 0, TimeCategory::MemoryBound};
      }
      case Rule::Bytes: {
        const bool scan = op.kind == OpKind::SelectiveScan || op.kind == OpKind::CausalConv;
        return {memory_bound_seconds(machine_, bytes(of.first)), 0, 0,
                scan ? TimeCategory::Attention : TimeCategory::MemoryBound};
      }
    }
    return out;
  }

  AttentionShape attention(const Segment& segment, const Op& op, const CompiledOp& of) const {
    const Op& forward = op.grad != GradRole::None && op.forward >= 0 ? segment.op(op.forward) : op;
    AttentionShape shape;
    shape.batch = whole(of.first);
    shape.heads = whole(of.first + 1);
    shape.kv_heads = whole(of.first + 2);
    shape.queries = whole(of.first + 3);
    shape.keys = whole(of.first + 4);
    shape.head_dim = whole(of.first + 5);
    shape.value_dim = whole(of.first + 6);
    shape.causal = forward.causal;
    shape.backward = op.grad != GradRole::None;
    shape.window = forward.window ? whole(of.first + 7) : 0;
    shape.compute = op.compute;
    if (const Tensor& keys = segment.tensor(forward.inputs[1]); keys.role == TensorRole::Cache)
      shape.cached = keys.dtype;
    shape.values_in_keys = values_in_keys(segment, forward);
    shape.kernel = kernels_.attention;
    shape.score_bytes = shape.backward ? kernels_.backward : kernels_.forward;
    return shape;
  }

  // Blocks travel on their own stream while attention computes the previous block.
  OpTime ring(const Segment& segment, const Op& op, OpId id, const CompiledOp& of) {
    const RingOps ring = ring_ops(segment, id);
    const int64_t ranks = whole(of.first + 8);
    AttentionShape block = attention(segment, op, of);
    block.keys = block.queries;
    std::map<OpId, double> message, brought;
    uint32_t at = of.first + 9;
    const MeshAxes& axes = segment.op(ring.passes.at(0)).group;
    GroupSpan hop = span(axes);
    // The slowest hop sets the pace of the ring: from the last rank of a domain to the first rank of the next
    // domain.
    const bool crosses = hop.domains() > 1;
    hop = {2,
           hop.per_domain >= 2 && !crosses ? 2 : 1,
           0,
           0,
           1,
           hop.leaves > 1 ? 2 : 1,
           hop.unlike || (crosses && hop.per_domain > 1),
           hop.torus};
    for (const std::vector<OpId>* moved : {&ring.passes, &ring.sums})
      for (const OpId m : *moved)
        message[m] = collective_seconds(machine_, CollectiveKind::SendRecv, bytes(at++), hop);
    OpTime out{0, 0, 0, TimeCategory::Attention, comm_category(axes)};
    // counted, kept: numbers of blocks; all others: seconds.
    double computed = 0, link = 0, busy = 0, counted = 0, kept = 0;
    std::map<OpId, double> next;
    for (const auto& [event, step] : ring_events(ring, ranks)) {
      if (event == id) {
        if (const int64_t work = ring_work(op, position_, step); work > 0) {
          AttentionShape shape = block;
          shape.causal = block.causal && step == 0;
          if (work == 1) shape.keys = std::max<int64_t>(1, shape.keys / 2);
          double begin = computed;
          for (const OpId pass : ring.passes) begin = std::max(begin, brought[pass]);
          const double seconds = attention_seconds(machine_, shape);
          computed = begin + seconds;
          busy += seconds;
          counted += static_cast<double>(work) / 2;
          kept += static_cast<double>(work) / 2 * computed_share(shape);
        }
        for (const auto& [pass, end] : next) brought[pass] = end;
        next.clear();
        continue;
      }
      const bool sum = segment.op(event).kind == OpKind::RingSum;
      const double begin = std::max({link, brought[event], sum ? computed : 0});
      link = begin + message[event];
      out.communication += message[event];
      (sum ? brought : next)[event] = link;
    }
    for (const OpId s : ring.sums) computed = std::max(computed, brought[s]);
    out.seconds = computed;
    out.exposed = computed - busy;
    out.skipped = counted > 0 ? 1 - kept / counted : 0;
    return out;
  }

  const Report& report_;
  const Machine& machine_;
  const DeviceMesh mesh_;
  std::shared_ptr<const CompiledGraph> compiled_;
  std::vector<Wide> values_;
  int64_t position_;
  const ProfileKernels kernels_;
  std::map<MeshAxes, GroupSpan> spans_;
};

}  // namespace

double communication(const CategorySeconds& seconds) {
  double out = 0;
  for (int c = 0; c < kTimeCategoryCount; ++c)
    if (is_communication(static_cast<TimeCategory>(c))) out += seconds[static_cast<size_t>(c)];
  return out;
}

double number(const Expr& expr, const Binding& binding) {
  const auto value = evaluate(Expr(kParts) * expr, binding);
  const Wide* whole = std::get_if<Wide>(&value);
  return whole ? to_double(*whole) / static_cast<double>(kParts) : 0;
}

TimeCategory comm_category(const MeshAxes& axes) {
  const auto any = [&](auto is) { return std::any_of(axes.begin(), axes.end(), is); };
  if (any([](MeshAxis a) { return a >= MeshAxis::Edp && a <= MeshAxis::EpLocal; }))
    return TimeCategory::ExpertComm;
  if (any(is_cp_axis) || any([](MeshAxis a) { return a == MeshAxis::TpContext; }))
    return TimeCategory::ContextComm;
  return TimeCategory::TensorComm;
}

double model_flops(const Report& report) { return Timer::model_flops(report); }

std::shared_ptr<const OpReads> op_reads(const Report& report) {
  const std::shared_ptr<const CompiledGraph> of = compiled(report);
  return {of, &of->reads};
}

OpSeconds op_seconds(const Report& report, const Machine& machine) { return Timer(report, machine).run(); }

}  // namespace shardscape
