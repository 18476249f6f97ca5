#include "ui/selection/resolved_selection.h"

#include <algorithm>
#include <utility>

#include "memory/memory_timeline.h"
#include "timing/machine_of.h"
#include "timing/op_seconds.h"
#include "ui/selection/step_relations.h"

namespace shardscape::ui {
namespace {

// The op whose seconds count for this op. The GEMMs of a kernel share one op. Other ops of the kernel count
// for themselves, so that the time of GEMMs marks no pointwise ops.
OpId gemm_or_op(const Segment& segment, OpId id) {
  return segment.op(id).kind == OpKind::Einsum ? timed_op(segment, id) : id;
}

bool is_sync(Phase phase) {
  return phase == Phase::GradReduce || phase == Phase::ParamGather || phase == Phase::Step;
}
uint32_t bit_of_time(TimeCategory category) { return 1u << static_cast<unsigned>(category); }
// For an op with its own seconds. Of the ops of one kernel, only the first has seconds.
uint32_t times_of(const OpTime& time) {
  return (time.seconds > 0 ? bit_of_time(time.category) : 0) |
         (time.exposed > 0 ? bit_of_time(time.waits) : 0);
}

}  // namespace

ResolvedSelection::ResolvedSelection(const Selection& selection, std::shared_ptr<const Report> report,
                                     std::shared_ptr<const Simulation> simulation)
    : selection_(selection), report_(std::move(report)), simulation_(std::move(simulation)) {
  const bool known = report_ && report_->valid() &&
                     selection_.stage < static_cast<int>(report_->stages.size());
  if (!known || (selection_.stage < 0 && selection_.kind != SelectionKind::Time))
    selection_.kind = SelectionKind::Nothing;
  if (nothing()) return;
  ops_.resize(report_->graph().segments.size());
  switch (selection_.kind) {
    case SelectionKind::Nothing: return;
    case SelectionKind::Op:
    case SelectionKind::Block:
    case SelectionKind::Unit: resolveNode(); break;
    case SelectionKind::Span: resolveSpan(); break;
    case SelectionKind::Collective:
    case SelectionKind::Group: resolveRows(); break;
    case SelectionKind::Memory:
      optimizer_ = selection_.memory == MemoryCategory::Optimizer;
      reduces_ = selection_.memory == MemoryCategory::Gradients;
      gathers_ = selection_.memory == MemoryCategory::Parameters;
      choose([&](int s, const Segment& segment, OpId id) {
        return selection_.memory == MemoryCategory::Buffers
                   ? atPeak(selection_.stage, s, id)
                   : (memory_of(segment, id) & bit_of(selection_.memory)) != 0;
      });
      break;
    case SelectionKind::Flops:
      optimizer_ = selection_.flops == FlopsGroup::Optimizer;
      choose([&](int, const Segment& segment, OpId id) {
        const Op& op = segment.op(id);
        if (op.flops.is_zero() || op.phase != selection_.phase) return false;
        return selection_.row ? std::pair(op.kind, op.compute) == *selection_.row
                              : flops_group(op.kind) == selection_.flops;
      });
      break;
    case SelectionKind::Time: resolveTime(); break;
  }
  for (size_t s = 0; s < ops_.size(); ++s)
    for (size_t id = 0; id < ops_[s].size(); ++id) {
      if (!ops_[s][id]) continue;
      const Segment& segment = report_->graph().segments[s];
      const Op& op = segment.op(static_cast<OpId>(id));
      if (!op.flops.is_zero()) flops_.insert({op.kind, op.phase, op.compute});
      memory_ |= memory_of(segment, static_cast<OpId>(id));
    }
  if (optimizer_) memory_ |= bit_of(MemoryCategory::Optimizer);
  if (reduces_) memory_ |= bit_of(MemoryCategory::Gradients);
  if (gathers_) memory_ |= bit_of(MemoryCategory::Parameters);
}

// Ops of the segments that the selected stage runs.
template <typename Wanted>
void ResolvedSelection::choose(Wanted wanted) {
  const Graph& graph = report_->graph();
  for (size_t s = 0; s < ops_.size(); ++s) {
    if (selection_.stage >= 0 && !segments_of(*report_, selection_.stage).count(static_cast<int>(s)))
      continue;
    const Segment& segment = graph.segments[s];
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      if (!wanted(static_cast<int>(s), segment, id)) continue;
      ops_[s].resize(segment.ops.size());
      ops_[s][static_cast<size_t>(id)] = 1;
      any_ops_ = true;
    }
  }
}

// The ops of a graph node, in all units of the selection.
void ResolvedSelection::resolveNode() {
  if (selection_.unit < 0 || selection_.unit >= units_in(*report_)) return;
  first_unit_ = selection_.unit;
  end_unit_ = std::min(selection_.unit + std::max(1, selection_.units), units_in(*report_));
  const Segment& own = report_->graph()
                           .segments[static_cast<size_t>(segment_of_unit(*report_, selection_.unit))];
  const bool op = selection_.kind == SelectionKind::Op, block = selection_.kind == SelectionKind::Block;
  if (op && (selection_.op < 0 || selection_.op >= static_cast<int>(own.ops.size()))) return;
  if (block && (selection_.block < 0 || selection_.block >= static_cast<int>(own.blocks.size()))) return;
  std::set<std::string> names;  // other kinds of layers have ops with the same names
  if (op) {
    names.insert(own.op(selection_.op).name);
    if (const Kernel* kernel = selection_.kernel ? own.kernel(selection_.op) : nullptr)
      for (const OpId member : kernel->ops) names.insert(own.op(member).name);
  }
  std::set<int> segments;
  for (int unit = first_unit_; unit < end_unit_; ++unit) segments.insert(segment_of_unit(*report_, unit));
  choose([&](int s, const Segment& segment, OpId id) {
    if (!segments.count(s)) return false;
    if (op) return names.count(segment.op(id).name) > 0;
    if (!block) return true;
    const int in = segment.op(id).block;
    return in >= 0 &&
           segment.blocks[static_cast<size_t>(in)].name ==
               own.blocks[static_cast<size_t>(selection_.block)].name &&
           (id >= segment.backward_begin) == selection_.backward;
  });
}

// The ops and step parts that one collective row, or all rows of a group, count.
void ResolvedSelection::resolveRows() {
  for (const CollectiveValue& row : report_->stages[static_cast<size_t>(selection_.stage)].collectives) {
    const bool own = row.group == selection_.group &&
                     (selection_.kind == SelectionKind::Group ||
                      (row.phase == selection_.phase && row.op == selection_.collective &&
                       row.dtype == selection_.dtype));
    if (!own) continue;
    if (selection_.kind == SelectionKind::Collective) row_ = row;
    reduces_ = reduces_ || row.phase == Phase::GradReduce;
    gathers_ = gathers_ || row.phase == Phase::ParamGather;
    messages_ = messages_ || row.phase == Phase::Pipeline;
    step_ = step_ || row.phase == Phase::Step;
    choose([&](int, const Segment& segment, OpId id) { return is_behind(segment, segment.op(id), row); });
  }
}

// The ops whose seconds belong to a time category.
void ResolvedSelection::resolveTime() {
  optimizer_ = selection_.time == TimeCategory::Optimizer;
  reduces_ = gathers_ = step_ = selection_.time == TimeCategory::DataComm;
  messages_ = selection_.time == TimeCategory::PipelineComm;
  host_ = selection_.time == TimeCategory::Host;
  const OpSeconds seconds = op_seconds(*report_, machine_of(report_->design));
  choose([&](int s, const Segment& segment, OpId id) {
    return (times_of(seconds.ops[static_cast<size_t>(s)][static_cast<size_t>(gemm_or_op(segment, id))]) &
            bit_of_time(selection_.time)) != 0;
  });
}

void ResolvedSelection::resolveSpan() {
  if (!simulation_) return;
  const Simulation& simulation = *simulation_;
  const std::vector<Span>& spans = simulation.stages[static_cast<size_t>(selection_.stage)].spans;
  if (selection_.span < 0 || selection_.span >= static_cast<int>(spans.size())) return;
  const Span& span = spans[static_cast<size_t>(selection_.span)];
  optimizer_ = span.kind == SpanKind::Optimizer;
  host_ = span.kind == SpanKind::Store || span.kind == SpanKind::Load;
  if (span.kind == SpanKind::Send || span.kind == SpanKind::Receive || span.kind == SpanKind::Collective) {
    for (const CollectiveValue& row : report_->stages[static_cast<size_t>(selection_.stage)].collectives) {
      if (!counts_span(row, simulation, span)) continue;
      row_ = row;
      messages_ = row.phase == Phase::Pipeline;
      reduces_ = row.phase == Phase::GradReduce;
      gathers_ = row.phase == Phase::ParamGather;
      step_ = row.phase == Phase::Step;
      break;
    }
    return;
  }
  std::tie(first_unit_, end_unit_) = units_of_chunk(*report_, selection_.stage, span.chunk);
  const std::set<int> segments = segments_of(*report_, selection_.stage, span.chunk);
  // Recomputation and the backward after it are one box.
  const SpanKind kind = span.kind == SpanKind::Recompute ? SpanKind::Backward : span.kind;
  choose([&](int s, const Segment& segment, OpId id) {
    return segments.count(s) && runs_in(kind, segment, id);
  });
}

bool ResolvedSelection::op(int segment, OpId id) const {
  if (segment < 0 || static_cast<size_t>(segment) >= ops_.size()) return false;
  const std::vector<char>& of = ops_[static_cast<size_t>(segment)];
  return static_cast<size_t>(id) < of.size() && of[static_cast<size_t>(id)];
}

std::optional<std::pair<int, OpId>> ResolvedSelection::firstOp() const {
  for (size_t s = 0; s < ops_.size(); ++s)
    if (const auto it = std::find(ops_[s].begin(), ops_[s].end(), 1); it != ops_[s].end())
      return std::pair{static_cast<int>(s), static_cast<OpId>(it - ops_[s].begin())};
  return std::nullopt;
}

bool ResolvedSelection::flops(int stage, const FlopsValue& row) const {
  if (!on(stage)) return false;
  if (selection_.kind == SelectionKind::Flops)
    return row.phase == selection_.phase &&
           (selection_.row ? std::pair(row.kind, row.compute) == *selection_.row
                           : flops_group(row.kind) == selection_.flops);
  return row.kind == OpKind::Optimizer ? optimizer_ : flops_.count({row.kind, row.phase, row.compute}) > 0;
}

bool ResolvedSelection::flops(int stage, FlopsGroup group, Phase phase) const {
  if (!on(stage)) return false;
  const std::vector<FlopsValue>& rows = report_->stages[static_cast<size_t>(stage)].flops;
  return std::any_of(rows.begin(), rows.end(), [&](const FlopsValue& row) {
    return row.phase == phase && flops_group(row.kind) == group && flops(stage, row);
  });
}

bool ResolvedSelection::counts(const CollectiveValue& row) const {
  if (selection_.kind == SelectionKind::Group) return row.group == selection_.group;
  if (row_) return is_same(row, *row_);
  switch (row.phase) {
    case Phase::GradReduce: return reduces_;
    case Phase::ParamGather: return gathers_;
    case Phase::Pipeline: return messages_;
    case Phase::Step: return step_;
    default: return false;
  }
}

bool ResolvedSelection::collective(int stage, const CollectiveValue& row) const {
  if (!on(stage)) return false;
  if (row_ || selection_.kind == SelectionKind::Group) return counts(row);
  if (counts(row)) return true;
  for (size_t s = 0; s < ops_.size(); ++s)
    for (size_t id = 0; id < ops_[s].size(); ++id) {
      const Segment& segment = report_->graph().segments[s];
      if (ops_[s][id] && is_behind(segment, segment.op(static_cast<OpId>(id)), row)) return true;
    }
  return false;
}

bool ResolvedSelection::group(int stage, const std::string& name) const {
  if (!on(stage)) return false;
  const std::vector<CollectiveValue>& rows = report_->stages[static_cast<size_t>(stage)].collectives;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CollectiveValue& row) { return row.group == name && collective(stage, row); });
}

bool ResolvedSelection::atPeak(int stage, int segment, OpId id) const {
  if (!report_->memory || stage < 0) return false;
  const StageMemory& memory = report_->memory->stages[static_cast<size_t>(stage)];
  return memory.segment == segment && memory.at.op == id;
}

bool ResolvedSelection::memory(int stage, MemoryCategory category) const {
  if (!on(stage)) return false;
  if (selection_.kind == SelectionKind::Memory) return category == selection_.memory;
  if (category != MemoryCategory::Buffers) return memory_ & bit_of(category);
  // Short-lived tensors: they belong to the op that runs at the peak.
  if (!report_->memory) return false;
  const StageMemory& of = report_->memory->stages[static_cast<size_t>(stage)];
  const bool here = first_unit_ < 0 || unit(unit_of(*report_, of.segment, static_cast<int>(of.layer)));
  return here && of.segment >= 0 && of.at.op >= 0 && op(of.segment, of.at.op);
}

void ResolvedSelection::findTimes() const {
  times_ = 0;
  if (optimizer_) *times_ |= bit_of_time(TimeCategory::Optimizer);
  if (reduces_ || gathers_ || step_) *times_ |= bit_of_time(TimeCategory::DataComm);
  if (messages_) *times_ |= bit_of_time(TimeCategory::PipelineComm);
  if (host_) *times_ |= bit_of_time(TimeCategory::Host);
  if (!any_ops_) return;
  const OpSeconds seconds = op_seconds(*report_, machine_of(report_->design));
  for (size_t s = 0; s < ops_.size(); ++s) {
    if (ops_[s].empty()) continue;
    const Segment& segment = report_->graph().segments[s];
    for (size_t id = 0; id < ops_[s].size(); ++id) {
      if (!ops_[s][id]) continue;
      *times_ |= times_of(seconds.ops[s][static_cast<size_t>(gemm_or_op(segment, static_cast<OpId>(id)))]);
    }
  }
}

bool ResolvedSelection::time(TimeCategory category) const {
  if (nothing()) return false;
  if (selection_.kind == SelectionKind::Time) return category == selection_.time;
  if (!times_) findTimes();
  return *times_ & bit_of_time(category);
}

bool ResolvedSelection::runs(int stage, int chunk, SpanKind kind) const {
  const auto [known, made] = runs_.try_emplace({stage, chunk, kind}, false);
  if (!made) return known->second;
  const auto [first, end] = units_of_chunk(*report_, stage, chunk);
  for (int u = first; u < end && !known->second; ++u) {
    if (!unit(u)) continue;
    const int s = segment_of_unit(*report_, u);
    const Segment& segment = report_->graph().segments[static_cast<size_t>(s)];
    for (size_t id = 0; id < ops_[static_cast<size_t>(s)].size() && !known->second; ++id)
      known->second = ops_[static_cast<size_t>(s)][id] && runs_in(kind, segment, static_cast<OpId>(id));
  }
  return known->second;
}

bool ResolvedSelection::span(int stage, int index) const {
  if (!on(stage) || !simulation_) return false;
  if (selection_.kind == SelectionKind::Span) return index == selection_.span;
  const Simulation& simulation = *simulation_;
  const Span& span = simulation.stages[static_cast<size_t>(stage)].spans[static_cast<size_t>(index)];
  const std::vector<CollectiveValue>& rows = report_->stages[static_cast<size_t>(stage)].collectives;
  const auto counted = [&](const CollectiveValue& row) {
    return counts_span(row, simulation, span) && counts(row);
  };
  switch (span.kind) {
    case SpanKind::Optimizer: return optimizer_;
    case SpanKind::Store:
    case SpanKind::Load: return host_;
    case SpanKind::Send:
    case SpanKind::Receive: return std::any_of(rows.begin(), rows.end(), counted);
    case SpanKind::Collective: {
      const auto [known, made] = names_.try_emplace({stage, span.name}, false);
      if (!made || span.name < 0) return known->second;
      return known->second = std::any_of(rows.begin(), rows.end(), counted);
    }
    default: break;
  }
  if (span.microbatch < 0) return false;
  if (any_ops_) return runs(stage, span.chunk, span.kind);
  // Collectives of a pass without an op in the graph: gathered stage messages, and sums around the loss.
  if (!row_ || is_sync(row_->phase)) return false;
  if (row_->phase == Phase::Pipeline) return row_->op == CollectiveKind::AllGather;
  const bool forward = span.kind == SpanKind::Forward;
  return row_->phase == Phase::Forward ? forward : !forward;
}

}  // namespace shardscape::ui
