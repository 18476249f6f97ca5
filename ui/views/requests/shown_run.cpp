#include "ui/views/requests/shown_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shardscape::ui {
namespace {

constexpr int kTimeBins = 60, kLengthBins = 30;
constexpr size_t kOverviewRows = 400;

Latencies gaps_of(const RequestSimulation& simulation) {
  std::vector<TokenGap> gaps = simulation.gaps;
  std::sort(gaps.begin(), gaps.end(),
            [](const TokenGap& a, const TokenGap& b) { return a.seconds < b.seconds; });
  Latencies out;
  double tokens = 0;
  for (const TokenGap& gap : gaps) {
    tokens += static_cast<double>(gap.chunks);
    out.seconds.push_back(gap.seconds);
    out.cumulative.push_back(tokens);
  }
  return out;
}

}  // namespace

double Latencies::shareWithin(double most) const {
  const auto within = static_cast<size_t>(std::upper_bound(seconds.begin(), seconds.end(), most) -
                                          seconds.begin());
  if (within == 0) return 0;
  return cumulative.empty() ? static_cast<double>(within) / static_cast<double>(seconds.size())
                            : cumulative[within - 1] / cumulative.back();
}

ShownRun::ShownRun(std::shared_ptr<const ServiceRun> of)
    : run(std::move(of)), waits(request_waits(*run)), spans(run->simulation) {
  const RequestSimulation& simulation = run->simulation;
  const size_t count = simulation.requests.size();
  std::vector<double> values[kWorkloadParts];
  const auto of_part = [&](LatencyPart part) -> std::vector<double>& { return latencies[int(part)].seconds; };
  for (size_t i = 0; i < count; ++i) {
    const RequestRecord& record = simulation.requests[i];
    const Request& request = run->workload.requests[i];
    values[int(WorkloadPart::Arrivals)].push_back(record.arrival);
    values[int(WorkloadPart::Prompts)].push_back(request.prompt);
    values[int(WorkloadPart::Outputs)].push_back(request.output);
    if (record.end != RequestEnd::Finished) continue;
    of_part(LatencyPart::Ttft).push_back(record.first_token - record.arrival);
    of_part(LatencyPart::E2e).push_back(record.last_token - record.arrival);
    if (request.output > 1)
      of_part(LatencyPart::Tpot).push_back((record.last_token - record.first_token) / (request.output - 1));
  }
  for (int part = 0; part < kWorkloadParts; ++part) {
    const bool time = part == int(WorkloadPart::Arrivals);
    counts[part] = histogram(values[part], time ? kTimeBins : kLengthBins, !time);
  }
  for (Latencies& of_one : latencies) std::sort(of_one.seconds.begin(), of_one.seconds.end());
  latencies[int(LatencyPart::Itl)] = gaps_of(simulation);

  order.resize(count);
  row.resize(count);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double>& arrivals = values[int(WorkloadPart::Arrivals)];
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return arrivals[static_cast<size_t>(a)] < arrivals[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < count; ++i) row[static_cast<size_t>(order[i])] = static_cast<int>(i);
  overview = request_overview(simulation, order, kOverviewRows);

  std::vector<std::vector<const StepRecord*>> by_replica(static_cast<size_t>(run->spec.replicas));
  for (const StepRecord& step : simulation.steps)
    by_replica[static_cast<size_t>(step.replica)].push_back(&step);
  for (std::vector<const StepRecord*>& all : by_replica) steps.emplace_back(std::move(all));
}

}  // namespace shardscape::ui
