// Messages to a person on standard error.
#pragma once

#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// The knob or file, the problem, accepted values, and flags that fix it.
std::string problem_text(const Problem& problem);
void print_problem(const Problem& problem);
void print_problems(const std::vector<Problem>& problems);

}  // namespace shardscape
