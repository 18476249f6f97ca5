#include "trace/lower.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "cost/grad_plan.h"
#include "cost/stage_boundary.h"
#include "graph/ring.h"
#include "trace/bound_segment.h"
#include "trace/program_builder.h"
#include "trace/sync_lower.h"

namespace shardscape {
namespace {

MeshDegrees degrees_of(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return {.tp = p.tp, .cp = p.cp, .dp = p.dp, .pp = p.pp, .kv_heads = design.model.kv_heads, .ulysses = ulysses_ranks(design)};
}

// Walks the actions of one stage.
class StageLowering {
 public:
  StageLowering(const Lowering& lowering, int stage, bool tensors, int64_t position)
      : lowering_(lowering), report_(lowering.report()), graph_(report_.graph()),
        stage_(report_.stages[static_cast<size_t>(stage)]), first_(stage == 0),
        last_(stage + 1 == static_cast<int>(report_.stages.size())), builder_(program_),
        sync_(lowering, stage, program_, builder_) {
    program_.stage = stage;
    program_.ring_position = position;
    binding_ = stage_.binding;
    if (lowering.positions() > 1) binding_.set(Symbol::intern("ic"), position);
    program_.roles = static_cast<int>(lowering.roles().size());
    program_.chunks = lowering.schedule().chunks;
    program_.tensors = tensors;
    place_segments();
    forward_base_.resize(static_cast<size_t>(lowering.schedule().microbatches) * instances_.size());
    stream_.resize(static_cast<size_t>(lowering.schedule().microbatches) * (instances_.size() + chunks_.size()));
    backward_base_.resize(instances_.size(), 0);
    bind_transfers();
  }

  RankProgram run(const std::stop_token& stop) {
    for (const Action& action : lowering_.schedule().actions[static_cast<size_t>(program_.stage)]) {
      if (stop.stop_requested()) break;
      builder_.begin_action();
      switch (action.kind) {
        case ActionKind::Forward: forward(action.microbatch, action.chunk); break;
        case ActionKind::Backward: backward(action.microbatch, action.chunk); break;
        case ActionKind::ReceiveForward:
          stream(action.microbatch, chunk(action).stream_in) = transfer(receive_forward_, action, 0, chunk(action).position_in);
          break;
        case ActionKind::SendForward:
          transfer(send_forward_, action, stream(action.microbatch, chunk(action).stream_out), chunk(action).position_out);
          break;
        case ActionKind::ReceiveBackward:
          stream_grad_ = transfer(receive_backward_, action, 0, chunk(action).position_out);
          break;
        case ActionKind::SendBackward: transfer(send_backward_, action, stream_grad_, chunk(action).position_in); break;
        case ActionKind::GradReduce: sync_.reduce(); break;
        case ActionKind::Optimizer: sync_.optimize(); break;
      }
    }
    return std::move(program_);
  }

 private:
  struct Instance {
    int segment = 0;      // index into Graph::segments
    int32_t layer = -1;
    int32_t position = 0;
    size_t stream = 0;    // slot of the stream into it; the next one is the stream out of it
  };
  // The instances of one virtual stage, and where it lies along the residual stream.
  struct Chunk {
    size_t first = 0, end = 0;               // range of instances_
    size_t stream_in = 0, stream_out = 0;    // slots
    int32_t position_in = 0, position_out = 0;
  };
  // How messages between stages go: the transfer, and the gather of what was scattered.
  struct Transfer {
    uint32_t op = 0;
    int64_t gather = -1;  // op
  };

  const Segment& segment(size_t instance) const {
    return graph_.segments[static_cast<size_t>(instances_[instance].segment)];
  }
  const BoundSegment& bound(size_t instance) const { return bound_.at(instances_[instance].segment); }
  const Chunk& chunk(const Action& action) const { return chunks_[static_cast<size_t>(action.chunk)]; }
  uint32_t& forward_base(int microbatch, size_t instance) {
    return forward_base_[static_cast<size_t>(microbatch) * instances_.size() + instance];
  }
  // What produced the stream in this slot.
  uint32_t& stream(int microbatch, size_t slot) {
    return stream_[static_cast<size_t>(microbatch) * (instances_.size() + chunks_.size()) + slot];
  }

  void place_segments() {
    const int64_t layers = std::accumulate(report_.stages.begin(), report_.stages.end(), int64_t{0},
                                           [](int64_t n, const StageReport& s) { return n + s.layers; });
    for (size_t c = 0; c < stage_.chunks.size(); ++c) {
      const StageChunk& of = stage_.chunks[c];
      Chunk chunk;
      chunk.first = instances_.size();
      chunk.stream_in = chunk.first + c;
      chunk.position_in = static_cast<int32_t>(1 + of.first_layer);
      chunk.position_out = chunk.position_in + static_cast<int32_t>(of.layers);
      const auto add = [&](int segment, int32_t layer, int64_t position) {
        instances_.push_back({segment, layer, static_cast<int32_t>(position), instances_.size() + c});
      };
      if (first_ && c == 0) add(0, -1, 0);
      for (int64_t layer = of.first_layer; layer < of.first_layer + of.layers; ++layer) {
        const int kind = graph_.layer_pattern[static_cast<size_t>(layer) % graph_.layer_pattern.size()];
        add(1 + kind, static_cast<int32_t>(layer), 1 + layer);
      }
      if (last_ && c + 1 == stage_.chunks.size()) add(graph_.head(), -1, 1 + layers);
      chunk.end = instances_.size();
      chunk.stream_out = chunk.end + c;
      chunks_.push_back(chunk);
    }
    for (const Instance& instance : instances_) {
      sync_.add_instance(instance.segment, instance.layer, instance.position);
      if (!bound_.contains(instance.segment))
        bound_[instance.segment] = bind_segment(lowering_, graph_.segments[static_cast<size_t>(instance.segment)],
                                                binding_, program_);
    }
  }

  // Both ends of a transfer carry what the upstream stage's last segment puts out.
  Transfer add_transfer(bool send, bool backward, int64_t bytes, int gather_role) {
    TraceOp op{.name = std::string(action_name(backward ? (send ? ActionKind::SendBackward : ActionKind::ReceiveBackward)
                                                        : (send ? ActionKind::SendForward : ActionKind::ReceiveForward))),
               .type = send ? chakra::NodeType::Send : chakra::NodeType::Recv,
               .comm_size = bytes, .peer = send != backward ? Peer::NextStage : Peer::PreviousStage, .backward = backward};
    const NameScope stream = backward ? NameScope::StreamGradIn : NameScope::StreamIn;
    const bool gathers = !send && gather_role >= 0;
    const TraceTensor message{op.name + ".part", NameScope::Microbatch, bytes};
    if (program_.tensors) (send ? op.inputs : op.outputs).push_back(gathers ? message : TraceTensor{"", stream, bytes});
    Transfer out{static_cast<uint32_t>(program_.ops.size())};
    program_.ops.push_back(std::move(op));
    if (!gathers) return out;
    TraceOp gather{.name = program_.ops.back().name + ".gather", .type = chakra::NodeType::Coll,
                   .collective = chakra::CollectiveType::AllGather, .role = gather_role, .comm_size = bytes};
    if (program_.tensors) {
      gather.inputs.push_back(message);
      gather.outputs.push_back({"", stream, bytes * lowering_.role_size(gather_role)});
    }
    out.gather = static_cast<int64_t>(program_.ops.size());
    program_.ops.push_back(std::move(gather));
    return out;
  }

  // The residual stream is the same tensor everywhere, so that both ends agree; a stage may have no segment at all.
  void bind_transfers() {
    const StageBoundary boundary = stage_boundary(graph_);
    const int64_t bytes = bound_value(local_bytes(boundary.message), stage_.binding, "pipeline transfer: bytes");
    const int gather = boundary.gathered.empty() ? -1 : lowering_.role_of(boundary.gathered);
    const bool round = chunks_.size() > 1;
    if (!first_ || round) {
      receive_forward_ = add_transfer(false, false, bytes, gather);
      send_backward_ = add_transfer(true, true, bytes, gather);
    }
    if (!last_ || round) {
      send_forward_ = add_transfer(true, false, bytes, gather);
      receive_backward_ = add_transfer(false, true, bytes, gather);
    }
  }

  uint32_t transfer(const Transfer& transfer, const Action& action, uint32_t producer, int32_t position) {
    const int chunk = chunks_.size() > 1 ? upstream_chunk(action, program_.stage) : -1;
    builder_.depend(producer);
    const uint32_t moved = builder_.add(transfer.op, action.microbatch, -1, position, chunk);
    if (transfer.gather < 0) return moved;
    builder_.depend(moved);
    return builder_.add(static_cast<uint32_t>(transfer.gather), action.microbatch, -1, position, chunk);
  }

  void stamp(const std::vector<BoundNode>& part, int microbatch, size_t instance, uint32_t base, uint32_t previous) {
    const Instance& at = instances_[instance];
    const uint32_t forward = forward_base(microbatch, instance);
    for (const BoundNode& node : part) {
      for (const SourceRef ref : node.deps) {
        switch (ref.source) {
          case Source::Forward: builder_.depend(forward + ref.index); break;
          case Source::Backward: builder_.depend(base + ref.index); break;
          case Source::StreamIn: builder_.depend(stream(microbatch, at.stream)); break;
          case Source::StreamGrad: builder_.depend(stream_grad_); break;
          case Source::Previous: builder_.depend(previous == 0 ? 0 : previous + ref.index); break;
        }
      }
      if (node.reads_parameters) builder_.depend(sync_.gathered());
      const TraceOp& op = program_.ops[node.op];
      const int32_t message = op.type == chakra::NodeType::Send ? ring_sends_++ : op.type == chakra::NodeType::Recv ? ring_receives_++ : -1;
      builder_.add(node.op, microbatch, at.layer, at.position, -1, message);
    }
  }

  uint32_t next_id() const { return static_cast<uint32_t>(program_.nodes.size() + 1); }

  void forward(int microbatch, int chunk) {
    const Chunk& range = chunks_[static_cast<size_t>(chunk)];
    for (size_t i = range.first; i < range.end; ++i) {
      sync_.enter(microbatch, i, false);
      const uint32_t base = forward_base(microbatch, i) = next_id();
      const BoundSegment& s = bound(i);
      stamp(s.forward, microbatch, i, base, 0);
      sync_.leave(i, false, next_id() > base ? next_id() - 1 : 0);
      const size_t slot = instances_[i].stream;
      stream(microbatch, slot + 1) = s.output >= 0 ? base + static_cast<uint32_t>(s.output) : stream(microbatch, slot);
    }
  }

  void backward(int microbatch, int chunk) {
    const Chunk& range = chunks_[static_cast<size_t>(chunk)];
    if (last_ && range.end == instances_.size()) stream_grad_ = 0;
    for (size_t i = range.end; i-- != range.first;) {
      sync_.enter(microbatch, i, true);
      const uint32_t base = next_id();
      const BoundSegment& s = bound(i);
      stamp(s.backward, microbatch, i, base, backward_base_[i]);
      backward_base_[i] = base;
      if (s.input_grad >= 0) stream_grad_ = base + static_cast<uint32_t>(s.input_grad);
      std::vector<uint32_t> gradients;
      for (const uint32_t node : s.gradients) gradients.push_back(base + node);
      sync_.set_gradients(i, std::move(gradients));
      sync_.leave(i, true, next_id() > base ? next_id() - 1 : 0);
    }
  }

  const Lowering& lowering_;
  const Report& report_;
  const Graph& graph_;
  const StageReport& stage_;
  bool first_, last_;
  RankProgram program_;
  ProgramBuilder builder_;
  SyncLowering sync_;
  std::vector<Instance> instances_;
  std::vector<Chunk> chunks_;
  std::map<int, BoundSegment> bound_;       // by index into Graph::segments
  std::vector<uint32_t> forward_base_, stream_;
  std::vector<uint32_t> backward_base_;     // of the latest microbatch; 0 before the first
  uint32_t stream_grad_ = 0;
  Binding binding_;                         // with the position in the ring
  int32_t ring_sends_ = 0, ring_receives_ = 0;
  Transfer receive_forward_, send_forward_, receive_backward_, send_backward_;
};

}  // namespace

Lowering::Lowering(const Report& report)
    : report_(report), mesh_(degrees_of(report.design), report.design.parallel.order),
      schedule_(make_schedule(report.design.parallel.schedule, static_cast<int>(report.stages.size()),
                              static_cast<int>(report.microbatches),
                              static_cast<int>(report.design.parallel.virtual_stages))) {
  const Graph& graph = report.graph();
  if (differs_by_position(graph)) positions_ = ring_ranks(report.design);
  for (const Segment& segment : graph.segments)
    for (const Op& op : segment.ops)
      if (is_collective(op.kind) && !is_ring(op.kind)) add_role({op.group, false});
  if (const MeshAxes gathered = stage_boundary(graph).gathered; !gathered.empty()) add_role({gathered, false});
  for (size_t s = 0; s < report.stages.size(); ++s) {
    for (const GradReduction& r :
         plan_grad_reduce(graph, s == 0, s + 1 == report.stages.size(), report.stages[s].layers > 0))
      add_role({r.axes, r.embedding_group});
    const StageSync sync = stage_sync(graph, s == 0, s + 1 == report.stages.size(), report.stages[s].layers > 0);
    if (sync.buckets || !sync.units.empty()) add_role({replica_axes(graph.structure), false});
    for (const SyncUnit& unit : sync.units) {
      for (const GradReduction& r : unit.inner) add_role({r.axes, r.embedding_group});
    }
  }
}

void Lowering::add_role(const GroupRole& role) {
  std::vector<int64_t> group = role_group(mesh_, role, 0);
  if (group.size() < 2 || std::find(representatives_.begin(), representatives_.end(), group) != representatives_.end())
    return;
  roles_.push_back(role);
  representatives_.push_back(std::move(group));
}

int Lowering::role_of(const MeshAxes& axes) const {
  const auto it = std::find(representatives_.begin(), representatives_.end(), role_group(mesh_, {axes, false}, 0));
  return it == representatives_.end() ? -1 : static_cast<int>(it - representatives_.begin());
}

int Lowering::embedding_role() const {
  const auto it = std::find(representatives_.begin(), representatives_.end(), role_group(mesh_, {{}, true}, 0));
  return it == representatives_.end() ? -1 : static_cast<int>(it - representatives_.begin());
}

int64_t Lowering::position_of(int64_t rank) const {
  return positions_ == 1 ? 0 : mesh_.coordinate(rank, ring_axes(report_.graph().structure).front());
}

RankProgram Lowering::stage(int stage, bool tensors, std::stop_token stop, int64_t position) const {
  return StageLowering(*this, stage, tensors, position).run(stop);
}

RankProgram lower(const Report& report, int stage, bool tensors) { return Lowering(report).stage(stage, tensors); }

}  // namespace shardscape
