// The flags of explore --slurm: a search as a Slurm job array.
#pragma once

#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"

namespace shardscape {

std::vector<Flag> slurm_flags();

// With --slurm: writes the scripts for the search that the other arguments describe, prints the lines that
// submit them, and returns an exit code. flags: of the command.
int write_slurm_scripts(const Arguments& arguments, const std::vector<Flag>& flags);

// A flag that --slurm does not combine with, or a flag of Slurm without --slurm: an exit code after printing
// the mistake.
std::optional<int> check_slurm_flags(const Arguments& arguments);

}  // namespace shardscape
