#include "memory/estimate.h"

namespace shardscape {

std::shared_ptr<const Report> estimate(const Design& design, std::stop_token stop) {
  return estimate(design, std::make_shared<PlanCache>(), std::move(stop));
}

std::shared_ptr<const Report> estimate(const Design& design, std::shared_ptr<PlanCache> cache,
                                       std::stop_token stop) {
  std::shared_ptr<Report> report = make_report(design, std::move(cache), stop);
  if (!report || !report->valid()) return report;
  report->memory = memory_timeline(*report, stop);
  if (!report->memory) return nullptr;
  return report;
}

int64_t memory_in_use(const Report& report, int stage) {
  return report.memory->stages[static_cast<size_t>(stage)].in_use;
}

}  // namespace shardscape
