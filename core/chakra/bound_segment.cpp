#include "chakra/bound_segment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "chakra/lower.h"
#include "chakra/segment_tensors.h"
#include "graph/ring.h"

namespace shardscape {
namespace {

constexpr TensorId kNone = -1;

class Binder {
 public:
  Binder(const Lowering& lowering, const Segment& segment, LayerClass of, const Binding& binding,
         RankProgram& program, const ForwardScale& scale)
      : lowering_(lowering),
        scale_(scale),
        segment_(segment),
        class_(of),
        binding_(binding),
        program_(program),
        alias_(segment.tensors.size()),
        node_(segment.ops.size(), -1),
        nodes_{std::vector<std::vector<uint32_t>>(segment.ops.size()),
               std::vector<std::vector<uint32_t>>(segment.ops.size())} {
    for (size_t t = 0; t < alias_.size(); ++t) {
      alias_[t] = static_cast<TensorId>(t);
      const Tensor& tensor = segment.tensors[t];
      if (tensor.repeat_of >= 0 && tensor.producer >= 0 &&
          !runs(segment.op(tensor.producer), of.checkpoint_policy))
        alias_[t] = tensor.repeat_of;
    }
  }

  BoundSegment bind() {
    BoundSegment out;
    for (OpId id = 0; id < static_cast<OpId>(segment_.ops.size()); ++id)
      if (runs(segment_.op(id), class_.checkpoint_policy)) bind_op(id, nodes_of(out, part_of(id)));
    for (auto& [part, seconds] : packing_)  // added to the last kernel of the part
      for (auto node = part->rbegin(); seconds > 0 && node != part->rend(); ++node)
        if (TraceOp& op = program_.ops[node->op]; op.type == chakra::NodeType::Comp)
          op.seconds += std::exchange(seconds, 0);
    add_launches(out);
    out.output = produced_by(segment_.output, Source::Forward);
    for (size_t t = 0; t < alias_.size(); ++t)
      if (segment_.tensors[t].repeat_of == segment_.output)
        out.replayed_output = produced_by(static_cast<TensorId>(t), Source::Replay);
    out.input_grad = produced_by(segment_.input_grad, Source::Backward);
    for (const Carried& carried : segment_.carried)
      if (const int node = produced_by(carried.in_grad, Source::Backward); node >= 0)
        out.carried_grads.emplace_back(carried.index, node);
    for (const Param& param : segment_.params) {
      const Source part = produced_by(param.gradient, Source::Weight) >= 0 ? Source::Weight
                                                                           : Source::Backward;
      const int node = produced_by(param.gradient, part);
      if (node < 0) continue;
      out.gradients.push_back({part, static_cast<uint32_t>(node)});
      std::vector<SourceRef>& deps = nodes_of(out, part)[static_cast<size_t>(node)].deps;
      if (std::find(deps.begin(), deps.end(), SourceRef{Source::Previous, static_cast<uint32_t>(node)}) ==
          deps.end())
        deps.push_back({Source::Previous, static_cast<uint32_t>(node)});
    }
    std::optional<SegmentTensors> tensors;
    if (program_.tensors) tensors.emplace(lowering_, segment_, class_, binding_, nodes_, program_);
    if (tensors) tensors->add();
    if (class_.offloaded) offload(out, tensors ? &*tensors : nullptr);
    std::sort(out.gradients.begin(), out.gradients.end());
    out.gradients.erase(std::unique(out.gradients.begin(), out.gradients.end()), out.gradients.end());
    return out;
  }

 private:
  static std::vector<BoundNode>& nodes_of(BoundSegment& of, Source part) {
    switch (part) {
      case Source::Forward: return of.forward;
      case Source::Replay: return of.replay;
      case Source::Weight: return of.weight;
      case Source::Backward: return of.backward;
      case Source::StreamIn:
      case Source::StreamGrad:
      case Source::CarriedGrad:
      case Source::Previous: break;
    }
    throw std::logic_error("nodes of other segments and microbatches have no list here");
  }

  // The last kernel of a part also takes the time that the host needs longer to launch the part.
  void add_launches(BoundSegment& out) {
    for (const Source source : {Source::Forward, Source::Replay, Source::Backward, Source::Weight}) {
      std::vector<OpId> ops;
      for (OpId id = 0; id < static_cast<OpId>(segment_.ops.size()); ++id)
        if (runs(segment_.op(id), class_.checkpoint_policy) && part_of(id) == source) ops.push_back(id);
      double wait = lowering_.launch_seconds(segment_, ops);
      std::vector<BoundNode>& part = nodes_of(out, source);
      for (const BoundNode& node : part) wait -= program_.ops[node.op].seconds;
      for (auto node = part.rbegin(); wait > 0 && node != part.rend(); ++node)
        if (TraceOp& op = program_.ops[node->op]; op.type == chakra::NodeType::Comp)
          op.seconds += std::exchange(wait, 0);
    }
  }

  // The saved tensors of an offloaded layer move to the host in one node, and back in one node.
  void offload(BoundSegment& out, const SegmentTensors* tensors) {
    Expr bytes;
    for (const SavedStorage& s : saved_by(segment_, class_.checkpoint_policy))
      bytes += segment_.storages[static_cast<size_t>(s.storage)].bytes;
    const int64_t size = value(bytes, "offload", "bytes");
    if (size == 0) return;
    const auto add = [&](const char* name, chakra::NodeType type) {
      TraceOp op{.name = name, .type = type, .tensor_size = size};
      const bool loads = type == chakra::NodeType::MemLoad;
      if (tensors) (loads ? op.outputs : op.inputs) = loads ? tensors->loaded() : tensors->stored();
      program_.ops.push_back(std::move(op));
      return static_cast<int64_t>(program_.ops.size()) - 1;
    };
    out.store = add("offload.store", chakra::NodeType::MemStore);
    out.load = add("offload.load", chakra::NodeType::MemLoad);
  }

  // Multiplies the numbers of a compute node by the factors of the forward.
  void scale(OpId id, TraceOp& trace) const {
    if (scale_.stages.empty()) return;
    const ForwardScale::Seconds& stage = scale_.stages[static_cast<size_t>(program_.stage)];
    if (segment_.kind == SegmentKind::Head) {
      trace.seconds *= stage.head;
    } else if (lowering_.category_of(segment_, id) != TimeCategory::Attention) {
      trace.seconds *= stage.tokens;
    } else {
      const ForwardScale::Attention& of = scale_.attention[static_cast<size_t>(
          &segment_ - &lowering_.report().graph().segments.front())];
      const auto times = [](int64_t& number, double factor) {
        number = std::max<int64_t>(1, std::llround(static_cast<double>(number) * factor));
      };
      times(trace.num_ops, of.flops);
      times(trace.tensor_size, of.bytes);
      trace.seconds *= of.seconds * stage.attention;
    }
  }

  // The op that stands for a kernel carries the kernel's bytes; the other ops of the kernel carry none.
  Expr bytes_of(OpId id) const {
    const Kernel* kernel = segment_.kernel(id);
    return kernel && kernel->op == id ? kernel->moved_bytes : Expr();
  }

  void bind_op(OpId id, std::vector<BoundNode>& part) {
    const Op& op = segment_.op(id);
    // A ring is unrolled together with its attention. A passed block aliases the tensor that it is a part of.
    if (is_ring(op.kind)) {
      if (op.kind == OpKind::RingPass)
        for (const TensorId out : op.outputs) alias_[static_cast<size_t>(out)] = resolve(op.inputs[0]);
      return;
    }
    if (ring_of(op) != Ring::None) return bind_ring(id, part);
    const bool collective = is_collective(op.kind);
    const int role = collective ? lowering_.role_of(redistribution(op).group) : -1;
    if (collective && role < 0) {
      // A collective over one rank never completes in the simulator and does nothing: its result aliases its
      // input.
      alias_[static_cast<size_t>(op.outputs.at(0))] = resolve(op.inputs.at(0));
      return;
    }
    node_[static_cast<size_t>(id)] = static_cast<int>(part.size());
    nodes_.of[static_cast<size_t>(id)].push_back(static_cast<uint32_t>(program_.ops.size()));
    const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) {
      return t != kNone && segment_.tensor(t).role == TensorRole::Parameter;
    });
    part.push_back({static_cast<uint32_t>(program_.ops.size()), dependencies(op), reads});
    TraceOp trace{.name = op.name, .place = segment_.kind == SegmentKind::Layer ? "" : segment_.name};
    const std::string& where = op.name;
    if (collective) {
      trace.type = chakra::NodeType::Coll;
      trace.collective = chakra::collective_type(collective_of(op.kind));
      trace.role = role;
      // The simulator reads the size of the rank's local input. For an all-to-all this is the whole send
      // buffer, copies included.
      const bool exchanges = op.kind == OpKind::AllToAll;
      // A collective in the simulator has no packing kernels, so the next kernel takes their seconds.
      packing_[&part] += lowering_.packing_seconds(segment_, id);
      trace.comm_size = value(
          exchanges ? collective_bytes(segment_, op) : local_bytes(segment_.tensor(op.inputs.at(0))), where,
          "bytes");
    } else {
      trace.num_ops = std::max<int64_t>(1, lowering_.roofline_ops(op, value(op.flops, where, "FLOPs")));
      trace.tensor_size = std::max<int64_t>(1, value(bytes_of(id), where, "bytes"));
      trace.seconds = lowering_.seconds_of(segment_, id);
      scale(id, trace);
      trace.seconds += std::exchange(packing_[&part], 0);
    }
    program_.ops.push_back(std::move(trace));
  }

  // The steps of a ring. Every message is a send node and a receive node. Every block that is not masked out
  // is a compute node.
  void bind_ring(OpId id, std::vector<BoundNode>& part) {
    const Op& op = segment_.op(id);
    const Source here = op.phase == Phase::Forward ? Source::Forward : Source::Backward;
    const RingOps ring = ring_ops(segment_, id);
    const int64_t ranks = value(group_size(redistribution(segment_.op(ring.passes.at(0))).group), op.name,
                                "ranks");
    const int64_t position = binding_.get(Symbol::intern("ic")).value_or(0);
    std::vector<int64_t> work;
    for (int64_t step = 0; step < ranks; ++step) work.push_back(ring_work(op, position, step));
    const int64_t unit = lowering_.roofline_ops(op, value(op.flops, op.name, "FLOPs")) /
                         std::accumulate(work.begin(), work.end(), int64_t{0});
    // Seconds are those of the ring position that the report shows.
    int64_t reported = 0;
    for (int64_t step = 0; step < ranks; ++step)
      reported += ring_work(op, lowering_.report().ring_position.value_or(0), step);
    const double unit_seconds = lowering_.seconds_of(segment_, id) / static_cast<double>(reported);
    const auto add = [&](TraceOp trace, std::vector<SourceRef> deps) {
      std::sort(deps.begin(), deps.end());
      part.push_back({static_cast<uint32_t>(program_.ops.size()), std::move(deps), false});
      program_.ops.push_back(std::move(trace));
      return SourceRef{here, static_cast<uint32_t>(part.size() - 1)};
    };
    // Nodes that received the block, or the gradient sum, for this step and for the next step.
    std::map<OpId, SourceRef> arrived, next;
    std::optional<SourceRef> computed;
    for (const auto& [event, step] : ring_events(ring, ranks)) {
      const Op& moved = segment_.op(event);
      std::vector<SourceRef> deps;
      if (event == id) {
        if (work[static_cast<size_t>(step)] > 0) {
          if (computed)
            deps = {*computed};
          else
            deps = dependencies(op);
          for (const auto& [from, node] : arrived)
            if (segment_.op(from).kind == OpKind::RingPass) deps.push_back(node);
          TraceOp trace{.name = numbered(op.name, step),
                        .num_ops = std::max<int64_t>(1, unit * work[static_cast<size_t>(step)]),
                        .tensor_size = std::max<int64_t>(1, value(step_bytes(op), op.name, "bytes")),
                        .seconds = unit_seconds * static_cast<double>(work[static_cast<size_t>(step)])};
          scale(id, trace);
          nodes_.of[static_cast<size_t>(id)].push_back(static_cast<uint32_t>(program_.ops.size()));
          computed = add(std::move(trace), std::move(deps));
        }
        for (const auto& [pass, node] : next) arrived.insert_or_assign(pass, node);
        next.clear();
        continue;
      }
      const bool sum = moved.kind == OpKind::RingSum;
      if (const auto at = arrived.find(event); at != arrived.end()) deps.push_back(at->second);
      if (sum && work[static_cast<size_t>(step)] > 0) deps.push_back(*computed);
      if (!sum && step == 0) deps = dependencies(moved);
      const Tensor& source = segment_.tensor(moved.inputs[0]);
      const int64_t bytes = value(ring_message_elements(segment_, moved) * Expr(dtype_bytes(source.dtype)),
                                  moved.name, "bytes");
      TraceOp send{.name = numbered(moved.name + ".send", step),
                   .type = chakra::NodeType::Send,
                   .comm_size = bytes,
                   .peer = Peer::NextInRing};
      TraceOp receive{.name = numbered(moved.name + ".recv", step),
                      .type = chakra::NodeType::Recv,
                      .comm_size = bytes,
                      .peer = Peer::PreviousInRing};
      nodes_.sends[static_cast<size_t>(event)].push_back(static_cast<uint32_t>(program_.ops.size()));
      nodes_.of[static_cast<size_t>(event)].push_back(static_cast<uint32_t>(program_.ops.size() + 1));
      add(std::move(send), std::move(deps));
      const SourceRef received = add(std::move(receive), {});
      (sum ? arrived : next).insert_or_assign(event, received);
      if (sum) node_[static_cast<size_t>(event)] = static_cast<int>(received.index);
    }
    node_[static_cast<size_t>(id)] = static_cast<int>(computed->index);
  }

  static std::string numbered(const std::string& name, int64_t step) {
    return name + "." + std::to_string(step);
  }

  // The RingPass that delivers the tensor, or that delivers the tensor of a gradient; null for a tensor that
  // stays on the rank.
  const Op* pass_of(TensorId id) const {
    const Tensor& t = segment_.tensor(id);
    const OpId producer = t.gradient_of >= 0 ? segment_.tensor(t.gradient_of).producer : t.producer;
    return producer >= 0 && segment_.op(producer).kind == OpKind::RingPass ? &segment_.op(producer) : nullptr;
  }

  // Bytes that one step of a ring reads and writes: one block of every passed tensor, and all of each other
  // tensor.
  Expr step_bytes(const Op& op) const {
    Expr bytes;
    for (const auto* ids : {&op.inputs, &op.outputs})
      for (const TensorId id : *ids) {
        const Op* pass = pass_of(id);
        bytes += local_elements(segment_.tensor(pass ? pass->inputs[0] : id)) *
                 Expr(dtype_bytes(segment_.tensor(id).dtype));
      }
    return bytes;
  }

  int64_t value(const Expr& expr, const std::string& op, const char* what) const {
    return bound_value(expr, binding_, segment_.name + "/" + op + ": " + what);
  }

  TensorId resolve(TensorId id) const {
    while (id != kNone && alias_[static_cast<size_t>(id)] != id) id = alias_[static_cast<size_t>(id)];
    return id;
  }

  Source part_of(OpId id) const {
    if (id < segment_.backward_begin) return Source::Forward;
    if (id < segment_.replay_end) return Source::Replay;
    return segment_.op(id).deferrable && lowering_.report().graph().structure.split_backward
               ? Source::Weight
               : Source::Backward;
  }

  // Number within this part of the node that produces the tensor; -1: none.
  int produced_by(TensorId id, Source part) const {
    id = resolve(id);
    if (id == kNone) return -1;
    const OpId producer = segment_.tensor(id).producer;
    if (producer < 0 || part_of(producer) != part) return -1;
    return node_[static_cast<size_t>(producer)];
  }

  std::vector<SourceRef> dependencies(const Op& op) const {
    std::vector<SourceRef> deps;
    for (const TensorId input : op.inputs) {
      const TensorId id = resolve(input);
      if (id == kNone) continue;
      const OpId producer = segment_.tensor(id).producer;
      if (producer >= 0)
        deps.push_back({part_of(producer), static_cast<uint32_t>(node_[static_cast<size_t>(producer)])});
      else if (id == segment_.input)
        deps.push_back({Source::StreamIn});
      else if (id == segment_.output_grad)
        deps.push_back({Source::StreamGrad});
      for (const Carried& carried : segment_.carried)
        if (id == carried.out_grad)
          deps.push_back({Source::CarriedGrad, static_cast<uint32_t>(carried.index)});
    }
    std::sort(deps.begin(), deps.end());
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    return deps;
  }

  const Lowering& lowering_;
  const ForwardScale& scale_;
  const Segment& segment_;
  const LayerClass class_;
  const Binding& binding_;
  RankProgram& program_;
  // The tensor that a tensor is replaced by: results of collectives over one rank, blocks of a ring, and
  // results of replays that this layer does not run.
  std::vector<TensorId> alias_;
  std::vector<int> node_;  // index of an op's node within its part; -1: none
  SegmentTensors::Nodes nodes_;
  // By part: seconds of packing kernels that are not added to a node yet.
  std::map<const std::vector<BoundNode>*, double> packing_;
};

}  // namespace

int64_t bound_value(const Expr& expr, const Binding& binding, const std::string& what) {
  const auto result = evaluate(expr, binding);
  if (const auto* error = std::get_if<EvalError>(&result)) throw LoweringError(what + ": " + error->message);
  const Wide value = std::get<Wide>(result);
  if (value < 0 || value > std::numeric_limits<int64_t>::max())
    throw LoweringError(what + ": " + to_string(value) + " does not fit into 63 bits");
  return static_cast<int64_t>(value);
}

BoundSegment bind_segment(const Lowering& lowering, const Segment& segment, LayerClass of,
                          const Binding& binding, RankProgram& program, const ForwardScale& scale) {
  return Binder(lowering, segment, of, binding, program, scale).bind();
}

}  // namespace shardscape
