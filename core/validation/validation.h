// Validation: a set of measured runs compared with the predictions for the same designs; mean and worst
// error. Serving points are simulated request by request (served_validation.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accuracy/error_case.h"
#include "plan/report.h"
#include "validation/measured_set.h"

namespace shardscape {

struct ValidatedRow {
  std::string name;
  double measured = 0, predicted = 0;  // in the unit of the metric
  ServedCell cell = {};                // of a serving point; so are the next two
  std::string series = {}, load = {};
  // MeasuredServing::settings. Of a training run: the knobs that Layout names (accuracy/workload_layout.h).
  std::map<std::string, std::string> settings = {};
  ErrorCase error_case = {};
  // Against a measured 0 (preemptions) every other prediction is 100 % off.
  double error_percent() const { return measured == 0 ? 100 : 100 * (predicted / measured - 1); }
};

struct CellErrors {
  ServedCell cell;
  size_t rows = 0;
  double mean_abs_error_percent = 0;
};

// How well predictions order the configurations of a model on a GPU: the mean over all series with at least
// three rows, weighted with their rows.
struct SeriesCorrelation {
  double value = 0;  // of Spearman, -1 to 1
  size_t series = 0, rows = 0;
};

// The layouts of one workload, that is, training runs that differ only in layout. The pick is the layout with
// the shortest predicted step. Its regret is how much longer it takes than the fastest measured layout.
struct Decisions {
  size_t workloads = 0, rows = 0;  // workloads with at least two layouts
  size_t best_picked = 0;          // workloads whose pick is the fastest
  double mean_regret_percent = 0, worst_regret_percent = 0;
  std::string worst_pick, worst_best;  // names of rows of the workload with the worst regret
};

// One kind of figure over all rows of the set. Rows without the figure are listed in `unmapped`.
struct ValidatedMetric {
  std::string name;  // "memory", "time", "ttft_p99"
  std::vector<ValidatedRow> rows;
  std::vector<std::pair<std::string, std::string>> unmapped;  // row and reason
  // Rows of serving points with settings, but without a prediction (0). They are in `unmapped`, too.
  std::vector<ValidatedRow> unpredicted = {};
  bool any = false;                         // at least one row of the set has this kind of figure
  double mean_abs_error_percent() const;    // 0 without rows; so is the next one
  double median_abs_error_percent() const;  // interpolated between two rows
  const ValidatedRow* worst() const;        // nullptr without rows
  // Of serving points: the worst cell first. Empty for other rows.
  std::vector<CellErrors> cells() const;
  // Of step times. Empty if no workload has two layouts.
  std::optional<Decisions> decisions() const;
  // Of serving points and of step times. equal_load: only rows with equal load are ranked. Empty without a
  // series.
  std::optional<SeriesCorrelation> correlation(bool equal_load) const;
  const char* unit() const;  // "bytes", "seconds", "tokens", "tokens per second", "tokens per step",
                             // "preemptions"
};

// Whether a service keeps the level that its benchmark asks for, at the measured load.
struct ValidatedVerdict {
  std::string name, level;  // of the row; "p99 ttft<2 s, p99 tpot<200 ms"
  ServedCell cell = {};
  bool measured = false, predicted = false;
  bool right() const { return measured == predicted; }
};

// Whether runs succeed: the code base accepts the layout, and the design fits on its accelerator.
struct RunCheck {
  struct Row {
    std::string name;
    bool ran = false, predicted = false;
    std::string reason;  // why it is predicted to fail
    bool right() const { return ran == predicted; }
  };
  std::vector<Row> rows;
  std::vector<std::pair<std::string, std::string>> unmapped;  // row and reason
  size_t right() const;
};

struct Validation {
  std::string set, source;
  std::vector<ValidatedMetric> metrics;         // only kinds of figures that occur in the set
  std::vector<ValidatedVerdict> verdicts = {};  // of the mapped rows with a service level
  RunCheck runs = {};                           // without rows if the set does not list failed runs
  std::vector<CollectiveErrors> collectives = {};
  size_t right_verdicts() const;
};

// Seconds of a step of a valid report; empty if unknown.
using StepTime = std::function<std::optional<double>(const Report&)>;

// An empty `time` omits the comparison of step times.
Validation validate_set(const MeasuredSet& set, const StepTime& time);

// Text for a terminal, and JSON.
std::string validation_text(const Validation& validation);
std::string validation_json(const Validation& validation);
// A value of this kind, for people: "71.32 GiB", "10.44 s".
std::string figure_text(const ValidatedMetric& metric, double value);

}  // namespace shardscape
