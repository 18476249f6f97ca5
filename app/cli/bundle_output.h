// Flags and messages of commands that write a bundle.
#pragma once

#include <filesystem>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/interrupt.h"
#include "bundle/bundle.h"

namespace shardscape {

// --name, --tensors, --granularity, --networks, --flat-network and --replace.
std::vector<Flag> bundle_flags();
Result<ExportOptions> bundle_options(const Arguments& arguments, const std::filesystem::path& target);

// Shows the progress of an export on a terminal.
using BundleExport = std::function<Result<ExportSummary>(const ExportProgressFn& progress)>;
Result<ExportSummary> with_progress(const BundleExport& write);

// Prints the problem of an export; returns the exit code.
int export_failed(const Problem& problem, const Interrupt& interrupt);
// What the simulator cannot express, on standard error.
void print_substitutions(const ExportSummary& summary);
// "wrote the traces of 8 ranks, ...", and the command that checks them. name: of the traces; "": unknown.
// Lines about files that killed exports left go to standard error; everything does if standard output has the
// bundle or, with on_error, other results.
void print_summary(const ExportSummary& summary, const std::filesystem::path& target, const std::string& name,
                   bool json, bool on_error = false);
Flag resume_flag();

}  // namespace shardscape
