#include "timing/step_simulator.h"

#include <algorithm>
#include <limits>

#include "graph/carried_tensors.h"
#include "memory/segment_memories.h"
#include "mesh/pipeline_layout.h"
#include "performance/collective_time.h"
#include "performance/op_time.h"
#include "pipeline/peak_candidates.h"
#include "plan/stage_boundary.h"

namespace shardscape {

namespace {

// Vectors per token in a message of the stage to the next one.
double sent_vectors(const Report& report, const StageReport& stage) {
  const Graph& graph = report.graph();
  if (stage.last || graph.structure.vectors == 0) return 1;
  return number(
      message_vectors(graph, report.design.model, stage.chunks.front().first_layer, stage.layers, true),
      report.binding);
}

// Bytes of the carried tensors in a message of the stage to the next one: the mean over its virtual stages.
double carried_bytes(const Report& report, const StageReport& stage) {
  Expr out;
  for (const StageChunk& chunk : stage.chunks)
    out += carried_bytes(report.graph(), carried_across(report.graph(), report.design.model,
                                                        chunk.first_layer + chunk.layers));
  if (out.is_zero()) return 0;
  return number(out, report.stages.front().binding) / static_cast<double>(stage.chunks.size());
}

// Seconds of GEMMs and attention, which are slower with fewer processors.
double gemms_and_attention(const PartSeconds& part) {
  return part.categories[static_cast<size_t>(TimeCategory::MatrixProducts)] +
         part.categories[static_cast<size_t>(TimeCategory::Attention)];
}

}  // namespace

StepSimulator::StepSimulator(const Report& report, int64_t microbatches, const Machine& machine,
                             LayerTable& table, Timeline& timeline)
    : report_(report),
      machine_(machine),
      host_waits_for_passes_(profile_of(report.graph()).host_waits_for_passes),
      costs_(report, machine),
      timeline_(timeline) {
  const Boundary& boundary = table.boundary();
  struct Known {  // most messages have the same span
    GroupSpan span;
    double vectors, carried;
    Message message;
  };
  std::vector<Known> known;
  const auto stages = static_cast<int64_t>(report.stages.size());
  for (int64_t s = 0; s < stages && stages > 1; ++s) {
    const DeviceMesh& mesh = costs_.mesh();
    const GroupSpan span = span_of(
        {mesh.with(0, MeshAxis::Pp, s), mesh.with(0, MeshAxis::Pp, (s + 1) % stages)}, machine.network);
    const StageReport& stage = report.stages[static_cast<size_t>(s)];
    const bool images = stage.first.tower_alone();
    const double vectors = images ? 0 : sent_vectors(report, stage),
                 carried = images ? boundary.image_bytes : carried_bytes(report, stage);
    auto it = std::find_if(known.begin(), known.end(), [&](const Known& one) {
      return one.span == span && one.vectors == vectors && one.carried == carried;
    });
    if (it == known.end()) {
      const double bytes = boundary.message_bytes * vectors + carried;
      const CollectiveEstimate of = collective_estimate(machine, CollectiveKind::SendRecv, bytes, span);
      const LinkShare share = link_share(machine, of);
      it = known.insert(
          it, {span, vectors, carried, {of.seconds, {share.scaleup * of.seconds, share.nic * of.seconds}}});
    }
    messages_.push_back(it->message);
  }
  if (!boundary.gathered.empty())
    gather_seconds_ = costs_.collective(CollectiveKind::AllGather, boundary.stream_bytes, boundary.gathered);
  for (const StageReport& stage : report.stages) {
    auto timed = programs_.find(stage.representative);
    if (timed == programs_.end()) {
      timed = programs_
                  .emplace(stage.representative,
                           TimedProgram{stage_program(
                                            report, report.stages[static_cast<size_t>(stage.representative)]),
                                        {}})
                  .first;
      for (const StageInstance& instance : timed->second.program.layout().instances)
        timed->second.seconds.push_back(&table.at(instance.segment, instance.of));
    }
    Stage& of = stages_.emplace_back(Stage{timed->second, nullptr, {}, {}});
    // Tokens of images, and their gradient, are not split over tp.
    const ModelStart& start = stage.first;
    of.gather_forward = start.tower_alone() || start.embedding_alone() ? 0 : gather_seconds_;
    of.gather_backward = start.tower_alone() ? 0 : gather_seconds_;
    const StageLayout& layout = of.timed.program.layout();
    const LinkShare links = mean_links(stage.stage, of.timed);
    equal_stages_.push_back(first_equal(stage, links));
    const int equal = equal_stages_.back();
    const auto as = [&](int other) {
      return std::make_unique<SyncSimulator>(*stages_[static_cast<size_t>(other)].sync, stage.stage);
    };
    if (equal < stage.stage) {
      of.sync = as(equal);
    } else if (stage.representative < stage.stage) {
      of.sync = as(stage.representative);
      of.sync->set_links(links);
    } else {
      of.sync = std::make_unique<SyncSimulator>(costs_, stage, microbatches, timeline);
      of.sync->plan(layout);
      of.sync->set_links(links);
    }
    of.sync->begin();
    if (std::any_of(of.timed.seconds.begin(), of.timed.seconds.end(),
                    [](const LayerSeconds* i) { return i->host_bytes > 0; }))
      of.stored.assign(layout.instances.size() * static_cast<size_t>(microbatches), kNoNode);
  }
}

// The first stage of the same class whose messages take the same share of the links.
int StepSimulator::first_equal(const StageReport& stage, const LinkShare& links) const {
  for (int other = stage.representative; other < stage.stage; ++other)
    if (report_.stages[static_cast<size_t>(other)].representative == stage.representative &&
        stages_[static_cast<size_t>(other)].sync->links() == links)
      return other;
  return stage.stage;
}

// Mean share of the links while the layers of a stage run: of the collectives of the layers, and of the
// messages that the stage sends for one microbatch on each of its chunks.
LinkShare StepSimulator::mean_links(int stage, const TimedProgram& timed) const {
  LinkShare links;
  double seconds = 0;
  for (const LayerSeconds* instance : timed.seconds)
    for (const PartSeconds& part : instance->parts) {
      links += part.links;
      seconds += part.seconds;
    }
  const PipelineLayout places = pipeline_layout(report_.design.parallel);
  for (int64_t chunk = 0; chunk < places.chunks && !messages_.empty(); ++chunk) {
    const StagePlace at{stage, chunk};
    for (const auto& to : {places.after(at), places.before(at)})
      if (to && to->stage != stage && message(stage, static_cast<int>(to->stage)) > 0)
        links += messages_[between(stage, static_cast<int>(to->stage))].busy;
  }
  return seconds > 0 ? LinkShare{links.scaleup / seconds, links.nic / seconds} : LinkShare{};
}

NodeId StepSimulator::compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) {
  Stage& of = stages_[static_cast<size_t>(stage)];
  const At at{timeline, of, stage, action};
  of.sync->begin_action();
  switch (action.kind) {
    case ActionKind::Forward: return run_pass(at, arrived, SpanKind::Forward);
    case ActionKind::Backward: return run_pass(at, arrived, SpanKind::Backward);
    case ActionKind::BackwardInput: return run_pass(at, arrived, SpanKind::BackwardInput);
    case ActionKind::BackwardWeight: return run_pass(at, kNoNode, SpanKind::BackwardWeight);
    case ActionKind::GradReduce: of.sync->reduce(); return kNoNode;
    case ActionKind::ReceiveForward:
    case ActionKind::SendForward:
    case ActionKind::ReceiveBackward:
    case ActionKind::SendBackward:
    case ActionKind::Optimizer: return kNoNode;  // the caller handles messages; finish() runs the optimizer
  }
  return kNoNode;
}

// The expert exchanges of one action overlap with the computation of the other (DeepSeek-AI, arXiv
// 2412.19437, section 3.2.1), in the order of paired_passes.h. Exchange kernels occupy processors (section
// 3.2.2: 20 of 132), so matrix products and attention are slower while they run. The time that the pair takes
// longer than its computation is exposed.
void StepSimulator::overlap(int stage, const Action& forward, const Action& backward) {
  Stage& of = stages_[static_cast<size_t>(stage)];
  double exchanged = 0, hidden = 0;
  PartSeconds computed;
  for (const Action* action : {&forward, &backward}) {
    const PartSeconds seconds = seconds_of(of, *action);
    const double experts = seconds.categories[static_cast<size_t>(TimeCategory::ExpertComm)];
    exchanged += experts;
    hidden += seconds.hidden;
    computed.seconds += seconds.seconds - experts;
    for (size_t c = 0; c < computed.categories.size(); ++c) computed.categories[c] += seconds.categories[c];
  }
  of.overlap.gemms = slowdown_by_collectives(computed, exchanged, report_.design.parallel.dispatch_sms);
  const double slowed_compute = computed.seconds + (of.overlap.gemms - 1) * gemms_and_attention(computed);
  // Compute that hides exchanges inside of its own layer hides no others meanwhile.
  const double pair = hidden > 0 ? exchanged + hidden
                                 : paired_seconds(paired_layers(of, forward), paired_layers(of, backward));
  of.overlap.exchanges = exchanged > 0 ? std::max(0.0, pair - slowed_compute) / exchanged : 1;
}

// The layers of an action with the slowdown of the stage's pair. The replay of a layer runs with its second
// backward phase; waits for the host are spread over the first phase.
std::vector<PairedLayer> StepSimulator::paired_layers(const Stage& stage, const Action& action) const {
  std::vector<PairedLayer> out;
  std::vector<size_t> instances;
  for (const Event& event : stage.timed.program.pass(action)) {
    if (event.kind != EventKind::Run) continue;
    auto at = std::find(instances.begin(), instances.end(), event.instance);
    if (at == instances.end()) {
      at = instances.insert(at, event.instance);
      out.emplace_back();
    }
    PairedLayer& layer = out[static_cast<size_t>(at - instances.begin())];
    const PartSeconds& part = stage.seconds(event);
    const ExpertPhases& phases = part.phases;
    const auto slowed = [&](size_t phase) {
      return phases.compute[phase] + (stage.overlap.gemms - 1) * phases.gemms[phase];
    };
    layer.before += part.categories[static_cast<size_t>(TimeCategory::Host)];
    switch (event.part) {
      case Part::Weight:
        layer.expert_weights += slowed(1);
        layer.other_weights += slowed(2);
        break;
      case Part::Replay:
        for (const size_t phase : {0, 1, 2}) layer.after += slowed(phase);
        layer.first += phases.exchange[0] + phases.exchange[1];
        break;
      case Part::Forward:
      case Part::Backward:
        layer.before += slowed(0);
        layer.experts += slowed(1);
        layer.after += slowed(2);
        layer.first += phases.exchange[0];
        layer.second += phases.exchange[1];
        break;
    }
  }
  return out;
}

// Slowdown of matrix products while communication kernels occupy `taken` processors for `communication`
// seconds.
double StepSimulator::slowdown_by_collectives(const PartSeconds& computed, double communication,
                                              int64_t taken) const {
  const double slower = slower_share(machine_, taken);
  if (slower == 0) return 1;
  const double slowed = computed.seconds +
                        slower * gemms_and_attention(computed);  // if communication ran all the time
  return slowed > 0 ? 1 + slower * std::min(1.0, communication / slowed) : 1;
}

PartSeconds StepSimulator::seconds_of(const Stage& stage, const Action& action) const {
  PartSeconds out;
  for (const Event& event : stage.timed.program.pass(action)) {
    if (event.kind != EventKind::Run) continue;
    const PartSeconds& part = stage.seconds(event);
    out.seconds += part.seconds;
    out.hidden += part.hidden;
    for (size_t c = 0; c < out.categories.size(); ++c) out.categories[c] += part.categories[c];
  }
  return out;
}

// A node ends after it has run, and not before the host has launched it (Timeline::append). Both limits are
// sums over the nodes of the action; the later one counts.
ActionDuration StepSimulator::action_duration(int stage, const Action& action) {
  ActionDuration out;
  out.behind_launch = -std::numeric_limits<double>::infinity();
  const Stage& of = stages_[static_cast<size_t>(stage)];
  for (const Event& event : of.timed.program.pass(action)) {
    if (event.kind != EventKind::Run) continue;
    const PartSeconds& part = slowed_seconds(of.seconds(event),
                                             action.overlapped ? of.overlap : OverlapSlowdown{});
    out.seconds += part.seconds;
    out.exposed += communication(part.categories);
    if (part.host() > 0) {
      out.behind_launch = std::max(out.behind_launch, out.host) + part.seconds;
      out.host += part.host();
      out.behind_launch = std::max(out.behind_launch, out.host);
    } else {
      out.behind_launch += part.seconds;
    }
  }
  return out;
}

bool StepSimulator::has_fsdp_units() const {
  return std::any_of(stages_.begin(), stages_.end(),
                     [](const Stage& stage) { return stage.sync->has_units(); });
}

ActionTransfer StepSimulator::action_transfer(int stage, const Action& action, bool message,
                                              SyncSimulator::Units& units) {
  Stage& of = stages_[static_cast<size_t>(stage)];
  const auto checkpoint = timeline_.checkpoint(stage);
  const DryRun dry_run(*of.sync);
  timeline_.resume(stage, 0, 0);
  const auto before = [&](StreamKind stream) { return timeline_.add_external(stage, stream, 0, 0); };
  const NodeId computed = before(StreamKind::Compute), sent = before(StreamKind::DataComm),
               arrived = message ? before(StreamKind::PipelineComm) : kNoNode;
  dry_run.begin(units);
  const ActionTransfer::SimulatedAction simulated{
      timeline_, timeline_.nodes().size(), computed, sent, arrived, waits_};
  waits_.clear();
  timeline_.record_dependencies(&waits_);
  compute(timeline_, stage, action, arrived);
  timeline_.record_dependencies(nullptr);
  const ActionTransfer out(simulated);
  units = of.sync->units();
  timeline_.undo(stage, checkpoint);
  return out;
}

bool StepSimulator::microbatches_repeat() const {
  return std::none_of(stages_.begin(), stages_.end(), [](const Stage& stage) {
    return stage.sync->every_microbatch() ||
           std::any_of(stage.timed.seconds.begin(), stage.timed.seconds.end(),
                       [](const LayerSeconds* layer) { return layer->host_bytes > 0; });
  });
}

bool StepSimulator::last_pass_has_sync(int stage, int chunk, bool backward) const {
  const Stage& of = stages_[static_cast<size_t>(stage)];
  if (backward) return of.sync->last_backward_has_sync();
  const StageLayout& layout = of.timed.program.layout();
  const StageRange& range = layout.chunks[static_cast<size_t>(chunk)];
  return range.end > range.first && layout.instances[range.end - 1].segment == report_.graph().head() &&
         !loss_group(report_.graph()).empty();
}

const PartSeconds& StepSimulator::slowed_seconds(const PartSeconds& part, const OverlapSlowdown& overlap) {
  if (overlap == OverlapSlowdown{}) return part;
  const auto [it, fresh] = slowed_.try_emplace({&part, overlap}, part);
  if (!fresh) return it->second;
  PartSeconds& out = it->second;
  for (size_t c = 0; c < out.categories.size(); ++c) {
    const double by = overlap.factor(static_cast<TimeCategory>(c));
    out.seconds += (by - 1) * out.categories[c];
    out.categories[c] *= by;
  }
  return out;
}

Node StepSimulator::node(At at, SpanKind kind, StreamKind stream) const {
  Node out;
  out.stage = at.number;
  out.stream = stream;
  out.kind = kind;
  out.microbatch = at.action.microbatch;
  out.chunk = at.action.chunk;
  return out;
}

NodeId StepSimulator::run(At at, const Event& event, SpanKind kind) {
  const PartSeconds& whole = at.stage.seconds(event);
  OverlapSlowdown overlap = at.action.overlapped ? at.stage.overlap : OverlapSlowdown{};
  if (const double collectives = at.stage.sync->concurrent_seconds();
      collectives > 0 && !at.action.overlapped)
    overlap.gemms = slowdown_by_collectives(whole, collectives, machine_.accelerator->collective_processors);
  const PartSeconds& seconds = slowed_seconds(whole, overlap);
  at.stage.sync->layer_ran(seconds.seconds);
  Node made = node(at, kind, StreamKind::Compute);
  made.parts = &seconds;
  const NodeId id = at.timeline.add(made, seconds.seconds, after_);
  if (recorded_layers_) recorded_layers_->push_back({id, event.instance, event.part, overlap});
  return id;
}

NodeId StepSimulator::gather_message(At at, SpanKind kind, NodeId arrived) {
  const double seconds = gather_seconds(at.number, kind == SpanKind::Forward);
  if (arrived == kNoNode || seconds == 0) return arrived;
  Node made = node(at, kind, StreamKind::Compute);
  made.category = TimeCategory::TensorComm;
  return at.timeline.add(made, seconds, {arrived});
}

NodeId StepSimulator::node_of(At at, const Event& event, const Wait& wait, NodeId input) const {
  switch (wait.kind) {
    case WaitKind::Event: return ended_[wait.event];
    case WaitKind::Input: return input;
    case WaitKind::Stored: return at.stage.stored.empty() ? kNoNode : stored(at, event.instance);
    // The gather of a message runs on this stream too, before the first Run of the pass.
    case WaitKind::EarlierRun: return at.timeline.last(at.number, StreamKind::Compute);
    // The BackwardInput waited for it on the same stream.
    case WaitKind::EarlierGather: return kNoNode;
  }
  return kNoNode;
}

// The events of one action, in the order of the stage program.
NodeId StepSimulator::run_pass(At at, NodeId arrived, SpanKind kind) {
  SyncSimulator& sync = *at.stage.sync;
  const StageProgram& program = at.stage.timed.program;
  const int microbatch = at.action.microbatch;
  if (host_waits_for_passes_) at.timeline.synchronize(at.number);
  const NodeId input = gather_message(at, kind, arrived);
  const std::span<const Event> events = program.pass(at.action);
  ended_.assign(events.size(), kNoNode);
  NodeId last = input;
  for (size_t e = 0; e < events.size(); ++e) {
    const Event& event = events[e];
    after_.clear();
    for (const Wait& wait : program.waits(event)) after_.push_back(node_of(at, event, wait, input));
    switch (event.kind) {
      case EventKind::Gather:
        if (event.part == LayerPart::Replay)
          ended_[e] = sync.enter_replay(microbatch, event.instance);
        else
          ended_[e] = sync.enter(microbatch, event.instance, event.part != LayerPart::Forward);
        break;
      case EventKind::Run:
        // Weight gradients without time of their own belong to the backward before them.
        if (event.part != LayerPart::Weight || at.stage.seconds(event).seconds != 0)
          last = run(at, event, event.part == LayerPart::Replay ? SpanKind::Recompute : kind);
        ended_[e] = last;
        break;
      case EventKind::Release:
        if (event.part == LayerPart::Replay)
          sync.leave_replay(event.instance);
        else
          sync.leave(microbatch, event.instance, event.part != LayerPart::Forward, after_.front());
        break;
      case EventKind::Store: ended_[e] = store(at, event.instance); break;
      case EventKind::Drop: ended_[e] = after_.front(); break;
      case EventKind::Load: ended_[e] = load(at, event.instance); break;
    }
  }
  return last;
}

NodeId& StepSimulator::stored(At at, size_t instance) const {
  return at.stage
      .stored[static_cast<size_t>(at.action.microbatch) * at.stage.timed.seconds.size() + instance];
}

// Copies to the host and back. Layers that save nothing have nothing to copy.
NodeId StepSimulator::store(At at, size_t instance) {
  const double bytes = at.stage.timed.seconds[instance]->host_bytes;
  if (bytes == 0) return kNoNode;
  Node made = node(at, SpanKind::Store, StreamKind::Host);
  made.category = TimeCategory::Host;
  return stored(at, instance) = at.timeline.add(made, bytes / (machine_.host_gbps * 1e9), after_);
}

NodeId StepSimulator::load(At at, size_t instance) {
  const double bytes = at.stage.timed.seconds[instance]->host_bytes;
  if (bytes == 0) return kNoNode;
  Node made = node(at, SpanKind::Load, StreamKind::HostLoad);
  made.category = TimeCategory::Host;
  return at.timeline.add(made, bytes / (machine_.host_gbps * 1e9), after_);
}

void StepSimulator::finish() {
  if (!report_.graph().structure.trains()) return;
  const auto all = [&] {
    std::vector<NodeId> out;
    for (const Stage& stage : stages_) out.push_back(stage.sync->reduced());
    return out;
  };
  SyncSimulator &first = *stages_.front().sync, &last = *stages_.back().sync;
  if (const double bytes = first.embedding_bytes(); bytes > 0 && stages_.size() > 1) {
    const std::vector<NodeId> both{first.reduced(), last.reduced()};
    for (SyncSimulator* end : {&first, &last})
      end->all_reduce("all-reduce of the tied embedding",
                      {Phase::GradReduce, CollectiveKind::AllReduce, "embedding", first.paired_dtype()},
                      costs_.all_reduce_mirrored(bytes, 0), both);
  }
  for (size_t low = 0, high = stages_.size() - 1; low < high; ++low, --high) {
    const double bytes = stages_[low].sync->mirror_bytes();
    if (bytes == 0) continue;
    const std::vector<NodeId> both{stages_[low].sync->reduced(), stages_[high].sync->reduced()};
    for (const size_t s : {low, high})
      stages_[s].sync->all_reduce(
          "all-reduce of mirrored stages",
          {Phase::GradReduce, CollectiveKind::AllReduce, "mirror", stages_[s].sync->paired_dtype()},
          costs_.all_reduce_mirrored(bytes, static_cast<int64_t>(low)), both);
  }
  for (Stage& stage : stages_) stage.sync->norm();
  for (const MeshAxes& axes : norm_groups(report_.graph())) {
    const bool crosses = std::find(axes.begin(), axes.end(), MeshAxis::Pp) != axes.end();
    const double seconds = costs_.collective(CollectiveKind::AllReduce, dtype_bytes(DType::FP32), axes);
    const std::string group = group_name(axes);
    const std::vector<NodeId> waits = all();
    for (size_t s = 0; s < stages_.size(); ++s)
      stages_[s].sync->all_reduce("all-reduce of the norm",
                                  {Phase::Step, CollectiveKind::AllReduce, group, DType::FP32}, seconds,
                                  crosses ? waits : std::vector<NodeId>{waits[s]});
  }
  for (Stage& stage : stages_) stage.sync->optimize();
}

}  // namespace shardscape
