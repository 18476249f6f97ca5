#include "mesh/pipeline_layout.h"

#include <algorithm>

namespace shardscape {

ScheduleTraits schedule_traits(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::GPipe: return {.period = SchedulePeriod::Never};
    case ScheduleKind::OneFOneB:
    case ScheduleKind::OneFOneBForwardsFirst: return {.interleaves = true};
    case ScheduleKind::OneFOneBPairs: return {.overlaps_passes = true, .interleaves = true};
    case ScheduleKind::Flexible: return {.interleaves = true, .period = SchedulePeriod::Group};
    case ScheduleKind::ForwardOnly: return {};
    case ScheduleKind::ZbH1:
    case ScheduleKind::ZbH2: return {.splits_backward = true};
    case ScheduleKind::ZbAuto: return {.splits_backward = true, .period = SchedulePeriod::Never};
    case ScheduleKind::ZbV: return {.layout = ChunkLayout::Vee, .splits_backward = true};
    case ScheduleKind::DualPipe:
      return {.layout = ChunkLayout::BothWays, .splits_backward = true, .overlaps_passes = true};
    case ScheduleKind::DualPipeV:
      return {.layout = ChunkLayout::Vee, .splits_backward = true, .overlaps_passes = true};
  }
  return {};
}

ScheduleKind schedule_of(const ParallelSpec& parallel) {
  if (parallel.forward_only) return ScheduleKind::ForwardOnly;
  const ScheduleKind kind = parallel.pp > 1 || parallel.schedule == ScheduleKind::GPipe
                                ? parallel.schedule
                                : ScheduleKind::OneFOneB;
  if (parallel.ep_comm_overlap && can_pair_exchanges(parallel)) return ScheduleKind::OneFOneBPairs;
  return kind == ScheduleKind::OneFOneB && can_run_forwards_first(parallel) && parallel.forwards_first
             ? ScheduleKind::OneFOneBForwardsFirst
             : kind;
}

bool can_run_forwards_first(const ParallelSpec& p) {
  return p.pp > 1 && p.schedule == ScheduleKind::OneFOneB && p.virtual_stages > 1;
}

bool can_pair_exchanges(const ParallelSpec& p) {
  const bool in_turn = p.pp == 1 ? p.schedule != ScheduleKind::GPipe
                                 : p.schedule == ScheduleKind::OneFOneB && p.virtual_stages > 1;
  const bool alone = p.dp == 1 && p.cp == 1;  // one replica: the policy has no effect
  return p.ep > 1 && in_turn &&
         (alone || p.sync == SyncStrategy::DdpFlat || p.sync == SyncStrategy::DistributedOptimizer);
}

int64_t PipelineLayout::virtual_stage(StagePlace at) const {
  if (layout == ChunkLayout::BothWays) {
    const int64_t near = std::min(at.stage, stages - 1 - at.stage);
    return at.chunk == 0 ? near : stages - 1 - near;
  }
  const bool back = layout == ChunkLayout::Vee && at.chunk % 2 == 1;
  return at.chunk * stages + (back ? stages - 1 - at.stage : at.stage);
}

std::optional<StagePlace> PipelineLayout::neighbour(StagePlace at, int64_t step) const {
  const int64_t to = virtual_stage(at) + step;
  if (to < 0 || to >= virtual_stages()) return std::nullopt;
  if (layout == ChunkLayout::BothWays)
    return StagePlace{goes_up(at) ? stages - 1 - to : to, 2 * to < stages ? 0 : 1};
  const int64_t chunk = to / stages, along = to % stages;
  return StagePlace{layout == ChunkLayout::Vee && chunk % 2 == 1 ? stages - 1 - along : along, chunk};
}

bool PipelineLayout::holds_last(int64_t stage) const {
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    if (last({stage, chunk})) return true;
  return false;
}

std::optional<StagePlace> PipelineLayout::before(StagePlace at) const { return neighbour(at, -1); }
std::optional<StagePlace> PipelineLayout::after(StagePlace at) const { return neighbour(at, 1); }

int64_t PipelineLayout::messages(int64_t stage) const {
  int64_t out = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    out += (receives({stage, chunk}) ? 1 : 0) + (sends({stage, chunk}) ? 1 : 0);
  return out;
}

PipelineLayout pipeline_layout(const ParallelSpec& parallel) {
  const ChunkLayout layout = chunk_layout(schedule_of(parallel));
  return {layout, parallel.pp, layout == ChunkLayout::BothWays ? 2 : parallel.virtual_stages};
}

}  // namespace shardscape
