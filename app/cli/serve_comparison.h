// shardscape-cli serve --against: other services next to that of the flags.
#pragma once

#include "app/cli/arguments.h"
#include "design/design.h"
#include "serving/service/service_spec.h"

namespace shardscape {

Flag against_flag();
// Returns the exit code.
int compare_with_others(const Arguments& arguments, const Design& design, const ServiceSpec& spec);

}  // namespace shardscape
