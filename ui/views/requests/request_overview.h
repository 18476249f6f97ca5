// All requests of a run as a few rows, for the overview next to the timeline. No widgets.
#pragma once

#include <vector>

#include "serving/requests/request_simulation.h"

namespace shardscape::ui {

// Means over requests that arrive one after the other; in seconds.
struct OverviewRow {
  double arrival = 0, scheduled = 0, last_token = 0;
  bool refused = false;  // one of the requests did not finish
};

// order: the requests by arrival. One row per request, or `most` rows with nearly equal numbers of requests.
// A request that did not finish ends at its arrival.
std::vector<OverviewRow> request_overview(const RequestSimulation& simulation, const std::vector<int>& order,
                                          size_t most);

}  // namespace shardscape::ui
