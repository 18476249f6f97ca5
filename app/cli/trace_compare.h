// shardscape-cli compare, where an operand is a bundle or a trace.
#pragma once

#include "app/cli/arguments.h"

namespace shardscape {

// Whether an operand is a folder or a trace file, not a design.
bool names_traces(const Arguments& arguments);
// Compares two operands: bundles, traces, or designs, which are exported for this. Exit code 1: they differ.
int compare_trace_operands(const Arguments& arguments);

}  // namespace shardscape
