#include "ui/state/carried_pick.h"

#include <algorithm>

#include "simulate/memory_timeline.h"
#include "ui/state/relations.h"

namespace shardscape::ui {
namespace {

const Segment& segment_at(const Report& report, int unit) { return report.graph().segments[static_cast<size_t>(segment_of_unit(report, unit))]; }

template <typename Things>
int by_name(const Things& things, const std::string& name) {
  const auto it = std::find_if(things.begin(), things.end(), [&](const auto& thing) { return thing.name == name; });
  return it == things.end() ? -1 : static_cast<int>(it - things.begin());
}

bool holds(const Report& report, int stage, int unit) {
  const int segment = segment_of_unit(report, unit), last = units_in(report) - 1;
  return chunk_of(report, stage, segment, unit > 0 && unit < last ? unit - 1 : -1) >= 0;
}

// Of the graph: the same layer, and in it what has the same name.
Pick carried_node(Pick pick, const Report& before, const Report& now) {
  const int last_before = units_in(before) - 1, last = units_in(now) - 1;
  if (pick.unit < 0 || pick.unit > last_before) return {};
  const Segment& from = segment_at(before, pick.unit);
  if (pick.unit == last_before) pick.unit = last;
  else if (pick.unit >= last) return {};
  pick.units = std::clamp(pick.units, 1, last - pick.unit + (pick.unit == last));
  const Segment& to = segment_at(now, pick.unit);
  if (pick.kind == PickKind::Op) {
    if (pick.op < 0 || pick.op >= static_cast<int>(from.ops.size())) return {};
    pick.op = by_name(to.ops, from.op(pick.op).name);
    if (pick.op < 0) return {};
  } else if (pick.kind == PickKind::Block) {
    if (pick.block < 0 || pick.block >= static_cast<int>(from.blocks.size())) return {};
    pick.block = by_name(to.blocks, from.blocks[static_cast<size_t>(pick.block)].name);
    if (pick.block < 0 || (pick.backward && to.backward_begin == static_cast<OpId>(to.ops.size()))) return {};
  }
  const auto stages = static_cast<int>(now.stages.size());
  for (int stage = 0; stage < stages && (pick.stage >= stages || !holds(now, pick.stage, pick.unit)); ++stage)
    if (holds(now, stage, pick.unit)) pick.stage = stage;
  pick.span = -1;  // of another step
  return pick.stage < stages ? pick : Pick{};
}

}  // namespace

Pick on_stage(const Pick& pick, const Report& report, int stage) {
  Pick out = pick;
  if (stage < 0 || stage >= static_cast<int>(report.stages.size())) return {};
  out.stage = stage;
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  const auto any = [](const auto& rows, const auto& wanted) { return std::any_of(rows.begin(), rows.end(), wanted); };
  bool there = true;
  switch (pick.kind) {
    case PickKind::Collective: there = any(of.collectives, [&](const CollectiveValue& row) { return row.phase == pick.phase && row.op == pick.collective && row.group == pick.group && row.dtype == pick.dtype; }); break;
    case PickKind::Group: there = any(of.collectives, [&](const CollectiveValue& row) { return row.group == pick.group; }); break;
    case PickKind::Flops:
      there = any(of.flops, [&](const FlopsValue& row) { return row.phase == pick.phase && (pick.row ? std::pair(row.kind, row.compute) == *pick.row : flops_group(row.kind) == pick.flops); });
      break;
    case PickKind::Memory:  // a stage that has none of it says why; a step that has none of it does not know it
      there = report.memory && any(report.memory->stages, [&](const StageMemory& memory) { return memory.at_peak[static_cast<size_t>(pick.memory)] > 0; });
      break;
    default: return pick;
  }
  return there ? out : Pick{};
}

Pick carried(const Pick& pick, const Report& before, const Report& now) {
  const int last = static_cast<int>(now.stages.size()) - 1;
  switch (pick.kind) {
    case PickKind::Nothing: return {};
    case PickKind::Op:
    case PickKind::Block:
    case PickKind::Unit: return carried_node(pick, before, now);
    case PickKind::Span: return pick.stage <= last ? pick : Pick{};
    case PickKind::Time: return pick.stage <= last ? pick : Pick{};
    default: return on_stage(pick, now, std::min(pick.stage, last));
  }
}

SpanKey key_of(const Simulation& simulation, int stage, int span) {
  const Span& of = simulation.stages[static_cast<size_t>(stage)].spans[static_cast<size_t>(span)];
  return {of.kind, of.stream, of.microbatch, of.chunk, of.name < 0 ? std::string() : simulation.names[static_cast<size_t>(of.name)]};
}

int find_span(const Simulation& simulation, int stage, const SpanKey& key) {
  if (stage < 0 || stage >= static_cast<int>(simulation.stages.size())) return -1;
  const std::vector<Span>& spans = simulation.stages[static_cast<size_t>(stage)].spans;
  const auto same = [&](const Span& span) {
    return span.kind == key.kind && span.stream == key.stream && span.microbatch == key.microbatch && span.chunk == key.chunk &&
           (span.name < 0 ? key.name.empty() : simulation.names[static_cast<size_t>(span.name)] == key.name);
  };
  const auto it = std::find_if(spans.begin(), spans.end(), same);
  return it == spans.end() ? -1 : static_cast<int>(it - spans.begin());
}

Pick pick_beside(const Pick& pick, const PlayedReport& from, const PlayedReport& there, int stage) {
  switch (pick.kind) {
    case PickKind::Nothing: return {};
    case PickKind::Time: return pick;
    case PickKind::Op:
    case PickKind::Block:
    case PickKind::Unit: return carried_node(pick, *from.report, *there.report);
    case PickKind::Span: break;
    default: return on_stage(pick, *there.report, stage);
  }
  if (!from.simulation || !there.simulation || pick.span < 0 || stage < 0 || stage >= static_cast<int>(there.report->stages.size())) return {};
  SpanKey key = key_of(*from.simulation, pick.stage, pick.span);
  // Chunks of one number hold other layers where a stage has more or fewer of them.
  const auto chunks = [](const PlayedReport& of, int on) { return of.report->stages[static_cast<size_t>(on)].chunks.size(); };
  if (key.microbatch >= 0 && chunks(from, pick.stage) != chunks(there, stage)) return {};
  Pick out = pick;
  out.stage = stage;
  out.span = find_span(*there.simulation, stage, key);
  // A backward in one piece stands for the part that another schedule does first.
  if (out.span < 0 && (key.kind == SpanKind::Backward || key.kind == SpanKind::BackwardInput)) {
    key.kind = key.kind == SpanKind::Backward ? SpanKind::BackwardInput : SpanKind::Backward;
    out.span = find_span(*there.simulation, stage, key);
  }
  return out.span < 0 ? Pick{} : out;
}

}  // namespace shardscape::ui
