#include "validation/validation.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "memory/allocator_use.h"
#include "memory/memory_timeline.h"

namespace shardscape {
namespace {

// Memory of the fullest rank in the measure of the row.
double predicted_bytes(Report report, MemoryMeasure measure) {
  report.memory = memory_timeline(report);
  int64_t most = 0;
  for (const StageMemory& s : report.memory->stages)
    most = std::max(most,
                    measure == MemoryMeasure::Allocated
                        ? s.allocated
                        : allocator_use(stage_events(report, s.stage), SegmentMode::Expandable).reserved);
  return static_cast<double>(most);
}

// Rows that differ only in settings without effect on memory share a prediction.
class Predictions {
 public:
  explicit Predictions(const StepTime& time) : time_(time) {}
  std::shared_ptr<const Report> report(const Design& design) {
    if (!last_ || !(last_->design == design)) last_ = make_report(design, cache_);
    return last_;
  }
  std::optional<double> seconds(const Design& design) {
    return time_ ? time_(*report(design)) : std::nullopt;
  }

 private:
  const StepTime& time_;
  std::shared_ptr<PlanCache> cache_ = std::make_shared<PlanCache>();
  std::shared_ptr<const Report> last_;
};

}  // namespace

double ValidatedMetric::mean_abs_error_percent() const {
  double sum = 0;
  for (const ValidatedRow& row : rows) sum += std::abs(row.error_percent());
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

const ValidatedRow* ValidatedMetric::worst() const {
  const auto it = std::max_element(rows.begin(), rows.end(),
                                   [](const ValidatedRow& a, const ValidatedRow& b) {
                                     return std::abs(a.error_percent()) < std::abs(b.error_percent());
                                   });
  return it == rows.end() ? nullptr : &*it;
}

Validation validate_set(const MeasuredSet& set, const StepTime& time) {
  Validation out{set.name, set.source, {}};
  ValidatedMetric seconds{"time", {}, {}, false}, bytes{"memory", {}, {}, false};
  Predictions predictions(time);
  for (const MeasuredRow& row : set.rows) {
    const auto judge = [&](ValidatedMetric& metric, const std::optional<double>& measured,
                           const std::string& why_not, const auto& predict) {
      if (!measured) {
        metric.unmapped.emplace_back(row.name, why_not);
        return;
      }
      metric.any = true;
      if (!row.unmapped.empty()) {
        metric.unmapped.emplace_back(row.name, row.unmapped);
        return;
      }
      const auto report = predictions.report(row.design);
      if (!report->valid()) {
        metric.unmapped.emplace_back(row.name, report->problems.empty()
                                                   ? "the design has no report"
                                                   : to_string(report->problems.front()));
        return;
      }
      if (const std::optional<double> predicted = predict(*report))
        metric.rows.push_back({row.name, *measured, *predicted});
      else
        metric.unmapped.emplace_back(row.name, "the program does not predict this figure for this design");
    };
    if (time)
      judge(seconds, row.seconds, row.no_seconds,
            [&](const Report&) { return predictions.seconds(row.design); });
    judge(bytes, row.bytes, row.no_bytes,
          [&](const Report& report) { return std::optional<double>(predicted_bytes(report, row.measure)); });
  }
  for (ValidatedMetric* metric : {&seconds, &bytes})
    if (metric->any) out.metrics.push_back(std::move(*metric));
  return out;
}

}  // namespace shardscape
