// The flags of shardscape-cli serve that write a window of engine steps as a bundle.
#pragma once

#include <optional>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/interrupt.h"
#include "serving/service/service.h"

namespace shardscape {

std::vector<Flag> window_flags();
// A flag that has no effect without --bundle.
std::optional<Problem> check_window_flags(const Arguments& arguments);
// Writes the bundle that --bundle names. Returns the exit code; messages are on standard error, and the
// summary unless standard output has JSON.
int write_window(const Arguments& arguments, const ServiceRun& run, const Interrupt& interrupt);

}  // namespace shardscape
