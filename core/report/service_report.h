// A simulated service as text, JSON, CSV and a timeline, and a sweep over rates.
#pragma once

#include <string>

#include "serving/service/rate_sweep.h"
#include "serving/service/service.h"

namespace shardscape {

std::string service_text(const ServiceRun& run);  // for a terminal
// Seconds, tokens per second, shares. The settings are those that the run has used, as texts.
std::string service_json(const ServiceRun& run);
// A heading row, then one row per request, in the order of the workload. Times are seconds since the start of
// the run; a cell is empty where a refused request has no value, and where no prompt is transferred.
// waited_for: what was used up while the request waited (requests/request_wait.h).
std::string requests_csv(const ServiceRun& run);
// Trace Event Format (Google, "Trace Event Format", 2016) for ui.perfetto.dev: a process per replica, with a
// thread of steps, counters of the blocks in use, and one asynchronous slice per request with the parts
// queued, prompt and answer. With prefill replicas, also transfer wait and transfer; where the number of
// replicas varies, a counter of it.
std::string service_timeline(const ServiceRun& run);

std::string rates_text(const RateSweep& sweep);
std::string rates_json(const RateSweep& sweep);
std::string rates_csv(const RateSweep& sweep);  // a heading row, then one row per rate

}  // namespace shardscape
