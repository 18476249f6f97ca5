#include "ui/views/requests/request_overview.h"

#include <algorithm>

namespace shardscape::ui {

std::vector<OverviewRow> request_overview(const RequestSimulation& simulation, const std::vector<int>& order,
                                          size_t most) {
  std::vector<OverviewRow> out(std::min(most, order.size()));
  for (size_t row = 0; row < out.size(); ++row) {
    const size_t first = row * order.size() / out.size(), end = (row + 1) * order.size() / out.size();
    OverviewRow& of = out[row];
    for (size_t i = first; i < end; ++i) {
      const RequestRecord& record = simulation.requests[static_cast<size_t>(order[i])];
      const bool finished = record.end == RequestEnd::Finished;
      of.arrival += record.arrival;
      of.scheduled += finished ? record.scheduled : record.arrival;
      of.last_token += finished ? record.last_token : record.arrival;
      of.refused = of.refused || !finished;
    }
    for (double* value : {&of.arrival, &of.scheduled, &of.last_token})
      *value /= static_cast<double>(end - first);
  }
  return out;
}

}  // namespace shardscape::ui
