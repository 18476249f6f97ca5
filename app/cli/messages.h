// Messages to a person on standard error.
#pragma once

#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// The knob or file, the problem, accepted values, and flags that fix it.
std::string problem_text(const Problem& problem);
void print_problem(const Problem& problem);
// Prints the problem and returns the exit code.
int failed(const Problem& problem, int exit_code);
int wrong_usage(const Problem& problem);  // with exit code 2
// Prints the problem with an input. The exit code: 3 if a file cannot be read, 1 if its content is wrong.
int print_refusal(const Problem& problem);
void print_problems(const std::vector<Problem>& problems);
// Problems with settings that a file gives: each names the file, and no flag mends it.
void print_problems_of_file(std::vector<Problem> problems, const std::string& file);

}  // namespace shardscape
