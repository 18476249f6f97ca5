#include "chakra/lower.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "chakra/bound_segment.h"
#include "chakra/node_tensors.h"
#include "chakra/program_builder.h"
#include "chakra/state_tensors.h"
#include "chakra/sync_lower.h"
#include "grad_sync/grad_plan.h"
#include "grad_sync/stage_gradients.h"
#include "graph/carried_tensors.h"
#include "graph/chunk_layers.h"
#include "graph/ring.h"
#include "performance/op_time.h"
#include "plan/rank_mesh.h"
#include "plan/stage_boundary.h"
#include "plan/stage_program.h"
#include "timing/machine_of.h"

namespace shardscape {
namespace {

// Builds the program of one rank class: walks the actions of its stage.
class StageLowering {
 public:
  StageLowering(const Lowering& lowering, int stage, bool tensors, int64_t position,
                const ForwardParts& parts)
      : lowering_(lowering),
        parts_(parts),
        report_(lowering.report()),
        graph_(report_.graph()),
        stage_(report_.stages[static_cast<size_t>(stage)]),
        places_(pipeline_layout(report_.design.parallel)),
        program_of_stage_(stage_program(report_, stage_)),
        instances_(program_of_stage_.layout().instances),
        builder_(program_),
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
    stream_.resize(static_cast<size_t>(lowering.schedule().microbatches) *
                   (instances_.size() + chunks_.size()));
    backward_base_.resize(instances_.size(), 0);
    weight_base_.resize(instances_.size(), 0);
    replay_base_.resize(instances_.size(), 0);
    flags_.resize(instances_.size());
    grads_.resize(static_cast<size_t>(lowering.schedule().microbatches) * chunks_.size());
    stored_.resize(forward_base_.size());
    bind_transfers();
  }

  RankProgram run(const std::stop_token& stop) {
    for (const Action& action : lowering_.schedule().actions[static_cast<size_t>(program_.stage)]) {
      if (stop.stop_requested()) break;
      builder_.begin_action(action_name(action.kind));
      switch (action.kind) {
        case ActionKind::Forward:
        case ActionKind::Backward:
        case ActionKind::BackwardInput:
        case ActionKind::BackwardWeight: run_pass(action); break;
        case ActionKind::ReceiveForward:
          stream(action.microbatch, chunk(action).stream_in) = transfer(chunk(action).receive_forward, action,
                                                                        0, chunk(action).position_in);
          break;
        case ActionKind::SendForward:
          transfer(chunk(action).send_forward, action, stream(action.microbatch, chunk(action).stream_out),
                   chunk(action).position_out);
          break;
        case ActionKind::ReceiveBackward:
          if (stage_.first.tower_alone() && graph_.structure.frozen_tower) break;
          grads(action).out = transfer(chunk(action).receive_backward, action, 0, chunk(action).position_out);
          for (int index = 0; index < static_cast<int>(kMaxCarried); ++index)
            if (chunk(action).carried_out >> index & 1)
              carried_grads_[{action.microbatch, index}] = grads(action).out;
          break;
        case ActionKind::SendBackward:
          if (stage_.first.embedding_alone() && graph_.structure.frozen_tower) break;
          for (int index = 0; index < static_cast<int>(kMaxCarried); ++index)
            if (chunk(action).carried_in >> index & 1)
              builder_.depend(carried_grads_[{action.microbatch, index}]);
          transfer(chunk(action).send_backward, action, grads(action).in, chunk(action).position_in);
          break;
        case ActionKind::GradReduce: sync_.reduce(); break;
        case ActionKind::Optimizer: sync_.optimize(); break;
      }
    }
    lengthen_first_nodes(program_);
    if (lowering_.has_durations()) write_durations(program_);
    if (program_.tensors && !program_.nodes.empty()) add_states(program_, report_, stage_, sync_);
    return std::move(program_);
  }

 private:
  // A transfer between stages: the op of the message, and the op of the gather if the message is split over
  // tp.
  struct Transfer {
    uint32_t op = 0;
    int64_t gather = -1;  // op; -1: none
  };
  // Both ends of a virtual stage along the residual stream.
  struct Chunk {
    size_t stream_in = 0, stream_out = 0;  // slots of stream_
    int32_t position_in = 0, position_out = 0;
    int carried_in = 0, carried_out = 0;  // masks of carried tensors in the messages
    Transfer receive_forward, send_forward, receive_backward, send_backward;
  };
  // Producers of the gradients of a chunk's output and input, for one microbatch.
  struct Grads {
    uint32_t out = 0, in = 0;
  };
  // What later events of the pass need of an event. Run: `node` is its last node, or the node before it if it
  // has none; `output` is the producer of a replayed layer's output. Other events: their node; 0: none.
  struct Result {
    uint32_t node = 0, output = 0;
  };
  // The nodes that an event waits for; 0: none. Which nodes of a Run wait depends on what they read. They
  // wait for the Run before through the producers of the tensors that they read.
  struct Awaited {
    uint32_t ran = 0, gathered = 0, dropped = 0, loaded = 0, stored = 0;
  };
  // First nodes of the parts of a backward, and the producers of the stream and of its gradient.
  struct Bases {
    uint32_t replay = 0, backward = 0, weight = 0, stream_in = 0, stream_grad = 0;
  };

  const Segment& segment(size_t instance) const {
    return graph_.segments[static_cast<size_t>(instances_[instance].segment)];
  }
  const BoundSegment& bound(size_t instance) const {
    return bound_.at({instances_[instance].segment, instances_[instance].of});
  }
  const Chunk& chunk(const Action& action) const { return chunks_[static_cast<size_t>(action.chunk)]; }
  Grads& grads(int microbatch, int64_t chunk) {
    return grads_[static_cast<size_t>(microbatch) * chunks_.size() + static_cast<size_t>(chunk)];
  }
  Grads& grads(const Action& action) { return grads(action.microbatch, action.chunk); }
  StagePlace place(int chunk) const { return {program_.stage, chunk}; }
  // The chunk of a neighbouring virtual stage if it is on this stage, which needs no message; -1: it is not.
  int64_t local_neighbour(std::optional<StagePlace> from) const {
    return from && from->stage == program_.stage ? from->chunk : -1;
  }
  uint32_t& forward_base(int microbatch, size_t instance) {
    return forward_base_[static_cast<size_t>(microbatch) * instances_.size() + instance];
  }
  // The node that copied the saved tensors of the instance to the host; 0: none.
  uint32_t& stored(int microbatch, size_t instance) {
    return stored_[static_cast<size_t>(microbatch) * instances_.size() + instance];
  }
  // The node that produced the residual stream in this slot.
  uint32_t& stream(int microbatch, size_t slot) {
    return stream_[static_cast<size_t>(microbatch) * (instances_.size() + chunks_.size()) + slot];
  }

  void place_segments() {
    const StageLayout& layout = program_of_stage_.layout();
    const size_t tower = tower_instances(graph_, report_.design.model).size();
    for (size_t c = 0; c < layout.chunks.size(); ++c) {
      const StageChunk& of = stage_.chunks[c];
      const StageRange& range = layout.chunks[c];
      Chunk chunk;
      chunk.stream_in = range.first + c;
      chunk.stream_out = range.end + c;
      chunk.position_in = static_cast<int32_t>(static_cast<int64_t>(tower) + 1 + of.first_layer);
      chunk.position_out = chunk.position_in + static_cast<int32_t>(of.layers);
      if (stage_.first.tower_alone()) --chunk.position_out;  // the embedding reads the tokens of images
      if (stage_.first.embedding_alone()) --chunk.position_in;
      chunks_.push_back(chunk);
      for (size_t i = range.first; i < range.end; ++i) stream_slots_.push_back(i + c);
    }
    sync_.plan(layout);
    for (const StageInstance& instance : instances_)
      if (const std::pair key{instance.segment, instance.of}; !bound_.contains(key))
        bound_[key] = bind(instance);
  }

  BoundSegment bind(const StageInstance& instance) {
    const Segment& own = graph_.segments[static_cast<size_t>(instance.segment)];
    if (own.kind != SegmentKind::Head || !parts_.head)
      return bind_segment(lowering_, own, instance.of, binding_, program_, parts_.scale);
    const Report& report = parts_.head->report();
    const auto& all = report.graph().segments;
    const auto head = std::find_if(all.begin(), all.end(),
                                   [](const Segment& s) { return s.kind == SegmentKind::Head; });
    return bind_segment(*parts_.head, *head, instance.of,
                        report.stages[static_cast<size_t>(program_.stage)].binding, program_, parts_.scale);
  }

  // An op of a transfer. The message is the residual stream at the boundary, or its gradient; both ends use
  // the same name. carried: bytes of carried tensors in the message.
  Transfer add_transfer(bool send, bool backward, Peer peer, int64_t bytes, int64_t carried,
                        int gather_role) {
    TraceOp op{.name = std::string(
                   action_name(backward ? (send ? ActionKind::SendBackward : ActionKind::ReceiveBackward)
                                        : (send ? ActionKind::SendForward : ActionKind::ReceiveForward))),
               .type = send ? chakra::NodeType::Send : chakra::NodeType::Recv,
               .comm_size = bytes + carried,
               .peer = peer,
               .backward = backward};
    const NameScope stream = backward ? NameScope::StreamGradIn : NameScope::StreamIn;
    const bool gathers = !send && gather_role >= 0;
    const TraceTensor message{op.name + ".part", NameScope::Microbatch, bytes};
    // A rank sends its part of a split message.
    const int64_t whole = gather_role >= 0 ? bytes * lowering_.role_size(gather_role) : bytes;
    if (program_.tensors)
      (send ? op.inputs : op.outputs).push_back(gathers ? message : TraceTensor{"", stream, whole});
    Transfer out{static_cast<uint32_t>(program_.ops.size())};
    program_.ops.push_back(std::move(op));
    if (!gathers) return out;
    TraceOp gather{.name = program_.ops.back().name + ".gather",
                   .type = chakra::NodeType::Coll,
                   .collective = chakra::CollectiveType::AllGather,
                   .role = gather_role,
                   .comm_size = bytes};
    if (program_.tensors) {
      gather.inputs.push_back(message);
      gather.outputs.push_back({"", stream, whole});
    }
    out.gather = static_cast<int64_t>(program_.ops.size());
    program_.ops.push_back(std::move(gather));
    return out;
  }

  // Both ends of a transfer carry the same residual stream. A stage may have no segment at all.
  void bind_transfers() {
    const StageBoundary boundary = stage_boundary(graph_);
    const int64_t bytes = bound_value(local_bytes(boundary.message), stage_.binding,
                                      "pipeline transfer: bytes");
    const int gather = boundary.gathered.empty() ? -1 : lowering_.role_of(boundary.gathered);
    std::map<std::tuple<bool, bool, Peer, int>, Transfer> made;
    const bool tower = stage_.first.tower_alone(), embedding = stage_.first.embedding_alone();
    const auto transfer = [&](bool send, bool backward, Peer peer, int carried) {
      const auto [at, fresh] = made.try_emplace({send, backward, peer, carried});
      if (fresh && (peer == Peer::NextStage ? tower : embedding)) {
        at->second = add_transfer(
            send, backward, peer,
            bound_value(image_message_bytes(graph_), stage_.binding, "tokens of images: bytes"), 0, -1);
        return at->second;
      }
      const Symbol vectors = send != backward ? vectors_sent_symbol() : vectors_received_symbol();
      if (fresh)
        at->second = add_transfer(send, backward, peer, bytes * stage_.binding.get(vectors).value_or(1),
                                  bound_value(carried_bytes(graph_, carried, backward), stage_.binding,
                                              "pipeline transfer: carried bytes"),
                                  gather);
      return at->second;
    };
    for (size_t c = 0; c < chunks_.size(); ++c) {
      const StagePlace here = place(static_cast<int>(c));
      const StageChunk& of = stage_.chunks[c];
      const int in = chunks_[c].carried_in = embedding ? carried_by_tower(graph_)
                                                       : carried_across(graph_, report_.design.model,
                                                                        of.first_layer),
                out = chunks_[c].carried_out = tower ? carried_by_tower(graph_)
                                                     : carried_across(graph_, report_.design.model,
                                                                      of.first_layer + of.layers);
      if (places_.receives(here)) {
        const Peer above = peer(here, *places_.before(here), true);
        chunks_[c].receive_forward = transfer(false, false, above, in);
        if (!embedding || !graph_.structure.frozen_tower)
          chunks_[c].send_backward = transfer(true, true, above, in);
      }
      if (places_.sends(here)) {
        const Peer below = peer(here, *places_.after(here), false);
        chunks_[c].send_forward = transfer(true, false, below, out);
        if (!tower || !graph_.structure.frozen_tower)
          chunks_[c].receive_backward = transfer(false, true, below, out);
      }
    }
  }

  // Layout Round: the last stage precedes the first stage.
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

  // The producer of the input of a Run.
  uint32_t stream_in(int microbatch, const Event& run) {
    const uint32_t replayed = run.input == kNoEvent ? 0 : results_[run.input].output;
    return replayed != 0 ? replayed : stream(microbatch, stream_slots_[run.instance]);
  }

  // Adds the nodes of a part of a bound segment. previous: first node of the same part in the previous
  // microbatch; 0: none.
  // flags: of the nodes.
  void add_nodes(const std::vector<BoundNode>& part, int microbatch, size_t instance, const Bases& bases,
                 uint32_t previous, const Awaited& waits, uint8_t flags) {
    const StageInstance& at = instances_[instance];
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
          case Source::CarriedGrad:
            builder_.depend(carried_grads_[{microbatch, static_cast<int>(ref.index)}]);
            break;
          case Source::Previous: builder_.depend(previous == 0 ? 0 : previous + ref.index); break;
        }
      }
      const auto reads = [&](Source source) {
        return std::any_of(node.deps.begin(), node.deps.end(),
                           [&](SourceRef ref) { return ref.source == source; });
      };
      if (reads(Source::Forward) || reads(Source::StreamIn)) builder_.depend(waits.loaded);
      if (reads(Source::StreamIn)) builder_.depend(waits.dropped);
      if (node.reads_parameters) builder_.depend(waits.gathered);
      const TraceOp& op = program_.ops[node.op];
      const int32_t message = op.type == chakra::NodeType::Send   ? ring_sends_++
                              : op.type == chakra::NodeType::Recv ? ring_receives_++
                                                                  : -1;
      add(node.op, microbatch, at, message);
      program_.nodes.back().flags = static_cast<uint8_t>(flags | (previous == 0 ? kFirstOfStep : 0));
    }
  }

  // Flags of a Run that replays a layer, or whose input a replay made.
  uint8_t flags_of(const Event& event, std::span<const Event> events) const {
    const auto number = static_cast<uint32_t>(&event - events.data());
    uint8_t out = event.input != kNoEvent && results_[event.input].output != 0 ? kReplayedInput : 0;
    if (event.part == LayerPart::Replay && std::any_of(events.begin(), events.end(), [&](const Event& next) {
          return next.kind == EventKind::Run && next.input == number;
        }))
      out |= kPassesOutput;
    return out;
  }

  uint32_t next_id() const { return static_cast<uint32_t>(program_.nodes.size() + 1); }

  uint32_t add(uint32_t op, int microbatch, const StageInstance& at, int32_t message = -1) {
    const int64_t number = at.copy >= 0 ? at.copy : at.layer;
    return builder_.add(op, microbatch, static_cast<int32_t>(number), static_cast<int32_t>(at.position), -1,
                        message);
  }

  // Passes on the stream or the gradient from a neighbouring virtual stage on the same stage, without a
  // message.
  void pass_on(const Action& action) {
    const auto from = action.kind == ActionKind::Forward ? places_.before(place(action.chunk))
                                                         : places_.after(place(action.chunk));
    const int64_t other = local_neighbour(from);
    if (action.kind == ActionKind::Forward) {
      if (other >= 0)
        stream(action.microbatch, chunk(action).stream_in) = stream(
            action.microbatch, chunks_[static_cast<size_t>(other)].stream_out);
    } else if (other >= 0) {
      grads(action).out = grads(action.microbatch, other).in;
    }
  }

  // events: of the pass, up to this event at least.
  Awaited waits_of(int microbatch, const Event& event, std::span<const Event> events) {
    Awaited out;
    for (const Wait& wait : program_of_stage_.waits(event)) {
      switch (wait.kind) {
        case WaitKind::Event: add_wait(events[wait.event].kind, results_[wait.event].node, out); break;
        case WaitKind::Input: break;  // nodes wait for the producers of the tensors that they read
        case WaitKind::Stored: out.stored = stored(microbatch, event.instance); break;
        case WaitKind::EarlierRun: out.ran = last_run_; break;
        // The gather that the stage waited for last, of any instance. The BackwardInput, whose results the
        // weight gradients read, has waited for the gather of this instance.
        case WaitKind::EarlierGather: out.gathered = sync_.gathered(); break;
      }
    }
    return out;
  }

  // node: of an event of this kind.
  static void add_wait(EventKind kind, uint32_t node, Awaited& out) {
    switch (kind) {
      case EventKind::Gather:
        if (node != 0) out.gathered = node;  // the later of two gathers
        break;
      case EventKind::Run: out.ran = node; break;
      case EventKind::Store: out.stored = node; break;
      case EventKind::Drop: out.dropped = node; break;
      case EventKind::Load: out.loaded = node; break;
      case EventKind::Release: break;
    }
  }

  // Adds the nodes of one action, event by event in the order of the stage program.
  void run_pass(const Action& action) {
    const int microbatch = action.microbatch;
    const bool split = action.kind == ActionKind::BackwardInput,
               weights_only = action.kind == ActionKind::BackwardWeight;
    if (!weights_only) pass_on(action);
    // Producer of the gradient of the stream at the present instance.
    uint32_t stream_grad = weights_only ? 0 : grads(action).out;
    // First node of the present instance's forward or backward.
    uint32_t begin = 0;
    Bases bases;
    const std::span<const Event> events = program_of_stage_.pass(action);
    results_.assign(events.size(), {});
    for (size_t e = 0; e < events.size(); ++e) {
      const Event& event = events[e];
      const size_t i = event.instance;
      const Awaited waits = waits_of(microbatch, event, events);
      Result& result = results_[e];
      switch (event.kind) {
        case EventKind::Gather:
          result.node = event.part == LayerPart::Replay
                            ? sync_.enter_replay(microbatch, i)
                            : sync_.enter(microbatch, i, event.part == LayerPart::Backward);
          break;
        case EventKind::Run:
          if (event.part == LayerPart::Forward)
            begin = forward(microbatch, event, waits);
          else if (event.part == LayerPart::Replay)
            result.output = replay(microbatch, event, waits, flags_of(event, events));
          else if (event.part == LayerPart::Backward)
            bases = backward(microbatch, event, waits, flags_of(event, events), stream_grad);
          else
            begin = weights(microbatch, i, waits,
                            weights_only ? deferred_.extract({microbatch, i}).mapped() : bases);
          if (event.part == LayerPart::Backward && split) deferred_[{microbatch, i}] = bases;
          result.node = last_run_ = next_id() - 1;
          break;
        case EventKind::Release:
          if (event.part == LayerPart::Replay)
            sync_.leave_replay(i);
          else
            sync_.leave(microbatch, i, event.part == LayerPart::Backward, waits.ran >= begin ? waits.ran : 0);
          break;
        case EventKind::Store: result.node = store(microbatch, i, waits); break;
        case EventKind::Drop: result.node = waits.stored; break;
        case EventKind::Load: result.node = load(microbatch, i, waits); break;
      }
    }
    if (!weights_only && action.kind != ActionKind::Forward) grads(action).in = stream_grad;
    if (action.kind != ActionKind::Forward && !split && adds_gradients_after_pass(graph_))
      sync_.add_to_buffer(program_of_stage_.range(action));
  }

  // Adds the forward of an instance; returns its first node.
  uint32_t forward(int microbatch, const Event& event, const Awaited& waits) {
    const size_t instance = event.instance;
    const uint32_t base = forward_base(microbatch, instance) = next_id();
    const BoundSegment& s = bound(instance);
    add_nodes(s.forward, microbatch, instance, {.stream_in = stream_in(microbatch, event)}, 0, waits, 0);
    const size_t slot = stream_slots_[instance];
    stream(microbatch, slot + 1) = s.output >= 0 ? base + static_cast<uint32_t>(s.output)
                                                 : stream(microbatch, slot);
    return base;
  }

  // Adds the backward of an instance. stream_grad, in: producer of the gradient of the output; out: producer
  // of the gradient of the input. Returns the first nodes of the parts.
  Bases backward(int microbatch, const Event& event, const Awaited& waits, uint8_t flags,
                 uint32_t& stream_grad) {
    const size_t instance = event.instance;
    const BoundSegment& s = bound(instance);
    const Bases bases{replay_base_[instance], next_id(), 0, stream_in(microbatch, event), stream_grad};
    add_nodes(s.backward, microbatch, instance, bases, backward_base_[instance], waits, flags);
    flags_[instance] = flags;
    backward_base_[instance] = bases.backward;
    if (s.input_grad >= 0) stream_grad = bases.backward + static_cast<uint32_t>(s.input_grad);
    for (const auto& [index, node] : s.carried_grads)
      carried_grads_[{microbatch, index}] = bases.backward + static_cast<uint32_t>(node);
    return bases;
  }

  // Adds the weight gradients of an instance; returns the first node of its backward.
  uint32_t weights(int microbatch, size_t instance, const Awaited& waits, Bases bases) {
    const BoundSegment& s = bound(instance);
    bases.weight = next_id();
    add_nodes(s.weight, microbatch, instance, bases, weight_base_[instance], waits, flags_[instance]);
    weight_base_[instance] = bases.weight;
    std::vector<uint32_t> gradients;
    std::vector<NamedTensor> tensors;
    for (const SourceRef node : s.gradients) {
      gradients.push_back((node.source == Source::Weight ? bases.weight : bases.backward) + node.index);
      add_gradients(gradients.back(), tensors);
    }
    sync_.set_gradients(instance, std::move(gradients), std::move(tensors));
    return bases.backward;
  }

  // The gradients of parameters that a node makes, or to which it adds.
  void add_gradients(uint32_t id, std::vector<NamedTensor>& out) const {
    const TraceNode& node = program_.nodes[id - 1];
    for (const auto* tensors : {&program_.ops[node.op].inputs, &program_.ops[node.op].outputs})
      for (const TraceTensor& t : *tensors)
        if (t.use == TensorUse::Gradient || t.use == TensorUse::Accumulated)
          out.push_back(named_tensor(program_, node, t));
  }

  // Replays a layer of a recompute group. Returns the producer of its output.
  uint32_t replay(int microbatch, const Event& event, const Awaited& waits, uint8_t flags) {
    const size_t i = event.instance;
    const uint32_t base = replay_base_[i] = next_id();
    const uint32_t input = stream_in(microbatch, event);
    const BoundSegment& s = bound(i);
    builder_.begin_replay();
    add_nodes(s.replay, microbatch, i, {.replay = base, .stream_in = input}, 0, waits, flags);
    builder_.end_replay();
    return s.replayed_output >= 0 ? base + static_cast<uint32_t>(s.replayed_output) : input;
  }

  // Copies saved tensors to the host and back. Layers that save nothing have no copy (0).
  uint32_t store(int microbatch, size_t instance, const Awaited& waits) {
    const BoundSegment& s = bound(instance);
    if (s.store < 0) return 0;
    builder_.depend(waits.ran);
    return stored(microbatch, instance) = add(static_cast<uint32_t>(s.store), microbatch,
                                              instances_[instance]);
  }

  uint32_t load(int microbatch, size_t instance, const Awaited& waits) {
    const BoundSegment& s = bound(instance);
    if (s.load < 0) return 0;
    builder_.depend(waits.stored);
    builder_.depend(waits.ran);
    return add(static_cast<uint32_t>(s.load), microbatch, instances_[instance]);
  }

  const Lowering& lowering_;
  const ForwardParts& parts_;
  const Report& report_;
  const Graph& graph_;
  const StageReport& stage_;
  const PipelineLayout places_;
  const StageProgram program_of_stage_;
  const std::vector<StageInstance>& instances_;
  RankProgram program_;
  ProgramBuilder builder_;
  SyncLowering sync_;
  std::vector<Chunk> chunks_;
  // By index into Graph::segments and class of layer.
  std::map<std::pair<int, LayerClass>, BoundSegment> bound_;
  std::vector<uint32_t> forward_base_, stream_;
  std::vector<uint32_t> backward_base_, weight_base_;  // of the latest microbatch; 0 before the first
  std::vector<uint8_t> flags_;                         // of the latest backward, by instance
  std::vector<uint32_t> replay_base_;                  // of the latest replay
  std::vector<uint32_t> stored_;                       // by microbatch and instance
  std::vector<Result> results_;                        // of the events of the present pass
  std::vector<Grads> grads_;                           // by microbatch and chunk
  // by microbatch, instance: for the deferred weight gradients
  std::map<std::pair<int, size_t>, Bases> deferred_;
  Binding binding_;  // includes the ring position
  // By instance: slot of its input stream. The next slot is its output stream.
  std::vector<size_t> stream_slots_;
  // By microbatch and index of a carried tensor: the latest producer of its gradient; 0: none.
  std::map<std::pair<int, int>, uint32_t> carried_grads_;
  uint32_t last_run_ = 0;  // last node of the latest Run
  int32_t ring_sends_ = 0, ring_receives_ = 0;
};

}  // namespace

RankProgram Lowering::stage(int stage, bool tensors, std::stop_token stop, int64_t position,
                            const ForwardParts& parts) const {
  return StageLowering(*this, stage, tensors, position, parts).run(stop);
}

RankProgram lower(const Report& report, int stage, bool tensors) {
  return Lowering(report).stage(stage, tensors);
}

}  // namespace shardscape
