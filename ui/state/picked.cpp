#include "ui/state/picked.h"

#include <algorithm>
#include <utility>

#include "graph/product_kernels.h"
#include "simulate/machine_of.h"
#include "simulate/memory_timeline.h"
#include "simulate/op_seconds.h"
#include "ui/state/relations.h"

namespace shardscape::ui {
namespace {

bool is_sync(Phase phase) { return phase == Phase::GradReduce || phase == Phase::ParamGather || phase == Phase::Step; }
uint32_t bit_of_time(TimeCategory category) { return 1u << static_cast<unsigned>(category); }
// Of an op that has seconds: of those that one kernel makes the first alone has.
uint32_t times_of(const OpTime& time) { return (time.seconds > 0 ? bit_of_time(time.category) : 0) | (time.exposed > 0 ? bit_of_time(time.waits) : 0); }

}  // namespace

Picked::Picked(const Pick& pick, std::shared_ptr<const Report> report, std::shared_ptr<const Estimate> estimate)
    : pick_(pick), report_(std::move(report)), estimate_(std::move(estimate)) {
  const bool known = report_ && report_->valid() && pick_.stage < static_cast<int>(report_->stages.size());
  if (!known || (pick_.stage < 0 && pick_.kind != PickKind::Time)) pick_.kind = PickKind::Nothing;
  if (nothing()) return;
  if (estimate_ && estimate_->report != report_) estimate_ = nullptr;
  ops_.resize(report_->graph().segments.size());
  switch (pick_.kind) {
    case PickKind::Nothing: return;
    case PickKind::Op:
    case PickKind::Block:
    case PickKind::Unit: {
      if (pick_.unit < 0 || pick_.unit >= units_in(*report_)) break;
      first_unit_ = pick_.unit;
      end_unit_ = std::min(pick_.unit + std::max(1, pick_.units), units_in(*report_));
      const Segment& own = report_->graph().segments[static_cast<size_t>(segment_of_unit(*report_, pick_.unit))];
      const bool op = pick_.kind == PickKind::Op, block = pick_.kind == PickKind::Block;
      if (op && (pick_.op < 0 || pick_.op >= static_cast<int>(own.ops.size()))) break;
      if (block && (pick_.block < 0 || pick_.block >= static_cast<int>(own.blocks.size()))) break;
      std::set<std::string> names;  // layers of other kinds have ops by the same name
      if (op) {
        const std::vector<OpId> kernels = product_kernels(own);
        for (const OpId member : pick_.kernel ? kernel_members(kernels, kernels[static_cast<size_t>(pick_.op)]) : std::vector<OpId>{pick_.op}) names.insert(own.op(member).name);
      }
      std::set<int> segments;
      for (int unit = first_unit_; unit < end_unit_; ++unit) segments.insert(segment_of_unit(*report_, unit));
      choose([&](int s, const Segment& segment, OpId id) {
        if (!segments.count(s)) return false;
        if (op) return names.count(segment.op(id).name) > 0;
        if (!block) return true;
        const int in = segment.op(id).block;
        return in >= 0 && segment.blocks[static_cast<size_t>(in)].name == own.blocks[static_cast<size_t>(pick_.block)].name && (id >= segment.backward_begin) == pick_.backward;
      });
      break;
    }
    case PickKind::Span: takeSpan(); break;
    case PickKind::Collective:
    case PickKind::Group:
      for (const CollectiveValue& row : report_->stages[static_cast<size_t>(pick_.stage)].collectives) {
        const bool own = row.group == pick_.group && (pick_.kind == PickKind::Group || (row.phase == pick_.phase && row.op == pick_.collective && row.dtype == pick_.dtype));
        if (!own) continue;
        if (pick_.kind == PickKind::Collective) row_ = row;
        reduces_ = reduces_ || row.phase == Phase::GradReduce;
        gathers_ = gathers_ || row.phase == Phase::ParamGather;
        messages_ = messages_ || row.phase == Phase::Pipeline;
        step_ = step_ || row.phase == Phase::Step;
        choose([&](int, const Segment& segment, OpId id) { return is_behind(segment, segment.op(id), row); });
      }
      break;
    case PickKind::Memory:
      optimizer_ = pick_.memory == MemoryCategory::Optimizer;
      reduces_ = pick_.memory == MemoryCategory::Gradients;
      gathers_ = pick_.memory == MemoryCategory::Parameters;
      choose([&](int s, const Segment& segment, OpId id) {
        return pick_.memory == MemoryCategory::Buffers ? atPeak(pick_.stage, s, id) : (memory_of(segment, id) & bit_of(pick_.memory)) != 0;
      });
      break;
    case PickKind::Flops:
      optimizer_ = pick_.flops == FlopsGroup::Optimizer;
      choose([&](int, const Segment& segment, OpId id) {
        const Op& op = segment.op(id);
        if (op.flops.is_zero() || op.phase != pick_.phase) return false;
        return pick_.row ? std::pair(op.kind, op.compute) == *pick_.row : flops_group(op.kind) == pick_.flops;
      });
      break;
    case PickKind::Time: {
      optimizer_ = pick_.time == TimeCategory::Optimizer;
      reduces_ = gathers_ = step_ = pick_.time == TimeCategory::DataComm;
      messages_ = pick_.time == TimeCategory::PipelineComm;
      host_ = pick_.time == TimeCategory::Host;
      const OpSeconds seconds = op_seconds(*report_, machine_of(report_->design));
      std::vector<OpId> kernels;  // of this segment
      int of = -1;
      choose([&](int s, const Segment& segment, OpId id) {
        if (std::exchange(of, s) != s) kernels = product_kernels(segment);
        const OpId first = kernels[static_cast<size_t>(id)];
        return (times_of(seconds.ops[static_cast<size_t>(s)][static_cast<size_t>(first)]) & bit_of_time(pick_.time)) != 0;
      });
      break;
    }
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

// Of the segments that the stage runs.
template <typename Wanted>
void Picked::choose(Wanted wanted) {
  const Graph& graph = report_->graph();
  for (size_t s = 0; s < ops_.size(); ++s) {
    if (pick_.stage >= 0 && !segments_of(*report_, pick_.stage).count(static_cast<int>(s))) continue;
    const Segment& segment = graph.segments[s];
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      if (!wanted(static_cast<int>(s), segment, id)) continue;
      ops_[s].resize(segment.ops.size());
      ops_[s][static_cast<size_t>(id)] = 1;
      any_ops_ = true;
    }
  }
}

void Picked::takeSpan() {
  if (!estimate_ || !estimate_->simulation) return;
  const Simulation& simulation = *estimate_->simulation;
  const std::vector<Span>& spans = simulation.stages[static_cast<size_t>(pick_.stage)].spans;
  if (pick_.span < 0 || pick_.span >= static_cast<int>(spans.size())) return;
  const Span& span = spans[static_cast<size_t>(pick_.span)];
  optimizer_ = span.kind == SpanKind::Optimizer;
  host_ = span.kind == SpanKind::Store || span.kind == SpanKind::Load;
  const bool message = span.kind == SpanKind::Send || span.kind == SpanKind::Receive;
  if (message || span.kind == SpanKind::Collective) {
    const std::string name = span.name < 0 ? std::string() : simulation.names[static_cast<size_t>(span.name)];
    for (const CollectiveValue& row : report_->stages[static_cast<size_t>(pick_.stage)].collectives) {
      const bool own = message ? row.phase == Phase::Pipeline && row.op == (span.kind == SpanKind::Send ? "send" : "recv") : is_of_collective(name, row);
      if (!own) continue;
      row_ = row;
      messages_ = row.phase == Phase::Pipeline;
      reduces_ = row.phase == Phase::GradReduce;
      gathers_ = row.phase == Phase::ParamGather;
      step_ = row.phase == Phase::Step;
      break;
    }
    return;
  }
  std::tie(first_unit_, end_unit_) = units_of_chunk(*report_, pick_.stage, span.chunk);
  const std::set<int> segments = segments_of(*report_, pick_.stage, span.chunk);
  // What is computed again is one box with the backward behind it.
  const SpanKind kind = span.kind == SpanKind::Recompute ? SpanKind::Backward : span.kind;
  choose([&](int s, const Segment& segment, OpId id) { return segments.count(s) && runs_in(kind, segment, id); });
}

bool Picked::op(int segment, OpId id) const {
  if (segment < 0 || static_cast<size_t>(segment) >= ops_.size()) return false;
  const std::vector<char>& of = ops_[static_cast<size_t>(segment)];
  return static_cast<size_t>(id) < of.size() && of[static_cast<size_t>(id)];
}

std::optional<std::pair<int, OpId>> Picked::firstOp() const {
  for (size_t s = 0; s < ops_.size(); ++s)
    if (const auto it = std::find(ops_[s].begin(), ops_[s].end(), 1); it != ops_[s].end()) return std::pair{static_cast<int>(s), static_cast<OpId>(it - ops_[s].begin())};
  return std::nullopt;
}

bool Picked::flops(int stage, const FlopsValue& row) const {
  if (!on(stage)) return false;
  if (pick_.kind == PickKind::Flops)
    return row.phase == pick_.phase && (pick_.row ? std::pair(row.kind, row.compute) == *pick_.row : flops_group(row.kind) == pick_.flops);
  return row.kind == OpKind::Optimizer ? optimizer_ : flops_.count({row.kind, row.phase, row.compute}) > 0;
}

bool Picked::flops(int stage, FlopsGroup group, Phase phase) const {
  if (!on(stage)) return false;
  const std::vector<FlopsValue>& rows = report_->stages[static_cast<size_t>(stage)].flops;
  return std::any_of(rows.begin(), rows.end(), [&](const FlopsValue& row) { return row.phase == phase && flops_group(row.kind) == group && flops(stage, row); });
}

bool Picked::counts(const CollectiveValue& row) const {
  if (pick_.kind == PickKind::Group) return row.group == pick_.group;
  if (row_) return is_same(row, *row_);
  switch (row.phase) {
    case Phase::GradReduce: return reduces_;
    case Phase::ParamGather: return gathers_;
    case Phase::Pipeline: return messages_;
    case Phase::Step: return step_;
    default: return false;
  }
}

bool Picked::collective(int stage, const CollectiveValue& row) const {
  if (!on(stage)) return false;
  if (row_ || pick_.kind == PickKind::Group) return counts(row);
  if (counts(row)) return true;
  for (size_t s = 0; s < ops_.size(); ++s)
    for (size_t id = 0; id < ops_[s].size(); ++id) {
      const Segment& segment = report_->graph().segments[s];
      if (ops_[s][id] && is_behind(segment, segment.op(static_cast<OpId>(id)), row)) return true;
    }
  return false;
}

bool Picked::group(int stage, const std::string& name) const {
  if (!on(stage)) return false;
  const std::vector<CollectiveValue>& rows = report_->stages[static_cast<size_t>(stage)].collectives;
  return std::any_of(rows.begin(), rows.end(), [&](const CollectiveValue& row) { return row.group == name && collective(stage, row); });
}

bool Picked::atPeak(int stage, int segment, OpId id) const {
  if (!report_->memory || stage < 0) return false;
  const StageMemory& memory = report_->memory->stages[static_cast<size_t>(stage)];
  return memory.segment == segment && memory.at.op == id;
}

bool Picked::memory(int stage, MemoryCategory category) const {
  if (!on(stage)) return false;
  if (pick_.kind == PickKind::Memory) return category == pick_.memory;
  if (category != MemoryCategory::Buffers) return memory_ & bit_of(category);
  // What is alive for a moment only: of the op that runs at the fullest one.
  if (!report_->memory) return false;
  const StageMemory& of = report_->memory->stages[static_cast<size_t>(stage)];
  const bool here = first_unit_ < 0 || unit(unit_of(*report_, of.segment, static_cast<int>(of.layer)));
  return here && of.segment >= 0 && of.at.op >= 0 && op(of.segment, of.at.op);
}

void Picked::findTimes() const {
  times_ = 0;
  if (optimizer_) *times_ |= bit_of_time(TimeCategory::Optimizer);
  if (reduces_ || gathers_ || step_) *times_ |= bit_of_time(TimeCategory::DataComm);
  if (messages_) *times_ |= bit_of_time(TimeCategory::PipelineComm);
  if (host_) *times_ |= bit_of_time(TimeCategory::Host);
  if (!any_ops_) return;
  const OpSeconds seconds = op_seconds(*report_, machine_of(report_->design));
  for (size_t s = 0; s < ops_.size(); ++s) {
    if (ops_[s].empty()) continue;
    const std::vector<OpId> kernels = product_kernels(report_->graph().segments[s]);
    for (size_t id = 0; id < ops_[s].size(); ++id) {
      if (!ops_[s][id]) continue;
      *times_ |= times_of(seconds.ops[s][static_cast<size_t>(kernels[id])]);
    }
  }
}

bool Picked::time(TimeCategory category) const {
  if (nothing()) return false;
  if (pick_.kind == PickKind::Time) return category == pick_.time;
  if (!times_) findTimes();
  return *times_ & bit_of_time(category);
}

bool Picked::runs(int stage, int chunk, SpanKind kind) const {
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

bool Picked::span(int stage, int index) const {
  if (!on(stage) || !estimate_ || !estimate_->simulation) return false;
  if (pick_.kind == PickKind::Span) return index == pick_.span;
  const Simulation& simulation = *estimate_->simulation;
  const Span& span = simulation.stages[static_cast<size_t>(stage)].spans[static_cast<size_t>(index)];
  const std::vector<CollectiveValue>& rows = report_->stages[static_cast<size_t>(stage)].collectives;
  switch (span.kind) {
    case SpanKind::Optimizer: return optimizer_;
    case SpanKind::Store:
    case SpanKind::Load: return host_;
    case SpanKind::Send:
    case SpanKind::Receive:
      return std::any_of(rows.begin(), rows.end(), [&](const CollectiveValue& row) {
        return row.phase == Phase::Pipeline && row.op == (span.kind == SpanKind::Send ? "send" : "recv") && counts(row);
      });
    case SpanKind::Collective: {
      const auto [known, made] = names_.try_emplace({stage, span.name}, false);
      if (!made || span.name < 0) return known->second;
      const std::string& name = simulation.names[static_cast<size_t>(span.name)];
      return known->second = std::any_of(rows.begin(), rows.end(), [&](const CollectiveValue& row) { return is_of_collective(name, row) && counts(row); });
    }
    default: break;
  }
  if (span.microbatch < 0) return false;
  if (any_ops_) return runs(stage, span.chunk, span.kind);
  // Collectives of a pass that no op of the graph stands for: messages that are gathered, sums beside the loss.
  if (!row_ || is_sync(row_->phase)) return false;
  if (row_->phase == Phase::Pipeline) return row_->op == "all_gather";
  const bool forward = span.kind == SpanKind::Forward;
  return row_->phase == Phase::Forward ? forward : !forward;
}

}  // namespace shardscape::ui
