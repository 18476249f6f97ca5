// Exports a bundle: a folder with one Chakra trace per rank, communicator groups, simulator configurations,
// a README, a script that runs ASTRA-sim, and a manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "chakra/step_window.h"
#include "plan/report.h"

namespace shardscape {

// The help of the option in the window and on the command line.
inline constexpr const char* kFlatNetworkHelp =
    "Describe the network in one dimension at the rate of its slowest links. ASTRA-sim's "
    "congestion-aware backend requires one dimension.";

struct ExportOptions {
  // Target folder: new or empty, unless `replace`.
  std::filesystem::path target;
  std::string name = "trace";  // <name>.<rank>.et
  bool tensors = false;        // names and bytes of inputs and outputs; more than doubles a trace
  // Compute nodes carry seconds on the machine of the design, which the simulator then replays.
  bool durations = false;     // steps of an engine always have them
  bool launches = false;      // durations include waits for launches by the host; needs `durations`
  bool json = false;          // every trace also as JSON, <name>.<rank>.json (chakra/trace_json.h)
  bool flat_network = false;  // kFlatNetworkHelp
  // Replace the target if it is a bundle (a folder with a Shardscape manifest.json).
  bool replace = false;
};

struct ExportProgress {
  int64_t ranks_done = 0, ranks = 0, bytes = 0;
  double seconds = 0;
};

struct ExportSummary {
  std::filesystem::path target;
  int64_t ranks = 0, nodes = 0, bytes = 0;
  double seconds = 0;
  // Properties of the cluster that the simulator's files cannot express, each with the description written
  // instead.
  std::vector<std::string> substitutions;
};

// Called from worker threads, one at a time.
using ExportProgressFn = std::function<void(const ExportProgress&)>;

// Writes to a temporary folder next to the target and renames it when it is complete. A failed or stopped
// export removes the temporary folder. Problems: the options, the target, the disk, or a number that does not
// fit into a trace.
Result<ExportSummary> export_bundle(const Report& report, const ExportOptions& options,
                                    const ExportProgressFn& progress = {}, std::stop_token stop = {});

// The same with consecutive steps of a serving engine.
Result<ExportSummary> export_bundle(const StepWindow& window, const ExportOptions& options,
                                    const ExportProgressFn& progress = {}, std::stop_token stop = {});

// Bytes of all traces, exact except for the width of rank and group numbers. Fast enough for every keystroke.
// 0 if the report is invalid or a number does not fit into a trace.
int64_t estimate_bundle_bytes(const Report& report, const ExportOptions& options);
int64_t estimate_bundle_bytes(const StepWindow& window, const ExportOptions& options);

}  // namespace shardscape
