#include "ui/views/requests/shown_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shardscape::ui {
namespace {

constexpr int kTimeBins = 60, kLengthBins = 30;

}  // namespace

ShownRun::ShownRun(std::shared_ptr<const ServiceRun> of)
    : run(std::move(of)), waits(run->spec.engine, run->simulation), spans(run->simulation) {
  const RequestSimulation& simulation = run->simulation;
  const size_t count = simulation.requests.size();
  std::vector<double> values[kWorkloadParts];
  for (size_t i = 0; i < count; ++i) {
    const RequestRecord& record = simulation.requests[i];
    const Request& request = run->workload.requests[i];
    values[int(WorkloadPart::Arrivals)].push_back(record.arrival);
    values[int(WorkloadPart::Prompts)].push_back(request.prompt);
    values[int(WorkloadPart::Outputs)].push_back(request.output);
    if (record.end != RequestEnd::Finished) continue;
    seconds[int(LatencyPart::Ttft)].push_back(record.first_token - record.arrival);
    if (request.output > 1)
      seconds[int(LatencyPart::Tpot)].push_back((record.last_token - record.first_token) /
                                                (request.output - 1));
  }
  for (int part = 0; part < kWorkloadParts; ++part) {
    const bool time = part == int(WorkloadPart::Arrivals);
    counts[part] = histogram(values[part], time ? kTimeBins : kLengthBins, !time);
  }
  for (std::vector<double>& all : seconds) std::sort(all.begin(), all.end());

  order.resize(count);
  row.resize(count);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double>& arrivals = values[int(WorkloadPart::Arrivals)];
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return arrivals[static_cast<size_t>(a)] < arrivals[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < count; ++i) row[static_cast<size_t>(order[i])] = static_cast<int>(i);

  std::vector<std::vector<const StepRecord*>> by_replica(static_cast<size_t>(run->spec.replicas));
  for (const StepRecord& step : simulation.steps)
    by_replica[static_cast<size_t>(step.replica)].push_back(&step);
  for (std::vector<const StepRecord*>& all : by_replica) steps.emplace_back(std::move(all));
}

}  // namespace shardscape::ui
