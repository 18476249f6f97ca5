// What the command line tells a person on standard error.
#pragma once

#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// What is wrong with which knob or file, what would be accepted, and the flags that mend it.
std::string problem_text(const Problem& problem);
void print_problem(const Problem& problem);
void print_problems(const std::vector<Problem>& problems);

}  // namespace shardscape
