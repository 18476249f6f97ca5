// Flags that describe the requests, the engine and the limits of a service, from the table of its settings
// (core/serving/service/service_spec.h).
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "serving/service/service_spec.h"

namespace shardscape {

// One flag per setting. left_out: settings for which the command has a flag of its own.
std::vector<Flag> service_flags(const std::set<std::string>& left_out = {});
// The settings that the flags give, or an exit code after printing the problem.
std::variant<ServiceSpec, int> service_of(const Arguments& arguments,
                                          const std::set<std::string>& left_out = {});
// Prints the problem with the flag of the setting that it is about. Returns the exit code.
int service_failure(Problem problem, int exit_code);
// The same for a service that cannot be computed, or whose requests cannot be read.
int service_refusal(Problem problem);

}  // namespace shardscape
