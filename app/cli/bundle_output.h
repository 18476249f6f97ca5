// Flags and messages of commands that write a bundle.
#pragma once

#include <filesystem>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/interrupt.h"
#include "bundle/bundle.h"

namespace shardscape {

// --name, --tensors, --flat-network and --replace.
std::vector<Flag> bundle_flags();
ExportOptions bundle_options(const Arguments& arguments, const std::filesystem::path& target);

// Shows the progress of an export on a terminal.
using BundleExport = std::function<Result<ExportSummary>(const ExportProgressFn& progress)>;
Result<ExportSummary> with_progress(const BundleExport& write);

// Prints the problem of an export; returns the exit code.
int export_failed(const Problem& problem, const Interrupt& interrupt);
// What the simulator cannot express, on standard error.
void print_substitutions(const ExportSummary& summary);
// "wrote the traces of 8 ranks, ...", and the command that checks them.
std::string summary_text(const ExportSummary& summary, const std::filesystem::path& target);

}  // namespace shardscape
