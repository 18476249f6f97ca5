// A bound plan as JSON and as text: the static part of `shardscape-cli report`.
#pragma once

#include <string>

#include "plan/report.h"

namespace shardscape {

// The JSON of `shardscape-cli report --json`.
std::string report_json(const Report& report);
// The content of report_json() as text for a terminal.
std::string report_text(const Report& report);

}  // namespace shardscape
