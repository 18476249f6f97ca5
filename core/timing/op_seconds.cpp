#include "timing/op_seconds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "design/expert_nodes.h"
#include "graph/build.h"
#include "graph/op_spec.h"
#include "graph/op_traits.h"
#include "graph/ring.h"
#include "graph/useful_flops.h"
#include "performance/attention_model.h"
#include "performance/collective_time.h"
#include "performance/op_time.h"
#include "performance/reached_experts.h"
#include "plan/rank_mesh.h"
#include "plan/stage_boundary.h"
#include "timing/compiled_ops.h"
#include "timing/expert_phases.h"
#include "timing/host_launches.h"
#include "timing/op_bound.h"

namespace shardscape {
namespace {

class Timer {
 public:
  Timer(const Report& report, const Machine& machine)
      : report_(report),
        machine_(machine),
        mesh_(mesh_of(report)),
        compiled_(compiled(report)),
        values_(compiled_->program.evaluate(report.stages.front().binding)),
        position_(report.ring_position.value_or(0)) {
    // DeepEP's kernels send without NCCL; so do those of inference engines.
    if (report.design.parallel.dispatcher == Dispatcher::Flex || !machine.training)
      exchange_machine_ = without_nccl_messages(machine);
  }

  static double model_flops(const Report& report) {
    const Graph& graph = report.graph();
    const std::shared_ptr<const CompiledGraph> compiled_graph = compiled(report);
    const std::vector<Wide> values = compiled_graph->model_flops.evaluate(report.stages.front().binding);
    double out = 0;
    for (size_t i = 0; i < graph.segments.size(); ++i) {
      double flops = 0;
      for (const CompiledOp& op : compiled_graph->segments[i])
        if (op.model_flops >= 0) flops += to_double(values[static_cast<size_t>(op.model_flops)]);
      if (flops == 0) continue;
      const double copies = number(instances_in_model(graph, static_cast<int>(i)), report.binding);
      // Forward, and the gradients of both operands. A frozen tower has no gradients.
      const bool frozen = graph.segments[i].kind == SegmentKind::Tower && graph.structure.frozen_tower;
      const double passes = graph.structure.trains() && !frozen ? 3 : 1;
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
        times.back().seconds += further_kernels(segment, static_cast<OpId>(id), op, times.back().seconds);
      }
      if (!graph.structure.trains()) hide_shared_experts(segment, compiled_->segments[i], times);
      if (graph.structure.ep_local) hide_shorter_exchange(segment, compiled_->segments[i], times);
      if (overlaps_shared_experts(report_.design)) overlap_shared_experts(report_, machine_, segment, times);
      if (report_.design.parallel.tp_comm_overlap && report_.design.parallel.sequence_parallel)
        overlap(compiled_->segments[i], times);
    }
    return out;
  }

 private:
  // Seconds of an op's kernels after the first, of which each takes at least the time of the shortest kernel.
  // The bytes of the op count once. seconds: of the first kernel; 0: another op's kernel computes the op.
  double further_kernels(const Segment& segment, OpId id, const CompiledOp& of, double seconds) const {
    if (!machine_.training || seconds <= 0 || (of.rule != OpRule::Bytes && of.rule != OpRule::Routing))
      return 0;
    const int64_t kernels = launched_kernels(report_, segment, id);
    return kernels > 1 ? static_cast<double>(kernels - 1) * shortest_kernel_seconds(machine_) : 0;
  }

  double value(uint32_t at) const { return to_double(values_[at]); }
  int64_t whole(uint32_t at) const { return std::max<int64_t>(1, static_cast<int64_t>(values_[at])); }
  double bytes(uint32_t at) const { return value(at) / static_cast<double>(kByteScale); }
  // Shared experts on a stream of their own. Launches and latency overlap with the routed experts; FLOPs and
  // bytes share the accelerator with them. So shared experts take the time by which they exceed the routed
  // experts, and at least that of their roofline.
  void hide_shared_experts(const Segment& segment, const std::vector<CompiledOp>& ops,
                           std::vector<OpTime>& times) const {
    double routed = 0, shared = 0, least = 0;
    std::vector<size_t> of_shared;
    for (size_t id = 0; id < ops.size(); ++id) {
      if (ops[id].rule == OpRule::ExpertGemm) routed += times[id].seconds;
      const Kernel* kernel = segment.kernel(static_cast<OpId>(id));
      if (!kernel || !kernel->next_to_experts || kernel->op != static_cast<OpId>(id)) continue;
      const KernelWork work = kernel_work(segment, *kernel, report_.stages.front().binding);
      const Accelerator& accelerator = *machine_.accelerator;
      shared += times[id].seconds;
      least += std::max(work.flops / peak_flops(accelerator, segment.ops[id].compute),
                        work.bytes / (accelerator.memory_gbps * 1e9));
      of_shared.push_back(id);
    }
    if (routed == 0 || shared == 0) return;
    const double left = std::min(1.0, std::max(shared - routed, least) / shared);
    for (const size_t id : of_shared) times[id].seconds *= left;
  }

  // One kernel sends tokens to other nodes and forwards them inside the nodes, chunk by chunk (DeepEP,
  // csrc/kernels/legacy/internode.cu). Therefore the shorter of the two exchanges of a dispatch or combine
  // takes no time of its own.
  static void hide_shorter_exchange(const Segment& segment, const std::vector<CompiledOp>& ops,
                                    std::vector<OpTime>& times) {
    double across = 0, inside = 0;  // seconds of the current dispatch or combine that are not hidden yet
    for (size_t id = 0; id < ops.size(); ++id) {
      if (ops[id].rule == OpRule::Gemm) across = inside = 0;
      if (segment.ops[id].kind != OpKind::AllToAll) continue;
      const MeshAxes& group = redistribution(segment.ops[id]).group;
      const bool local = group == MeshAxes{MeshAxis::EpLocal};
      if (!local && group != MeshAxes{MeshAxis::EpNode}) continue;
      double &own = local ? inside : across, &other = local ? across : inside;
      const double hidden = std::min(times[id].seconds, other);
      times[id].seconds -= hidden;
      other -= hidden;
      own += times[id].seconds;
    }
  }

  // Megatron's --tp-comm-overlap (Transformer Engine's user buffers): the GEMM runs in n pieces, one per
  // rank's share, with n - 1 messages. The first piece of a gather and the last piece of a scatter are local.
  // The exposed time is n - 1 times the excess of a message over a piece. A GEMM hides one collective.
  void overlap(const std::vector<CompiledOp>& ops, std::vector<OpTime>& times) const {
    const auto pieces = static_cast<double>(report_.design.parallel.tp);
    if (pieces < 2) return;
    std::set<OpId> overlapped;
    for (size_t id = 0; id < ops.size(); ++id) {
      if (ops[id].needs_rs_dgrad && !report_.design.parallel.tp_comm_overlap_rs_dgrad) continue;
      if (ops[id].overlapped_gemm < 0 || !overlapped.insert(ops[id].overlapped_gemm).second) continue;
      const double message = times[id].seconds / (pieces - 1),
                   piece = times[static_cast<size_t>(ops[id].overlapped_gemm)].seconds / pieces;
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
      case OpRule::Nothing: break;
      case OpRule::Gemm:
      case OpRule::ExpertGemm: return gemm(segment, op, id, of);
      case OpRule::Attention: {
        AttentionShape shape = attention(segment, id, of);
        if (shape.causal) shape.first_query = first_query(shape.keys, shape.queries, of);
        return {attention_seconds(machine_, shape), 0, 0, TimeCategory::Attention, {}, {},
                1 - computed_share(shape)};
      }
      case OpRule::Index: {
        AttentionShape shape = attention(segment, id, of);
        shape.value_dim = 0;
        shape.ratio = whole(of.first + 10);
        if (shape.causal) shape.first_query = first_query(shape.keys * shape.ratio, shape.queries, of);
        return {attention_seconds(machine_, shape) + memory_bound_seconds(machine_, bytes(of.first + 9)),
                0,
                0,
                TimeCategory::Attention,
                {},
                {},
                1 - computed_share(shape)};
      }
      case OpRule::Ring: return ring(segment, op, id, of);
      case OpRule::Scan: {
        const int64_t chunk = whole(of.first + 1), state = whole(of.first + 2);
        const double gemms = value(of.first) / (2.0 * static_cast<double>(chunk) *
                                                static_cast<double>(chunk) * static_cast<double>(state));
        const MatmulShape shape{std::max<int64_t>(1, static_cast<int64_t>(gemms)), chunk, chunk, state,
                                op.compute};
        return {
            std::max(matmul_seconds(machine_, shape), memory_bound_seconds(machine_, bytes(of.first + 3))), 0,
            0, TimeCategory::Attention};
      }
      case OpRule::Collective: {
        const CollectiveEstimate estimate = collective_estimate(
            machine_, collective_of(op.kind), bytes(of.first), span(redistribution(op).group));
        return {estimate.seconds,
                0,
                estimate.seconds,
                comm_category(redistribution(op).group),
                {},
                link_share(machine_, estimate)};
      }
      case OpRule::Exchange: {
        const CollectiveEstimate estimate = collective_estimate(
            exchange_machine_ ? *exchange_machine_ : machine_, CollectiveKind::AllToAll, bytes(of.first),
            span(redistribution(op).group));
        out = {estimate.seconds,
               0,
               estimate.seconds,
               comm_category(redistribution(op).group),
               {},
               link_share(machine_, estimate)};
        if (!machine_.training || moves_tokens_in_place(report_.design))
          return out;  // kernels of inference engines fuse the packing
        for (const uint32_t at : {of.first + 1, of.first + 3})
          if (whole(at) > 1) out.seconds += memory_bound_seconds(machine_, bytes(at + 1));
        if (out.seconds > estimate.seconds)
          out = {out.seconds,  estimate.seconds, estimate.seconds, TimeCategory::MemoryBound,
                 out.category, out.links};
        return out;
      }
      case OpRule::Routing: {
        return {moves_tokens_in_place(report_.design) ? memory_bound_seconds(machine_, bytes(of.first))
                                                      : routing_seconds(machine_, bytes(of.first)),
                0, 0, TimeCategory::MemoryBound};
      }
      case OpRule::Bytes: {
        const TimeRule rule = op_traits(op.kind).time;
        const bool scan = rule == TimeRule::ScanBytes || rule == TimeRule::Scan;
        return {memory_bound_seconds(machine_, bytes(of.first)), 0, 0,
                scan ? TimeCategory::Attention : TimeCategory::MemoryBound};
      }
    }
    return out;
  }

  OpTime gemm(const Segment& segment, const Op& op, OpId id, const CompiledOp& of) const {
    const Tensor& result = segment.tensor(op.outputs.front());
    const int64_t rows = whole(of.first + 1);
    // With fewer tokens than experts, some experts have no tokens: one GEMM for each of the others.
    const int64_t batch = of.rule == OpRule::ExpertGemm ? reached(of) : std::min(whole(of.first), rows);
    MatmulShape shape{batch,
                      (rows + batch - 1) / batch,
                      whole(of.first + 2),
                      whole(of.first + 3),
                      op.compute,
                      result.dtype,
                      result.role == TensorRole::ParameterGradient};
    const int64_t kernels = segment.kernel(id)->separate_experts ? shape.batch : 1;
    shape.batch /= kernels;
    shape.stored = op.stored;
    shape.concurrent_expert = kernels > 1;
    const double seconds = of.rule == OpRule::ExpertGemm ? expert_matmul_seconds(machine_, shape)
                                                         : matmul_seconds(machine_, shape);
    return {static_cast<double>(kernels) * seconds, 0, 0, TimeCategory::MatrixProducts};
  }

  // Experts of the busiest rank that tokens reach. A rank has its share of the K rows of every token.
  int64_t reached(const CompiledOp& of) const {
    const int64_t local = whole(of.first), experts = whole(of.first + 4), chosen = whole(of.first + 5);
    const double tokens = value(of.first + 1) * static_cast<double>(experts) /
                          (static_cast<double>(chosen) * static_cast<double>(local));
    return std::llround(reached_experts(tokens, experts, chosen, local));
  }

  AttentionShape attention(const Segment& segment, OpId id, const CompiledOp& of) const {
    const Op &op = segment.op(id), &forward = segment.op(forward_of(segment, id));
    const Kernel& kernel = *segment.kernel(id);
    AttentionShape shape;
    shape.batch = whole(of.first);
    shape.heads = whole(of.first + 1);
    shape.kv_heads = whole(of.first + 2);
    shape.queries = whole(of.first + 3);
    shape.keys = whole(of.first + 4);
    shape.head_dim = whole(of.first + 5);
    shape.value_dim = whole(of.first + 6);
    const AttentionAttributes& masks = attention_attributes(forward);
    if (masks.packed) {
      // A kernel with cu_seqlens computes documents like the sequences of a batch. With cp, every document is
      // split like a sequence (Transformer Engine, thd_partition_indices: 2 cp chunks of each document).
      const int64_t documents = whole(of.first + 9);
      shape.batch *= documents;
      shape.queries = std::max<int64_t>(1, shape.queries / documents);
      shape.keys = std::max<int64_t>(1, shape.keys / documents);
    }
    shape.causal = masks.causal;
    shape.backward = op.grad != GradRole::None;
    shape.window = masks.window ? whole(of.first + 7) : 0;
    shape.chunk = masks.chunk && masks.causal ? whole(of.first + 7) : 0;
    if (compressed_keys(segment, forward) >= 0) {
      shape.compressed = whole(of.first + 10);
      shape.ratio = whole(of.first + 11);
      shape.gathered = picked_keys(segment, forward) >= 0;
    } else if (picked_keys(segment, forward) >= 0) {
      shape.picked = whole(of.first + 10);
    }
    shape.compute = op.compute;
    if (const Tensor& keys = segment.tensor(forward.inputs[1]); keys.role == TensorRole::Cache)
      shape.cached = keys.dtype;
    shape.values_in_keys = values_in_keys(segment, forward);
    shape.kernel = kernel.fused_attention;
    shape.score_bytes = kernel.score_bytes;
    return shape;
  }

  // The position of a rank's first query among the tokens that the keys stand for. The queries of all ranks
  // are the last ones; where ranks hold parts of them, this is the mean over the ranks.
  int64_t first_query(int64_t tokens, int64_t of_rank, const CompiledOp& of) const {
    const int64_t all = whole(of.first + 8) * of_rank / whole(of.first + 3);
    return (2 * tokens - all - of_rank) / 2;
  }

  // Blocks are sent on their own stream while attention computes the previous block.
  OpTime ring(const Segment& segment, const Op& op, OpId id, const CompiledOp& of) {
    const RingOps ring = ring_ops(segment, id);
    const int64_t ranks = whole(of.first + 10);
    AttentionShape block = attention(segment, id, of);
    block.keys = block.queries;
    std::map<OpId, double> message, received;
    uint32_t at = of.first + 11;
    const MeshAxes& axes = redistribution(segment.op(ring.passes.at(0))).group;
    GroupSpan hop = span(axes);
    // The slowest hop sets the pace of the ring: from the last rank of a domain to the first rank of the next
    // domain.
    const bool crosses = hop.domains() > 1;
    hop = {2,
           hop.per_domain >= 2 && !crosses ? 2 : 1,
           0,
           0,
           1,
           hop.leaf_switches > 1 ? 2 : 1,
           hop.crosses_rails || (crosses && hop.per_domain > 1),
           hop.torus,
           hop.max_ctas};
    for (const std::vector<OpId>* moved : {&ring.passes, &ring.sums})
      for (const OpId m : *moved)
        message[m] = collective_seconds(machine_, CollectiveKind::SendRecv, bytes(at++), hop);
    OpTime out{0, 0, 0, TimeCategory::Attention, comm_category(axes)};
    double computed = 0, link = 0, busy = 0;         // seconds
    double counted_blocks = 0, computed_blocks = 0;  // numbers of blocks
    std::map<OpId, double> next;
    for (const auto& [event, step] : ring_events(ring, ranks)) {
      if (event == id) {
        if (const int64_t work = ring_work(op, position_, step); work > 0) {
          AttentionShape shape = block;
          shape.causal = block.causal && step == 0;
          if (work == 1) shape.keys = std::max<int64_t>(1, shape.keys / 2);
          double begin = computed;
          for (const OpId pass : ring.passes) begin = std::max(begin, received[pass]);
          const double seconds = attention_seconds(machine_, shape);
          computed = begin + seconds;
          busy += seconds;
          counted_blocks += static_cast<double>(work) / 2;
          computed_blocks += static_cast<double>(work) / 2 * computed_share(shape);
        }
        for (const auto& [pass, end] : next) received[pass] = end;
        next.clear();
        continue;
      }
      const bool sum = segment.op(event).kind == OpKind::RingSum;
      const double begin = std::max({link, received[event], sum ? computed : 0});
      link = begin + message[event];
      out.communication += message[event];
      (sum ? received : next)[event] = link;
    }
    for (const OpId s : ring.sums) computed = std::max(computed, received[s]);
    out.seconds = computed;
    out.exposed = computed - busy;
    out.skipped = counted_blocks > 0 ? 1 - computed_blocks / counted_blocks : 0;
    return out;
  }

  const Report& report_;
  const Machine& machine_;
  std::optional<Machine> exchange_machine_;  // of exchanges of experts, if it differs
  const DeviceMesh mesh_;
  std::shared_ptr<const CompiledGraph> compiled_;
  std::vector<Wide> values_;
  int64_t position_;
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
  const auto value = evaluate(Expr(kByteScale) * expr, binding);
  const Wide* whole = std::get_if<Wide>(&value);
  return whole ? to_double(*whole) / static_cast<double>(kByteScale) : 0;
}

TimeCategory comm_category(const MeshAxes& axes) {
  const auto any = [&](auto is) { return std::any_of(axes.begin(), axes.end(), is); };
  if (any(is_expert_axis)) return TimeCategory::ExpertComm;
  if (any([](MeshAxis a) { return is_part_of(a, MeshAxis::Cp) || a == MeshAxis::TpContext; }))
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
