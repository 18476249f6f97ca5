#include "pipeline/same_schedule.h"

#include <algorithm>

#include "pipeline/schedule.h"

namespace shardscape {

bool same_schedule(const ParallelSpec& a, const ParallelSpec& b, int microbatches, PlanCache* cache) {
  const ScheduleTraits s = schedule_traits(schedule_of(a)), t = schedule_traits(schedule_of(b));
  const PipelineLayout places = pipeline_layout(a), others = pipeline_layout(b);
  if (s.layout != t.layout || s.splits_backward != t.splits_backward ||
      s.overlaps_passes != t.overlaps_passes || places.stages != others.stages ||
      places.chunks != others.chunks)
    return false;
  const CacheKey key = schedule_key(a), other = schedule_key(b);
  if (std::ranges::equal(key.words(), other.words())) return true;
  for (int stage = 0; stage < static_cast<int>(places.stages); ++stage)
    if (make_stage_schedule(a, stage, microbatches, cache) !=
        make_stage_schedule(b, stage, microbatches, cache))
      return false;
  return true;
}

}  // namespace shardscape
