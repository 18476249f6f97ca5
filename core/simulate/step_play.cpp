#include "simulate/step_play.h"

#include <algorithm>
#include <limits>

#include "machine/collective_time.h"
#include "machine/op_time.h"
#include "schedule/moments.h"

namespace shardscape {

StageLayout stage_layout(const Report& report, const StageReport& stage, LayerTable& table) {
  StageLayout out = stage_layout(report, stage);
  for (StageInstance& instance : out.instances) instance.seconds = &table.at(instance.segment, instance.of);
  return out;
}

namespace {

// Of the links, over the seconds of all parts of all layers of a stage.
LinkShare mean_links(const StageLayout& layout) {
  LinkShare links;
  double seconds = 0;
  for (const StageInstance& instance : layout.instances)
    for (const PartSeconds& part : instance.seconds->parts) {
      links += part.links;
      seconds += part.seconds;
    }
  return seconds > 0 ? LinkShare{links.scaleup / seconds, links.nic / seconds} : LinkShare{};
}

// Of what is slower where it has fewer processors.
double products(const PartSeconds& part) {
  double out = 0;
  for (size_t c = 0; c < part.categories.size(); ++c) out += (1 - Beside{1, 0}.factor(static_cast<TimeCategory>(c))) * part.categories[c];
  return out;
}

}  // namespace

StepPlay::StepPlay(const Report& report, const Machine& machine, LayerTable& table, Timeline& timeline)
    : report_(report), machine_(machine), costs_(report, machine), timeline_(timeline) {
  const Boundary& boundary = table.boundary();
  std::vector<std::pair<GroupSpan, double>> known;  // most messages span the same
  const auto stages = static_cast<int64_t>(report.stages.size());
  for (int64_t s = 0; s < stages && stages > 1; ++s) {
    const DeviceMesh& mesh = costs_.mesh();
    const GroupSpan span = span_of({mesh.with(0, MeshAxis::Pp, s), mesh.with(0, MeshAxis::Pp, (s + 1) % stages)}, machine.network);
    auto it = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == span; });
    if (it == known.end()) it = known.insert(it, {span, collective_seconds(machine, CollectiveKind::SendRecv, boundary.message_bytes, span)});
    messages_.push_back(it->second);
  }
  if (!boundary.gathered.empty())
    gather_seconds_ = costs_.collective(SyncOp::AllGather, boundary.stream_bytes, boundary.gathered);
  for (const StageReport& stage : report.stages) {
    auto layout = layouts_.find(stage.like);
    if (layout == layouts_.end()) layout = layouts_.emplace(stage.like, stage_layout(report, report.stages[static_cast<size_t>(stage.like)], table)).first;
    Stage& of = stages_.emplace_back(Stage{layout->second, nullptr, {}, {}});
    if (stage.like < stage.stage) {
      of.sync = std::make_unique<SyncPlay>(*stages_[static_cast<size_t>(stage.like)].sync, stage.stage);
    } else {
      of.sync = std::make_unique<SyncPlay>(costs_, stage, timeline);
      for (size_t c = 0; c < of.layout.chunks.size(); ++c)
        for (size_t i = of.layout.chunks[c].first; i < of.layout.chunks[c].end; ++i)
          of.sync->add_instance(of.layout.instances[i].segment, of.layout.instances[i].layer >= 0, static_cast<int>(c));
      of.sync->plan();
      of.sync->set_links(mean_links(of.layout));
    }
    of.sync->begin();
    of.loaded.assign(of.layout.instances.size(), kNoNode);
    if (std::any_of(of.layout.instances.begin(), of.layout.instances.end(), [](const StageInstance& i) { return i.seconds->host_bytes > 0; }))
      of.stored.assign(of.layout.instances.size() * static_cast<size_t>(report.microbatches), kNoNode);
  }
}

NodeId StepPlay::compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) {
  Stage& of = stages_[static_cast<size_t>(stage)];
  const At at{timeline, of, stage, action};
  of.sync->begin_action();
  switch (action.kind) {
    case ActionKind::Forward: return forward(at, arrived);
    case ActionKind::Backward: return backward(at, arrived, true);
    case ActionKind::BackwardInput: return backward(at, arrived, false);
    case ActionKind::BackwardWeight: return weights(at);
    case ActionKind::GradReduce: of.sync->reduce(); return kNoNode;
    default: return kNoNode;  // the optimizer, in finish
  }
}

// The exchanges of experts in one run while the other computes, and the other way round (DeepSeek-AI, arXiv 2412.19437, section
// 3.2.1): together they take as long as the larger of all that is computed and all that is exchanged. The kernels of the exchange keep
// processors to themselves (section 3.2.2: 20 of 132), so that products and attention are slower while it runs.
void StepPlay::overlap(int stage, const Action& forward, const Action& backward) {
  Stage& of = stages_[static_cast<size_t>(stage)];
  double exchanged = 0;
  PartSeconds computed;
  for (const Action* action : {&forward, &backward}) {
    const PartSeconds seconds = seconds_of(of, *action);
    const double experts = seconds.categories[static_cast<size_t>(TimeCategory::ExpertComm)];
    exchanged += experts;
    computed.seconds += seconds.seconds - experts;
    for (size_t c = 0; c < computed.categories.size(); ++c) computed.categories[c] += seconds.categories[c];
  }
  of.beside.products = stretch_beside(computed, exchanged, report_.design.parallel.dispatch_sms);
  const double all_beside = computed.seconds + (of.beside.products - 1) * products(computed);
  of.beside.exchanges = exchanged > 0 ? std::max(0.0, exchanged - all_beside) / exchanged : 1;
}

// How much longer products take where kernels of communication keep processors to themselves for so many seconds.
double StepPlay::stretch_beside(const PartSeconds& computed, double communication, int64_t taken) const {
  const int64_t all = machine_.accelerator->processors;
  if (all <= taken || taken == 0) return 1;
  const double slower = static_cast<double>(taken) / static_cast<double>(all - taken);
  const double slowed = computed.seconds + slower * products(computed);  // if communication went on all the time
  return slowed > 0 ? 1 + slower * std::min(1.0, communication / slowed) : 1;
}

// The parts of an action in their order.
template <typename Seen>
void StepPlay::each_part(const Stage& stage, const Action& action, const Seen& seen) {
  const StageRange& range = stage.layout.chunks[static_cast<size_t>(action.chunk)];
  const auto part = [&](size_t i, Part which) { seen(stage.layout.instances[i].seconds->of(which)); };
  if (action.kind == ActionKind::Forward) {
    for (size_t i = range.first; i < range.end; ++i) part(i, Part::Forward);
    return;
  }
  for (size_t i = range.end; i-- != range.first;) {
    const StageInstance& at = stage.layout.instances[i];
    if (action.kind != ActionKind::BackwardWeight) {
      if (at.ends_group)
        for (size_t r = at.group; r <= i; ++r) part(r, Part::Replay);
      part(i, Part::Backward);
    }
    if (action.kind != ActionKind::BackwardInput) part(i, Part::Weight);
  }
}

PartSeconds StepPlay::seconds_of(const Stage& stage, const Action& action) const {
  PartSeconds out;
  each_part(stage, action, [&](const PartSeconds& part) {
    out.seconds += part.seconds;
    for (size_t c = 0; c < out.categories.size(); ++c) out.categories[c] += part.categories[c];
  });
  return out;
}

// A node ends when it has run, and no earlier than the host has launched it (Timeline::append): of nodes in a row both are sums, and
// the later one counts.
Stretch StepPlay::stretch(int stage, const Action& action) const {
  Stretch out;
  out.behind_launch = -std::numeric_limits<double>::infinity();
  each_part(stages_[static_cast<size_t>(stage)], action, [&](const PartSeconds& part) {
    out.seconds += part.seconds;
    out.exposed += communication(part.categories);
    if (part.host > 0) {
      out.behind_launch = std::max(out.behind_launch, out.host) + part.seconds;
      out.host += part.host;
      out.behind_launch = std::max(out.behind_launch, out.host);
    } else {
      out.behind_launch += part.seconds;
    }
  });
  return out;
}

bool StepPlay::gathers_units() const {
  return std::any_of(stages_.begin(), stages_.end(), [](const Stage& stage) { return stage.sync->has_units(); });
}

GatheredStretch StepPlay::gathered_stretch(int stage, const Action& action, bool message, SyncPlay::Units& units) {
  Stage& of = stages_[static_cast<size_t>(stage)];
  const auto checkpoint = timeline_.checkpoint(stage);
  const Rehearsal rehearsal(*of.sync);
  timeline_.resume(stage, 0, 0);
  const auto before = [&](StreamKind stream) { return timeline_.elsewhere(stage, stream, 0, 0); };
  const NodeId computed = before(StreamKind::Compute), sent = before(StreamKind::DataComm), arrived = message ? before(StreamKind::PipelineComm) : kNoNode;
  rehearsal.begin(units);
  const GatheredStretch::Play play{timeline_, timeline_.nodes().size(), computed, sent, arrived, waits_};
  waits_.clear();
  timeline_.note_waits(&waits_);
  compute(timeline_, stage, action, arrived);
  timeline_.note_waits(nullptr);
  const GatheredStretch out(play);
  units = of.sync->units();
  timeline_.undo(stage, checkpoint);
  return out;
}

bool StepPlay::microbatches_alike() const {
  const bool overlaps = runs_pairs(report_.design.parallel);
  for (const Stage& stage : stages_) {
    if (stage.sync->every_microbatch()) return false;
    for (const StageInstance& i : stage.layout.instances) {
      if (i.seconds->host_bytes > 0) return false;
      for (const PartSeconds& part : i.seconds->parts)
        if (overlaps && part.categories[static_cast<size_t>(TimeCategory::ExpertComm)] > 0) return false;
    }
  }
  return true;
}

bool StepPlay::ends(int stage, int chunk, bool backward) const {
  const Stage& of = stages_[static_cast<size_t>(stage)];
  if (backward) return of.sync->ends();
  const StageRange& range = of.layout.chunks[static_cast<size_t>(chunk)];
  return range.end > range.first && of.layout.instances[range.end - 1].segment == report_.graph().head() && !loss_group(report_.graph()).empty();
}

const PartSeconds& StepPlay::beside_other(const PartSeconds& part, const Beside& beside) {
  const auto [it, fresh] = beside_.try_emplace({&part, beside}, part);
  if (!fresh) return it->second;
  PartSeconds& out = it->second;
  for (size_t c = 0; c < out.categories.size(); ++c) {
    const double by = beside.factor(static_cast<TimeCategory>(c));
    out.seconds += (by - 1) * out.categories[c];
    out.categories[c] *= by;
  }
  return out;
}

Node StepPlay::node(At at, SpanKind kind, StreamKind stream) const {
  Node out;
  out.stage = at.number;
  out.stream = stream;
  out.kind = kind;
  out.microbatch = at.action.microbatch;
  out.chunk = at.action.chunk;
  return out;
}

NodeId StepPlay::run(At at, size_t instance, Part part, SpanKind kind, std::initializer_list<NodeId> after) {
  const PartSeconds& whole = at.stage.layout.instances[instance].seconds->of(part);
  Beside beside = at.action.overlapped ? at.stage.beside : Beside{};
  if (const double collectives = at.stage.sync->beside(); collectives > 0 && !at.action.overlapped)
    beside.products = stretch_beside(whole, collectives, machine_.accelerator->collective_processors);
  const PartSeconds& seconds = beside == Beside{} ? whole : beside_other(whole, beside);
  at.stage.sync->ran(seconds.seconds);
  Node made = node(at, kind, StreamKind::Compute);
  made.parts = &seconds;
  const NodeId id = at.timeline.add(made, seconds.seconds, after);
  if (noted_) noted_->push_back({id, instance, part, beside});
  return id;
}

NodeId StepPlay::gather_message(At at, SpanKind kind, NodeId arrived) {
  if (arrived == kNoNode || gather_seconds_ == 0) return arrived;
  Node made = node(at, kind, StreamKind::Compute);
  made.category = TimeCategory::TensorComm;
  return at.timeline.add(made, gather_seconds_, {arrived});
}

NodeId StepPlay::forward(At at, NodeId arrived) {
  NodeId last = gather_message(at, SpanKind::Forward, arrived);
  const StageRange& range = at.stage.layout.chunks[static_cast<size_t>(at.action.chunk)];
  for (size_t i = range.first; i < range.end; ++i) {
    const NodeId gathered = at.stage.sync->enter(at.action.microbatch, i, false);
    last = run(at, i, Part::Forward, SpanKind::Forward, {last, gathered});
    at.stage.sync->leave(at.action.microbatch, i, false, last);
    const double bytes = at.stage.layout.instances[i].seconds->host_bytes;
    if (bytes == 0) continue;
    Node store = node(at, SpanKind::Store, StreamKind::Host);
    store.category = TimeCategory::Host;
    at.stage.stored[static_cast<size_t>(at.action.microbatch) * at.stage.layout.instances.size() + i] =
        at.timeline.add(store, bytes / (machine_.host_gbps * 1e9), {last});
  }
  return last;
}

NodeId StepPlay::backward(At at, NodeId arrived, bool whole) {
  const SpanKind kind = whole ? SpanKind::Backward : SpanKind::BackwardInput;
  NodeId last = gather_message(at, kind, arrived);
  const std::vector<StageInstance>& instances = at.stage.layout.instances;
  const StageRange& range = at.stage.layout.chunks[static_cast<size_t>(at.action.chunk)];
  NodeId behind = kNoNode;
  for (size_t i = range.end; i-- != range.first;) {
    const StageInstance& here = instances[i];
    const NodeId gathered = at.stage.sync->enter(at.action.microbatch, i, true);
    // One layer ahead, once the one behind is done.
    const size_t group = here.ends_group || here.of.keeps == Keeps::Activations ? here.group : i;
    load(at, group, behind == kNoNode ? last : kNoNode);
    if (group == here.group && group > range.first) load(at, instances[group - 1].group, behind);
    if (here.ends_group)
      for (size_t r = here.group; r <= i; ++r) {
        const NodeId whole = at.stage.sync->enter_replay(at.action.microbatch, r);
        last = run(at, r, Part::Replay, SpanKind::Recompute, {last, gathered, whole, at.stage.loaded[r]});
        if (r < i) at.stage.sync->leave_replay(r);
      }
    last = run(at, i, Part::Backward, kind, {last, gathered, at.stage.loaded[i]});
    if (whole) last = weights(at, i, kind, last);
    at.stage.loaded[i] = kNoNode;
    behind = last;
  }
  return last;
}

NodeId StepPlay::weights(At at, size_t instance, SpanKind kind, NodeId after) {
  const bool some = at.stage.layout.instances[instance].seconds->of(Part::Weight).seconds > 0;
  const NodeId last = some ? run(at, instance, Part::Weight, kind, {after}) : after;
  at.stage.sync->leave(at.action.microbatch, instance, true, last);
  return last;
}

// Those that a backward has left.
NodeId StepPlay::weights(At at) {
  const StageRange& range = at.stage.layout.chunks[static_cast<size_t>(at.action.chunk)];
  NodeId last = kNoNode;
  for (size_t i = range.end; i-- != range.first;) last = weights(at, i, SpanKind::BackwardWeight, last);
  return last;
}

// From the host, unless it is there already.
void StepPlay::load(At at, size_t instance, NodeId after) {
  const double bytes = at.stage.layout.instances[instance].seconds->host_bytes;
  if (bytes == 0 || at.stage.loaded[instance] != kNoNode) return;
  Node made = node(at, SpanKind::Load, StreamKind::HostLoad);
  made.category = TimeCategory::Host;
  const NodeId stored = at.stage.stored[static_cast<size_t>(at.action.microbatch) * at.stage.layout.instances.size() + instance];
  at.stage.loaded[instance] = at.timeline.add(made, bytes / (machine_.host_gbps * 1e9), {stored, after});
}

void StepPlay::finish() {
  if (!report_.graph().structure.trains()) return;
  const auto all = [&] {
    std::vector<NodeId> out;
    for (const Stage& stage : stages_) out.push_back(stage.sync->reduced());
    return out;
  };
  SyncPlay &first = *stages_.front().sync, &last = *stages_.back().sync;
  if (const double bytes = first.embedding_bytes(); bytes > 0 && stages_.size() > 1) {
    const std::vector<NodeId> both{first.reduced(), last.reduced()};
    for (SyncPlay* end : {&first, &last}) end->all_reduce("all-reduce of the tied embedding", costs_.all_reduce_ends(bytes), both);
  }
  for (size_t low = 0, high = stages_.size() - 1; low < high; ++low, --high) {
    const double bytes = stages_[low].sync->mirror_bytes();
    if (bytes == 0) continue;
    const std::vector<NodeId> both{stages_[low].sync->reduced(), stages_[high].sync->reduced()};
    for (const size_t s : {low, high})
      stages_[s].sync->all_reduce("all-reduce of mirrored stages", costs_.all_reduce_pair(bytes, static_cast<int64_t>(low), static_cast<int64_t>(high)), both);
  }
  for (Stage& stage : stages_) stage.sync->norm();
  for (const MeshAxes& axes : norm_groups(report_.graph())) {
    const bool crosses = std::find(axes.begin(), axes.end(), MeshAxis::Pp) != axes.end();
    const double seconds = costs_.collective(SyncOp::AllReduce, dtype_bytes(DType::FP32), axes);
    const std::vector<NodeId> waits = all();
    for (size_t s = 0; s < stages_.size(); ++s)
      stages_[s].sync->all_reduce("all-reduce of the norm", seconds, crosses ? waits : std::vector<NodeId>{waits[s]});
  }
  for (Stage& stage : stages_) stage.sync->optimize();
}

}  // namespace shardscape
