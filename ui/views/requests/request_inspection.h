// What happened to a request, and why it waited, in words; and the facts of a run. No widgets.
#pragma once

#include "base/units.h"
#include "serving/requests/request_wait.h"
#include "serving/service/service.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

// "waited for the running step", "256 of 256 sequences ran in 12 of 14 steps"; empty: it did not wait.
QString wait_words(const ServiceRun& run, const RequestWait& wait);
// One line: "Request 12: queued 1.20 s (...), TTFT 1.31 s, ...".
QString request_line(const ServiceRun& run, const RequestWait& wait, int request);
Inspection inspect_request(const ServiceRun& run, const RequestWait& wait, int request);
// A step of an engine; step: index in the simulation's steps.
QString step_line(const ServiceRun& run, size_t step);
Inspection inspect_engine_step(const ServiceRun& run, size_t step);
Inspection inspect_service(const ServiceRun& run, UnitSystem units);

}  // namespace shardscape::ui
