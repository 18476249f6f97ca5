// A report with what only playing the step tells.
#pragma once

#include "memory/memory_timeline.h"

namespace shardscape {

// As make_report; a valid report has its memory timeline.
std::shared_ptr<const Report> estimate(const Design& design, std::stop_token stop = {});
std::shared_ptr<const Report> estimate(const Design& design, std::shared_ptr<PlanCache> cache,
                                       std::stop_token stop = {});

// Of one rank of a stage at its fullest moment: all that is in use. Of an estimate.
int64_t memory_in_use(const Report& report, int stage);

}  // namespace shardscape
