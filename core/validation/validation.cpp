#include "validation/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "accuracy/workload_layout.h"
#include "base/units.h"
#include "memory/allocator_use.h"
#include "memory/memory_timeline.h"
#include "serving/requests/service_results.h"
#include "validation/rank_correlation.h"
#include "validation/served_validation.h"

namespace shardscape {
namespace {

// Memory of the fullest rank, or of the row's stage, in the measure of the row.
double predicted_bytes(Report report, const MeasuredRow& row) {
  report.memory = memory_timeline(report);
  int64_t most = 0;
  const auto bytes = [&](const StageMemory& s) {
    const int64_t runtime = s.fixed[static_cast<size_t>(MemoryCategory::Runtime)],
                  room = report.accelerator ? report.memory->capacity - runtime : 0;
    const auto reserved = [&] {
      return allocator_use(stage_events(report, s.stage),
                           row.native_segments ? SegmentMode::Native : SegmentMode::Expandable,
                           s.allocated <= room ? room : 0)
          .reserved;
    };
    switch (row.measure) {
      case MemoryMeasure::Allocated: return s.allocated;
      case MemoryMeasure::InUse: return reserved() + runtime;
      case MemoryMeasure::Reserved: break;
    }
    return reserved();
  };
  for (const StageMemory& s : report.memory->stages)
    if (!row.stage || *row.stage == s.stage) most = std::max(most, bytes(s));
  return static_cast<double>(most);
}

// Whether the run of a row with a design is predicted to succeed. report: of the design.
RunCheck::Row predicted_run(const MeasuredRow& row, const Report* of_row) {
  RunCheck::Row out{row.name, *row.ran, false, row.cannot_run};
  if (!out.reason.empty()) return out;
  Report report = *of_row;
  const auto memory = memory_timeline(report);
  report.memory = memory;
  out.predicted = memory->fits;
  if (out.predicted && row.native_segments) {
    const auto replay = fragmentation(report);
    out.predicted = !replay || replay->native.fits;
    if (!out.predicted) out.reason = "the allocator finds no room between its segments";
    return out;
  }
  if (!out.predicted)
    out.reason = "needs " + format_bytes(memory->stages[static_cast<size_t>(memory->peak_stage)].in_use) +
                 " of " + format_bytes(memory->capacity);
  return out;
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

// The metrics of serving points, in the order of their quantities.
std::vector<ValidatedMetric> served_metrics(const MeasuredSet& set,
                                            const std::vector<ServedPrediction>& predictions) {
  std::vector<ValidatedMetric> out;
  for (int quantity = 0; quantity < kServedQuantityCount; ++quantity)
    for (const char* statistic : {"", "_p50", "_p99"})
      out.push_back(
          {served_quantity_name(static_cast<ServedQuantity>(quantity)) + std::string(statistic), {}, {}, {}});
  for (ValidatedMetric& metric : out)
    for (size_t i = 0; i < set.rows.size(); ++i) {
      const MeasuredRow& row = set.rows[i];
      const ServedPrediction& prediction = predictions[i];
      const auto leave_out = [&](const std::string& why) { metric.unmapped.emplace_back(row.name, why); };
      const std::vector<ServedFigure> none;
      const std::vector<ServedFigure>& figures = row.serving ? row.serving->figures : none;
      const auto figure = std::find_if(figures.begin(), figures.end(),
                                       [&](const ServedFigure& of) { return of.metric == metric.name; });
      if (figure == figures.end()) {
        leave_out("the row has no " + metric.name);
        continue;
      }
      metric.any = true;
      const bool counts = figure->quantity == ServedQuantity::Preemptions;
      const bool predicted = row.unmapped.empty() && prediction.problem.empty();
      const double value = predicted ? prediction.values[static_cast<size_t>(figure - figures.begin())] : 0;
      ValidatedRow result{
          row.name,          figure->value,         value, row.serving->cell, row.serving->series,
          row.serving->load, row.serving->settings, {}};
      if (predicted) result.error_case = error_case(row.design);
      if (value > 0 || (counts && predicted && figure->value > 0)) {
        metric.rows.push_back(std::move(result));
        continue;
      }
      leave_out(!row.unmapped.empty()         ? row.unmapped
                : !prediction.problem.empty() ? prediction.problem
                : counts                      ? "no preemption, neither measured nor simulated"
                                              : "the simulation has no " + metric.name);
      if (!result.settings.empty()) metric.unpredicted.push_back(std::move(result));
    }
  return out;
}

std::vector<ValidatedVerdict> served_verdicts(const MeasuredSet& set,
                                              const std::vector<ServedPrediction>& predictions) {
  std::vector<ValidatedVerdict> out;
  for (size_t i = 0; i < set.rows.size(); ++i)
    if (const std::optional<bool>& predicted = predictions[i].keeps_level) {
      const MeasuredServing& serving = *set.rows[i].serving;
      out.push_back(
          {set.rows[i].name, level_text(serving.spec.level), serving.cell, *serving.kept_level, *predicted});
    }
  return out;
}

std::vector<double> abs_errors(const std::vector<ValidatedRow>& rows) {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const ValidatedRow& row : rows) out.push_back(std::abs(row.error_percent()));
  return out;
}

}  // namespace

size_t RunCheck::right() const {
  return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.right(); }));
}

double ValidatedMetric::median_abs_error_percent() const { return distribution(abs_errors(rows)).p50; }

std::vector<CellErrors> ValidatedMetric::cells() const {
  std::map<ServedCell, CellErrors> sums;
  for (const ValidatedRow& row : rows) {
    if (row.cell == ServedCell()) continue;
    CellErrors& of = sums[row.cell];
    ++of.rows;
    of.mean_abs_error_percent += std::abs(row.error_percent());
  }
  std::vector<CellErrors> out;
  out.reserve(sums.size());
  for (auto& [cell, sum] : sums)
    out.push_back({cell, sum.rows, sum.mean_abs_error_percent / static_cast<double>(sum.rows)});
  std::stable_sort(out.begin(), out.end(), [](const CellErrors& a, const CellErrors& b) {
    return a.mean_abs_error_percent > b.mean_abs_error_percent;
  });
  return out;
}

std::optional<Decisions> ValidatedMetric::decisions() const {
  if (name != "time") return std::nullopt;
  std::map<std::string, std::vector<const ValidatedRow*>> workloads;
  for (const ValidatedRow& row : rows)
    if (!row.series.empty()) workloads[row.series].push_back(&row);
  Decisions out;
  for (const auto& [workload, layouts] : workloads) {
    if (layouts.size() < 2) continue;
    const auto least = [&, &of = layouts](auto value) {
      return **std::min_element(of.begin(), of.end(), [&](const ValidatedRow* a, const ValidatedRow* b) {
        return value(*a) < value(*b);
      });
    };
    const ValidatedRow pick = least([](const ValidatedRow& row) { return row.predicted; });
    const ValidatedRow best = least([](const ValidatedRow& row) { return row.measured; });
    const double regret = 100 * (pick.measured / best.measured - 1);
    ++out.workloads;
    out.rows += layouts.size();
    out.best_picked += regret == 0;
    out.mean_regret_percent += regret;
    if (regret > out.worst_regret_percent || out.worst_pick.empty()) {
      out.worst_regret_percent = regret;
      out.worst_pick = pick.name;
      out.worst_best = best.name;
    }
  }
  if (out.workloads == 0) return std::nullopt;
  out.mean_regret_percent /= static_cast<double>(out.workloads);
  return out;
}

std::optional<SeriesCorrelation> ValidatedMetric::correlation(bool equal_load) const {
  constexpr size_t kLeastRows = 3;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> series;
  for (const ValidatedRow& row : rows) {
    if (row.series.empty()) continue;
    auto& [measured, predicted] = series[row.series + (equal_load ? " " + row.load : "")];
    measured.push_back(row.measured);
    predicted.push_back(row.predicted);
  }
  SeriesCorrelation out;
  for (const auto& [of_series, values] : series) {
    if (values.first.size() < kLeastRows) continue;
    const auto of = rank_correlation(values.first, values.second);
    if (!of) continue;
    ++out.series;
    out.rows += values.first.size();
    out.value += *of * static_cast<double>(values.first.size());
  }
  if (out.series == 0) return std::nullopt;
  out.value /= static_cast<double>(out.rows);
  return out;
}

const char* ValidatedMetric::unit() const {
  return name == "memory"                                              ? "bytes"
         : name == served_quantity_name(ServedQuantity::Capacity)      ? "tokens"
         : name == served_quantity_name(ServedQuantity::Throughput)    ? "tokens per second"
         : name == served_quantity_name(ServedQuantity::TokensPerStep) ? "tokens per step"
         : name == served_quantity_name(ServedQuantity::Preemptions)   ? "preemptions"
                                                                       : "seconds";
}

double ValidatedMetric::mean_abs_error_percent() const {
  double sum = 0;
  for (const double error : abs_errors(rows)) sum += error;
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

const ValidatedRow* ValidatedMetric::worst() const {
  const auto it = std::max_element(rows.begin(), rows.end(),
                                   [](const ValidatedRow& a, const ValidatedRow& b) {
                                     return std::abs(a.error_percent()) < std::abs(b.error_percent());
                                   });
  return it == rows.end() ? nullptr : &*it;
}

size_t Validation::right_verdicts() const {
  return static_cast<size_t>(
      std::count_if(verdicts.begin(), verdicts.end(), [](const ValidatedVerdict& of) { return of.right(); }));
}

Validation validate_set(const MeasuredSet& set, const StepTime& time) {
  Validation out{set.name, set.source, {}, {}, {}};
  ValidatedMetric seconds{"time", {}, {}, {}, false}, bytes{"memory", {}, {}, {}, false};
  Predictions predictions(time);
  for (const MeasuredRow& row : set.rows) {
    const Layout layout = row.unmapped.empty() && row.cannot_run.empty() && !row.serving
                              ? layout_of(row.design)
                              : Layout{};
    const auto judge = [&](ValidatedMetric& metric, const std::optional<double>& measured,
                           const std::string& why_not, const auto& predict) {
      if (!measured) {
        metric.unmapped.emplace_back(row.name, why_not);
        return;
      }
      metric.any = true;
      if (const std::string& why = row.unmapped.empty() ? row.cannot_run : row.unmapped; !why.empty()) {
        metric.unmapped.emplace_back(row.name, why);
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
        metric.rows.push_back({row.name,
                               *measured,
                               *predicted,
                               {},
                               layout.workload,
                               "",
                               layout.settings,
                               error_case(row.design)});
      else
        metric.unmapped.emplace_back(row.name, "the program does not predict this figure for this design");
    };
    if (row.ran) {
      const auto report = row.unmapped.empty() && row.cannot_run.empty() ? predictions.report(row.design)
                                                                         : nullptr;
      if (!row.unmapped.empty())
        out.runs.unmapped.emplace_back(row.name, row.unmapped);
      else if (report && !report->valid())
        out.runs.unmapped.emplace_back(row.name, "the design has no report");
      else
        out.runs.rows.push_back(predicted_run(row, report.get()));
    }
    if (time)
      judge(seconds, row.seconds, row.no_seconds,
            [&](const Report&) { return predictions.seconds(row.design); });
    judge(bytes, row.bytes, row.no_bytes,
          [&](const Report& report) { return std::optional<double>(predicted_bytes(report, row)); });
  }
  for (ValidatedMetric* metric : {&seconds, &bytes})
    if (metric->any) out.metrics.push_back(std::move(*metric));
  const std::vector<ServedPrediction> predictions_of_services = predict_serving(set);
  for (ValidatedMetric& metric : served_metrics(set, predictions_of_services))
    if (metric.any) out.metrics.push_back(std::move(metric));
  out.verdicts = served_verdicts(set, predictions_of_services);
  out.collectives = collective_errors(set.collectives);
  return out;
}

}  // namespace shardscape
