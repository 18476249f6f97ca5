// Plays a whole bundle without clocks, under the simulator's resource rules: compute runs at once, one collective or send
// at a time per rank and the ready one with the lowest id first, any number of receives; collectives meet by order of
// issue per group, messages by tag, ends and size.
#pragma once

#include <functional>
#include <stop_token>

#include "trace/bundle_traces.h"
#include "trace/findings.h"

namespace shardscape {

// True when every rank ran all its nodes; otherwise findings say which rank waits for what.
bool play(const BundleTraces& traces, const BundleConfig& config, Findings& findings, const std::stop_token& stop);

}  // namespace shardscape
