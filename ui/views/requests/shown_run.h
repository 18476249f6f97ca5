// A run with what its pictures need: orders, histograms and sums. The thread of the run makes it, because for
// a million requests it takes longer than a frame. No widgets.
#pragma once

#include <memory>
#include <vector>

#include "serving/requests/request_spans.h"
#include "serving/requests/request_wait.h"
#include "serving/service/service.h"
#include "ui/views/requests/histogram.h"
#include "ui/views/requests/request_overview.h"
#include "ui/views/requests/step_summary.h"

namespace shardscape::ui {

// Parts of the workload and of the latencies that have a picture.
enum class WorkloadPart { Arrivals, Prompts, Outputs };
inline constexpr int kWorkloadParts = 3;
enum class LatencyPart { Ttft, Tpot, Itl, E2e };
inline constexpr int kLatencyParts = 4;

// The distribution of a latency over the finished requests; of ITL over the gaps between tokens.
struct Latencies {
  std::vector<double> seconds;     // ascending
  std::vector<double> cumulative;  // tokens up to each gap; empty: every value counts once
  double shareWithin(double most) const;
};

struct ShownRun {
  explicit ShownRun(std::shared_ptr<const ServiceRun> of);
  std::shared_ptr<const ServiceRun> run;
  RequestWaits waits;
  RequestSpans spans;
  std::vector<int> order, row;  // requests by arrival; the row of each request
  std::vector<OverviewRow> overview;
  std::vector<StepSummary> steps;  // by replica
  Latencies latencies[kLatencyParts];
  Histogram counts[kWorkloadParts];
};

}  // namespace shardscape::ui
