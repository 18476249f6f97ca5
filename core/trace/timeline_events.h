// A simulated step as trace events, which Perfetto and Chrome show (Trace Event Format, "JSON object
// format").
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "astra_sim/bundle_simulator.h"
#include "base/problem.h"

namespace shardscape {

// One process per rank, with a track for computation, one for collectives, sends and remote memory, and as
// many for receives as wait at the same time. Times are microseconds with three decimals, which is a
// nanosecond. traces: by rank; names of nodes come from them. A Problem if a trace cannot be read.
// Stopped: the ranks so far.
Result<std::string> timeline_events(const std::map<int64_t, std::filesystem::path>& traces,
                                    std::vector<SimulatedSpan> spans, const std::stop_token& stop = {});

}  // namespace shardscape
