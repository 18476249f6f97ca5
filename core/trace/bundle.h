// The exported folder: one Chakra trace per rank, communicator groups, simulator configs, a manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "report/report.h"

namespace shardscape {

struct ExportOptions {
  std::filesystem::path target;  // folder; must not exist or be empty unless replace
  std::string name = "trace";    // <name>.<rank>.et
  bool tensors = false;          // inputs and outputs with names and bytes (more than doubles a trace)
  bool durations = false;        // compute nodes with our seconds on the design's machine, which simulators replay
  bool flat_network = false;     // network.yml in one dimension, as the congestion-aware backend of ASTRA-sim wants it
  bool replace = false;          // replace an existing bundle (a folder with a manifest.json of ours), nothing else
};

struct ExportProgress {
  int64_t ranks_done = 0, ranks = 0, bytes = 0;
  double seconds = 0;
};

struct ExportSummary {
  std::filesystem::path target;
  int64_t ranks = 0, nodes = 0, bytes = 0;
  double seconds = 0;
  std::vector<std::string> nearest;  // what of the cluster the simulator's files cannot express, and what stands for it
};

using ExportProgressFn = std::function<void(const ExportProgress&)>;  // called from worker threads, one at a time

// Writes to a temporary folder beside the target and renames it when whole; stopped or failed, it removes that folder.
std::variant<ExportSummary, Problem> export_bundle(const Report& report, const ExportOptions& options,
                                                   const ExportProgressFn& progress = {}, std::stop_token stop = {});

// Bytes of all traces, exact up to the width of rank and group numbers; fast enough for every keystroke.
int64_t estimate_bundle_bytes(const Report& report, const ExportOptions& options);

}  // namespace shardscape
