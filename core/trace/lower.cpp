#include "trace/lower.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "cost/grad_plan.h"
#include "cost/stage_boundary.h"
#include "graph/chunk_layers.h"
#include "graph/ring.h"
#include "machine/op_time.h"
#include "report/rank_mesh.h"
#include "simulate/machine_of.h"
#include "trace/bound_segment.h"
#include "trace/program_builder.h"
#include "trace/sync_lower.h"

namespace shardscape {
namespace {

// Walks the actions of one stage.
class StageLowering {
 public:
  StageLowering(const Lowering& lowering, int stage, bool tensors, int64_t position)
      : lowering_(lowering), report_(lowering.report()), graph_(report_.graph()),
        stage_(report_.stages[static_cast<size_t>(stage)]), places_(pipeline_layout(report_.design.parallel)), builder_(program_),
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
    weight_base_.resize(instances_.size(), 0);
    replay_base_.resize(instances_.size(), 0);
    grads_.resize(static_cast<size_t>(lowering.schedule().microbatches) * chunks_.size());
    stream_again_.resize(instances_.size(), 0);
    loaded_.resize(instances_.size(), 0);
    stored_.resize(forward_base_.size());
    bind_transfers();
  }

  RankProgram run(const std::stop_token& stop) {
    for (const Action& action : lowering_.schedule().actions[static_cast<size_t>(program_.stage)]) {
      if (stop.stop_requested()) break;
      builder_.begin_action();
      switch (action.kind) {
        case ActionKind::Forward: forward(action.microbatch, action.chunk); break;
        case ActionKind::Backward: backward(action.microbatch, action.chunk, true); break;
        case ActionKind::BackwardInput: backward(action.microbatch, action.chunk, false); break;
        case ActionKind::BackwardWeight: weights(action.microbatch, action.chunk); break;
        case ActionKind::ReceiveForward:
          stream(action.microbatch, chunk(action).stream_in) = transfer(chunk(action).receive_forward, action, 0, chunk(action).position_in);
          break;
        case ActionKind::SendForward:
          transfer(chunk(action).send_forward, action, stream(action.microbatch, chunk(action).stream_out), chunk(action).position_out);
          break;
        case ActionKind::ReceiveBackward:
          grads(action).out = transfer(chunk(action).receive_backward, action, 0, chunk(action).position_out);
          break;
        case ActionKind::SendBackward: transfer(chunk(action).send_backward, action, grads(action).in, chunk(action).position_in); break;
        case ActionKind::GradReduce: sync_.reduce(); break;
        case ActionKind::Optimizer: sync_.optimize(); break;
      }
    }
    if (lowering_.has_durations()) write_durations();
    return std::move(program_);
  }

 private:
  struct Instance {
    int segment = 0;      // index into Graph::segments
    int32_t layer = -1;
    int32_t position = 0;
    size_t stream = 0;    // slot of the stream into it; the next one is the stream out of it
    LayerClass of{};
    size_t group = 0;     // first instance of the group that is replayed with it, itself where it is not recomputed
    bool ends_group = false;
  };
  // How messages between stages go: the transfer, and the gather of what was scattered.
  struct Transfer {
    uint32_t op = 0;
    int64_t gather = -1;  // op
  };
  // The instances of one virtual stage, and where it lies along the residual stream.
  struct Chunk {
    size_t first = 0, end = 0;               // range of instances_
    size_t stream_in = 0, stream_out = 0;    // slots
    int32_t position_in = 0, position_out = 0;
    Transfer receive_forward, send_forward, receive_backward, send_backward;
  };
  // What produced the gradients of a chunk's output and of its input, for one microbatch.
  struct Grads {
    uint32_t out = 0, in = 0;
  };
  // Where the parts of a backward begin, and what they read from outside.
  struct Bases {
    uint32_t replay = 0, backward = 0, weight = 0, stream_in = 0, stream_grad = 0;
  };

  const Segment& segment(size_t instance) const {
    return graph_.segments[static_cast<size_t>(instances_[instance].segment)];
  }
  const BoundSegment& bound(size_t instance) const { return bound_.at({instances_[instance].segment, instances_[instance].of}); }
  const Chunk& chunk(const Action& action) const { return chunks_[static_cast<size_t>(action.chunk)]; }
  Grads& grads(int microbatch, int64_t chunk) { return grads_[static_cast<size_t>(microbatch) * chunks_.size() + static_cast<size_t>(chunk)]; }
  Grads& grads(const Action& action) { return grads(action.microbatch, action.chunk); }
  StagePlace place(int chunk) const { return {program_.stage, chunk}; }
  // A neighbour along the model on this very stage, which hands its result over; -1 without one.
  int64_t handed_over(std::optional<StagePlace> from) const { return from && from->stage == program_.stage ? from->chunk : -1; }
  uint32_t& forward_base(int microbatch, size_t instance) {
    return forward_base_[static_cast<size_t>(microbatch) * instances_.size() + instance];
  }
  // The node that has put what the instance keeps on the host.
  uint32_t& stored(int microbatch, size_t instance) {
    return stored_[static_cast<size_t>(microbatch) * instances_.size() + instance];
  }
  // What produced the stream in this slot.
  uint32_t& stream(int microbatch, size_t slot) {
    return stream_[static_cast<size_t>(microbatch) * (instances_.size() + chunks_.size()) + slot];
  }

  void place_segments() {
    const int64_t layers = report_.design.model.layers;
    for (size_t c = 0; c < stage_.chunks.size(); ++c) {
      const StageChunk& of = stage_.chunks[c];
      Chunk chunk;
      chunk.first = instances_.size();
      chunk.stream_in = chunk.first + c;
      chunk.position_in = static_cast<int32_t>(1 + of.first_layer);
      chunk.position_out = chunk.position_in + static_cast<int32_t>(of.layers);
      const auto add = [&](int segment, int32_t layer, int64_t position) {
        instances_.push_back({segment, layer, static_cast<int32_t>(position), instances_.size() + c});
        sync_.add_instance(segment, layer, static_cast<int32_t>(position), static_cast<int>(c));
        instances_.back().group = instances_.size() - 1;
      };
      if (places_.first(place(static_cast<int>(c)))) add(0, -1, 0);
      const size_t first_layer = instances_.size();
      for (const ChunkLayer& layer : chunk_layers(graph_, report_.design, of.first_layer, of.layers)) {
        add(layer.segment, static_cast<int32_t>(of.first_layer + layer.index), 1 + of.first_layer + layer.index);
        instances_.back().of = {layer.keeps, layer.offloaded};
        instances_.back().group = first_layer + static_cast<size_t>(layer.begin);
        instances_.back().ends_group = layer.ends_group();
      }
      if (places_.last(place(static_cast<int>(c)))) add(graph_.head(), -1, 1 + layers);
      chunk.end = instances_.size();
      chunk.stream_out = chunk.end + c;
      chunks_.push_back(chunk);
    }
    sync_.plan();
    for (const Instance& instance : instances_) {
      if (const std::pair key{instance.segment, instance.of}; !bound_.contains(key))
        bound_[key] = bind_segment(lowering_, graph_.segments[static_cast<size_t>(instance.segment)], instance.of,
                                   binding_, program_);
    }
  }

  // Both ends of a transfer carry what the upstream stage's last segment puts out.
  Transfer add_transfer(bool send, bool backward, Peer peer, int64_t bytes, int gather_role) {
    TraceOp op{.name = std::string(action_name(backward ? (send ? ActionKind::SendBackward : ActionKind::ReceiveBackward)
                                                        : (send ? ActionKind::SendForward : ActionKind::ReceiveForward))),
               .type = send ? chakra::NodeType::Send : chakra::NodeType::Recv,
               .comm_size = bytes, .peer = peer, .backward = backward};
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
    std::map<std::tuple<bool, bool, Peer>, Transfer> made;
    const auto transfer = [&](bool send, bool backward, Peer peer) {
      const auto [at, fresh] = made.try_emplace({send, backward, peer});
      if (fresh) at->second = add_transfer(send, backward, peer, bytes, gather);
      return at->second;
    };
    for (size_t c = 0; c < chunks_.size(); ++c) {
      const StagePlace here = place(static_cast<int>(c));
      if (places_.receives(here)) {
        const Peer above = peer(here, *places_.before(here), true);
        chunks_[c].receive_forward = transfer(false, false, above);
        chunks_[c].send_backward = transfer(true, true, above);
      }
      if (places_.sends(here)) {
        const Peer below = peer(here, *places_.after(here), false);
        chunks_[c].send_forward = transfer(true, false, below);
        chunks_[c].receive_backward = transfer(false, true, below);
      }
    }
  }

  // Round the pipeline the last stage comes before the first.
  Peer peer(StagePlace here, StagePlace other, bool above) const {
    const bool previous = places_.layout == ChunkLayout::Round ? above : other.stage < here.stage;
    return previous ? Peer::PreviousStage : Peer::NextStage;
  }

  uint32_t transfer(const Transfer& transfer, const Action& action, uint32_t producer, int32_t position) {
    const int chunk = chunks_.size() > 1 ? upstream_chunk(places_, action, program_.stage) : -1;
    builder_.depend(producer);
    const uint32_t moved = builder_.add(transfer.op, action.microbatch, -1, position, chunk);
    if (transfer.gather < 0) return moved;
    builder_.depend(moved);
    return builder_.add(static_cast<uint32_t>(transfer.gather), action.microbatch, -1, position, chunk);
  }

  // The input of an instance whose replay begins or has begun: as it came, or as the layer before has made it again.
  uint32_t stream_in(int microbatch, size_t instance) {
    return stream_again_[instance] != 0 ? stream_again_[instance] : stream(microbatch, instances_[instance].stream);
  }

  // What rounding leaves of a node is the next one's, so that sums are right to a microsecond.
  void write_durations() {
    constexpr double kPerSecond = 1e6;
    double left = 0;
    for (const TraceNode& node : program_.nodes) {
      left += program_.ops[node.op].seconds * kPerSecond;
      const double whole = std::max(0.0, std::round(left));
      program_.durations.push_back(static_cast<uint32_t>(whole));
      left -= whole;
    }
  }

  // previous: where the same part of the microbatch before begins.
  void stamp(const std::vector<BoundNode>& part, int microbatch, size_t instance, const Bases& bases, uint32_t previous) {
    const Instance& at = instances_[instance];
    const uint32_t forward = forward_base(microbatch, instance);
    for (const BoundNode& node : part) {
      for (const SourceRef ref : node.deps) {
        switch (ref.source) {
          case Source::Forward: builder_.depend(forward + ref.index); break;
          case Source::Replay: builder_.depend(bases.replay + ref.index); break;
          case Source::Backward: builder_.depend(bases.backward + ref.index); break;
          case Source::Weight: builder_.depend(bases.weight + ref.index); break;
          case Source::StreamIn: builder_.depend(bases.stream_in); break;
          case Source::StreamGrad: builder_.depend(bases.stream_grad); break;
          case Source::Previous: builder_.depend(previous == 0 ? 0 : previous + ref.index); break;
        }
      }
      // What waited on the host.
      const bool reads_kept = std::any_of(node.deps.begin(), node.deps.end(), [](SourceRef ref) { return ref.source == Source::Forward || ref.source == Source::StreamIn; });
      if (reads_kept) builder_.depend(loaded_[instance]);
      if (node.reads_parameters) builder_.depend(sync_.gathered());
      const TraceOp& op = program_.ops[node.op];
      const int32_t message = op.type == chakra::NodeType::Send ? ring_sends_++ : op.type == chakra::NodeType::Recv ? ring_receives_++ : -1;
      builder_.add(node.op, microbatch, at.layer, at.position, -1, message);
    }
  }

  uint32_t next_id() const { return static_cast<uint32_t>(program_.nodes.size() + 1); }

  void forward(int microbatch, int chunk) {
    const Chunk& range = chunks_[static_cast<size_t>(chunk)];
    if (const int64_t before = handed_over(places_.before(place(chunk))); before >= 0)
      stream(microbatch, range.stream_in) = stream(microbatch, chunks_[static_cast<size_t>(before)].stream_out);
    for (size_t i = range.first; i < range.end; ++i) {
      sync_.enter(microbatch, i, false);
      const uint32_t base = forward_base(microbatch, i) = next_id();
      const BoundSegment& s = bound(i);
      stamp(s.forward, microbatch, i, {.stream_in = stream_in(microbatch, i)}, 0);
      sync_.leave(microbatch, i, false, next_id() > base ? next_id() - 1 : 0);
      if (s.store >= 0) {
        builder_.depend(base + static_cast<uint32_t>(s.forward.size()) - 1);
        stored(microbatch, i) = builder_.add(static_cast<uint32_t>(s.store), microbatch, instances_[i].layer, instances_[i].position);
      }
      const size_t slot = instances_[i].stream;
      stream(microbatch, slot + 1) = s.output >= 0 ? base + static_cast<uint32_t>(s.output) : stream(microbatch, slot);
    }
  }

  // whole: with the gradients of weights.
  void backward(int microbatch, int chunk, bool whole) {
    const Chunk& range = chunks_[static_cast<size_t>(chunk)];
    Grads& at_ends = grads(microbatch, chunk);
    if (const int64_t after = handed_over(places_.after(place(chunk))); after >= 0) at_ends.out = grads(microbatch, after).in;
    uint32_t stream_grad = at_ends.out;  // of the instance at hand
    uint32_t behind = 0;  // the last node of the instance before, of the one whose room a load takes
    for (size_t i = range.end; i-- != range.first;) {
      sync_.enter(microbatch, i, true);
      // One layer ahead, once the one behind is done.
      const size_t group = instances_[i].ends_group || instances_[i].of.keeps == Keeps::Activations ? instances_[i].group : i;
      load(microbatch, group, 0);
      if (group == instances_[i].group && group > range.first) load(microbatch, instances_[group - 1].group, behind);
      if (instances_[i].ends_group) replay(microbatch, instances_[i].group, i);
      const BoundSegment& s = bound(i);
      const Bases bases{replay_base_[i], next_id(), 0, stream_in(microbatch, i), stream_grad};
      stamp(s.backward, microbatch, i, bases, backward_base_[i]);
      backward_base_[i] = bases.backward;
      if (s.input_grad >= 0) stream_grad = bases.backward + static_cast<uint32_t>(s.input_grad);
      if (whole)
        weights(microbatch, i, bases);
      else
        waiting_[{microbatch, i}] = bases;
      stream_again_[i] = loaded_[i] = 0;
      behind = next_id() - 1;
    }
    at_ends.in = stream_grad;
  }

  // The gradients of weights that an earlier backward has left.
  void weights(int microbatch, int chunk) {
    const Chunk& range = chunks_[static_cast<size_t>(chunk)];
    for (size_t i = range.end; i-- != range.first;) weights(microbatch, i, waiting_.extract({microbatch, i}).mapped());
  }

  void weights(int microbatch, size_t instance, Bases bases) {
    const BoundSegment& s = bound(instance);
    bases.weight = next_id();
    stamp(s.weight, microbatch, instance, bases, weight_base_[instance]);
    weight_base_[instance] = bases.weight;
    std::vector<uint32_t> gradients;
    for (const SourceRef node : s.gradients) gradients.push_back((node.source == Source::Weight ? bases.weight : bases.backward) + node.index);
    sync_.set_gradients(instance, std::move(gradients));
    sync_.leave(microbatch, instance, true, next_id() > bases.backward ? next_id() - 1 : 0);
  }

  // From the host, unless it is there already.
  void load(int microbatch, size_t instance, uint32_t after) {
    const BoundSegment& s = bound(instance);
    if (s.load < 0 || loaded_[instance] != 0) return;
    builder_.depend(stored(microbatch, instance));
    builder_.depend(after);
    loaded_[instance] = builder_.add(static_cast<uint32_t>(s.load), microbatch, instances_[instance].layer, instances_[instance].position);
  }

  // The layers of a group run again, each on what the one before has made.
  void replay(int microbatch, size_t first, size_t last) {
    for (size_t i = first; i <= last; ++i) {
      sync_.enter_replay(microbatch, i);
      const uint32_t base = replay_base_[i] = next_id();
      const BoundSegment& s = bound(i);
      stamp(s.replay, microbatch, i, {.replay = base, .stream_in = stream_in(microbatch, i)}, 0);
      if (i < last) sync_.leave_replay(i);
      if (i < last) stream_again_[i + 1] = s.output_again >= 0 ? base + static_cast<uint32_t>(s.output_again) : stream_in(microbatch, i);
    }
  }

  const Lowering& lowering_;
  const Report& report_;
  const Graph& graph_;
  const StageReport& stage_;
  const PipelineLayout places_;
  RankProgram program_;
  ProgramBuilder builder_;
  SyncLowering sync_;
  std::vector<Instance> instances_;
  std::vector<Chunk> chunks_;
  std::map<std::pair<int, LayerClass>, BoundSegment> bound_;  // by index into Graph::segments and class of layer
  std::vector<uint32_t> forward_base_, stream_;
  std::vector<uint32_t> backward_base_, weight_base_;  // of the latest microbatch; 0 before the first
  std::vector<uint32_t> replay_base_;       // of the latest replay
  std::vector<uint32_t> stream_again_;      // input made by a replay; 0: none
  std::vector<uint32_t> stored_;            // of every microbatch
  std::vector<uint32_t> loaded_;            // the load for the backward at hand; 0: none
  std::vector<Grads> grads_;                // of every microbatch and chunk
  std::map<std::pair<int, size_t>, Bases> waiting_;  // microbatch, instance: for the gradients of weights
  Binding binding_;                         // with the position in the ring
  int32_t ring_sends_ = 0, ring_receives_ = 0;
};

}  // namespace

Lowering::Lowering(const Report& report, bool durations)
    : report_(report), mesh_(mesh_of(report)),
      schedule_(make_schedule(report.design.parallel, static_cast<int>(report.microbatches))) {
  const Graph& graph = report.graph();
  if (durations) {
    machine_ = machine_of(report.design);
    seconds_ = op_seconds(report, *machine_);
  }
  if (differs_by_position(graph)) positions_ = ring_ranks(report.design);
  for (const Segment& segment : graph.segments)
    for (const Op& op : segment.ops)
      if (is_collective(op.kind) && !is_ring(op.kind)) add_role({op.group, false});
  if (const MeshAxes gathered = stage_boundary(graph).gathered; !gathered.empty()) add_role({gathered, false});
  for (const StageReport& s : report.stages) {
    for (const GradReduction& r : plan_grad_reduce(graph, s.first, s.last, s.layers > 0)) add_role({r.axes, r.embedding_group, r.mirror});
    const StageSync sync = stage_sync(graph, s.first, s.last, s.layers > 0);
    for (const SyncRow& row : sync.rows) add_role({row.axes, false});
    for (const SyncUnit& unit : sync.units) {
      for (const GradReduction& r : unit.inner) add_role({r.axes, r.embedding_group, r.mirror});
    }
  }
  for (const MeshAxes& axes : norm_groups(graph)) add_role({axes, false});
  if (const MeshAxes axes = loss_group(graph); !axes.empty()) add_role({axes, false});
}

const OpTime& Lowering::time_of(const Segment& segment, OpId op) const {
  return seconds_.ops[static_cast<size_t>(&segment - &report_.graph().segments.front())][static_cast<size_t>(op)];
}

double Lowering::seconds_of(const Segment& segment, OpId op) const {
  return machine_ ? time_of(segment, op).seconds - time_of(segment, op).exposed : 0;
}

double Lowering::packing_seconds(const Segment& segment, OpId op) const {
  return machine_ && !is_communication(time_of(segment, op).category) ? seconds_of(segment, op) : 0;
}

double Lowering::seconds_of_bytes(double bytes) const { return machine_ && bytes > 0 ? memory_bound_seconds(*machine_, bytes) : 0; }

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

int Lowering::pair_role(bool mirror) const {
  const auto it = std::find(representatives_.begin(), representatives_.end(), role_group(mesh_, {{}, !mirror, mirror}, 0));
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
