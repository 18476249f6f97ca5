// Sections of a page report that need a section of code of their own.
#pragma once

#include "explore/sensitivity.h"
#include "report/page_report.h"

namespace shardscape {

// The figures of the fullest stage with the formulas that give them.
PageSection formulas_section(const Report& report);

// How much one setting at a time changes throughput and memory, largest effect first; at most `most`
// settings.
PageSection sensitivity_section(const Sensitivity& sensitivity, size_t most);

}  // namespace shardscape
