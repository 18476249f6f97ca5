// A report with its memory timeline.
#pragma once

#include "memory/memory_timeline.h"

namespace shardscape {

// make_report, with the memory timeline added to a valid report.
std::shared_ptr<const Report> estimate(const Design& design, std::stop_token stop = {});
std::shared_ptr<const Report> estimate(const Design& design, std::shared_ptr<PlanCache> cache,
                                       std::stop_token stop = {});

// Bytes in use on one rank of the stage at its peak. Needs a report from estimate().
int64_t memory_in_use(const Report& report, int stage);

}  // namespace shardscape
