// Text and JSON of traces: an overview, found nodes, and the nodes around a node.
#pragma once

#include <string>

#include "trace/trace_overview.h"
#include "trace/trace_query.h"

namespace shardscape {

std::string overview_text(const TraceOverview& overview);
std::string overview_json(const TraceOverview& overview);
std::string found_text(const FoundNodes& found, const std::string& wanted);
std::string found_json(const FoundNodes& found);
std::string neighbourhood_text(const Neighbourhood& around);
std::string neighbourhood_json(const Neighbourhood& around);

// Control characters of names, other than line ends, become "?": a terminal would obey them.
std::string terminal_text(std::string text);
std::string duration_text(Wide microseconds);  // "1.20 ms"; "-" for 0

}  // namespace shardscape
